//! A relay with its port open, tokens for it, and clients.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use moq_net::{origin, track};
use tidegate_relay::{Keys, Relay, RelaySettings};
use tidegate_token::{Claims, KeySet, Role, Seed};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use web_transport_moq::noq::Endpoint;
use web_transport_moq::proto::ConnectRequest;
use web_transport_moq::{ClientBuilder, Session, SessionError, WebTransportError};

use crate::trust::raw_config;

/// Nothing takes this long; a test that waits for it is told so instead of hanging.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) struct Stage {
    pub(crate) relay: Arc<Relay>,
    pub(crate) signer: KeySet,
    pub(crate) keys: Arc<Keys>,
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

/// What a token says beside its role, stream and seat.
#[derive(Clone, Copy)]
pub(crate) struct Says {
    pub(crate) token: u32,
    pub(crate) life_s: i64,
    pub(crate) back: bool,
}

pub(crate) const FRESH: Says = Says { token: 1, life_s: 120, back: false };

/// Which way a client comes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Web,
    Raw,
}

/// A client whose media session runs.
pub(crate) struct Client {
    pub(crate) session: Session,
    /// Broadcasts of the other side, for who subscribes.
    pub(crate) origin: origin::Producer,
    _media: moq_net::Session,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(&RelaySettings::default())
    }

    pub(crate) fn with(settings: &RelaySettings) -> Self {
        let signer = KeySet::generate(Seed([7; 32]), 0);
        let keys = Arc::new(Keys::new(signer.public().clone()));
        let relay = Relay::open("127.0.0.1:0".parse().unwrap(), settings, Arc::clone(&keys)).unwrap();
        let (address, relay) = (relay.address().unwrap(), Arc::new(relay));
        let stop = watch::Sender::new(false);
        let mut stopping = stop.subscribe();
        let serving = Arc::clone(&relay);
        let serving = tokio::spawn(async move {
            let stop = async { stopping.wait_for(|stop| *stop).await.map(drop).unwrap_or_default() };
            serving.serve(stop).await;
        });
        Self { relay, signer, keys, address, stop, serving }
    }

    pub(crate) fn token(&self, role: Role, stream: &str, seat: &str, says: Says) -> String {
        token_of(&self.signer, role, stream, seat, says)
    }

    pub(crate) fn viewer(&self, seat: &str) -> String {
        self.token(Role::Viewer, "launch", seat, FRESH)
    }

    pub(crate) fn publisher(&self) -> String {
        self.token(Role::Publisher, "launch", "encoder", FRESH)
    }

    /// Opens a transport session; whether it is let in is not known yet.
    pub(crate) async fn connect(&self, way: Way, path: &str, token: &str) -> Arriving {
        let address = format!("{path}?jwt={token}");
        match way {
            Way::Web => {
                let hash = HEXLOWER.decode(self.relay.certificate_sha256().unwrap().as_bytes()).unwrap();
                let client = ClientBuilder::new().with_server_certificate_hashes(vec![hash]).unwrap();
                let url: url::Url = format!("https://{}{address}", self.address).parse().unwrap();
                let protocols = moq_net::ALPNS.iter().map(|name| (*name).to_owned());
                let request = ConnectRequest::new(url).with_protocols(protocols);
                Arriving { session: client.connect(request).await.unwrap(), setup_path: None }
            }
            Way::Raw => {
                let endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
                let connecting = endpoint.connect_with(raw_config(), self.address, "localhost").unwrap();
                Arriving { session: Session::raw(connecting.await.unwrap()), setup_path: Some(address) }
            }
        }
    }

    /// Comes in to subscribe.
    pub(crate) async fn watch(&self, way: Way, token: &str) -> Client {
        self.connect(way, "/launch", token).await.subscribe().await
    }

    /// Comes in to publish a broadcast `live`, whose frames count up.
    pub(crate) async fn publish(&self) -> Client {
        self.connect(Way::Web, "/launch", &self.publisher()).await.publish("live").await
    }

    /// How a session that is not let in is closed: the code and the reason.
    pub(crate) async fn refusal(&self, way: Way, path: &str, token: &str) -> (u32, String) {
        let arriving = self.connect(way, path, token).await;
        let session = arriving.session.clone();
        // Over raw QUIC the address goes with the first media message.
        let _media = arriving.start(moq_net::Client::new().with_subscriber(spawn_origin())).await;
        closed(&session).await
    }

    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        timeout(LONG, self.serving).await.unwrap().unwrap();
    }
}

/// A transport session, before the media session.
pub(crate) struct Arriving {
    pub(crate) session: Session,
    setup_path: Option<String>,
}

impl Arriving {
    pub(crate) async fn subscribe(self) -> Client {
        let (session, origin) = (self.session.clone(), spawn_origin());
        let media = self.start(moq_net::Client::new().with_subscriber(origin.clone())).await.unwrap();
        Client { session, origin, _media: media }
    }

    pub(crate) async fn publish(self, name: &str) -> Client {
        let (session, origin) = (self.session.clone(), spawn_origin());
        let broadcast = origin.create_broadcast(name).unwrap();
        broadcast.announce(moq_net::origin::Route::default()).unwrap();
        let track = broadcast.create_track("data", None).unwrap();
        tokio::spawn(count_up(track, broadcast));
        let media = self.start(moq_net::Client::new().with_publisher(&origin)).await.unwrap();
        Client { session, origin, _media: media }
    }

    async fn start(self, client: moq_net::Client) -> Result<moq_net::Session, moq_net::Error> {
        let client = match self.setup_path {
            Some(path) => client.with_path(path),
            None => client,
        };
        let transport = moq_tokio::transport::Session::new(self.session);
        let (media, driver) = timeout(LONG, client.connect(Instant::now(), transport)).await.unwrap()?;
        tokio::spawn(moq_net::time::run(driver));
        Ok(media)
    }
}

impl Client {
    /// Waits for frames of the broadcast `live` and answers so many of them.
    pub(crate) async fn frames(&self, count: usize) -> Vec<Bytes> {
        let read = async {
            let broadcast = self.origin.consume().routed_broadcast("live").await.unwrap();
            let mut groups = broadcast.track("data").unwrap().subscribe(None).await.unwrap().ordered();
            let mut frames = Vec::new();
            while frames.len() < count {
                let mut group = groups.next_group().await.unwrap().expect("the broadcast goes on");
                // A group that a newer one superseded ends early; the next one goes on.
                while let Ok(Some(frame)) = group.read_frame().await {
                    frames.push(frame.payload);
                }
            }
            frames
        };
        timeout(LONG, read).await.expect("no frames came")
    }
}

/// One frame in a group, fifty groups a second.
async fn count_up(track: track::Producer, _broadcast: moq_net::broadcast::Producer) {
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    for n in 0_u64.. {
        ticks.tick().await;
        let Ok(mut group) = track.append_group() else { return };
        let frame = Bytes::copy_from_slice(&n.to_be_bytes());
        if group.write_frame(moq_net::Timestamp::now(), frame).is_err() || group.finish().is_err() {
            return;
        }
    }
}

/// How the other side closed a session.
pub(crate) async fn closed(session: &Session) -> (u32, String) {
    let end = timeout(LONG, session.closed()).await.expect("the session stays open");
    let SessionError::WebTransportError(WebTransportError::Closed(code, reason)) = end else {
        panic!("closed without a code: {end}");
    };
    (code, reason)
}

pub(crate) fn token_of(keys: &KeySet, role: Role, stream: &str, seat: &str, says: Says) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let jti = match says.token {
        0 => format!("one-of-a-kind-{}", LAST.fetch_add(1, Ordering::Relaxed)),
        token => format!("{seat}-{token}"),
    };
    keys.sign(&Claims {
        sub: seat.to_owned(),
        stream: stream.to_owned(),
        tenant: "acme".to_owned(),
        role,
        iat: now - 60,
        exp: now.saturating_add_signed(says.life_s),
        jti,
        back: says.back,
    })
}

pub(crate) fn spawn_origin() -> origin::Producer {
    moq_tokio::origin::spawn()
}
