//! The relay: its port, and its life from start to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moq_net::{cache, origin};
use tidegate_edge::Removal;
use tidegate_wire::relay::CloseCode;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use web_transport_moq::noq::crypto::rustls::QuicServerConfig;
use web_transport_moq::noq::{Endpoint, Incoming, ServerConfig, TransportConfig, congestion};

use crate::certificate::{Certificate, CertificateError};
use crate::crowd::Crowd;
use crate::desk::{Desk, Open, Standing};
use crate::hls::Hls;
use crate::keys::Keys;
use crate::knocking::Knocking;
use crate::visit::House;
use crate::{RelaySettings, metrics, sampler};

/// A media relay with its port open.
pub struct Relay {
    endpoint: Endpoint,
    house: House,
    hls: Arc<Hls>,
    crowd: Arc<Crowd>,
    certificate_sha256: Option<String>,
}

/// Why a relay cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Its port.
    #[error("cannot listen on {address} (UDP): {error}")]
    Port {
        /// Where it was to listen.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
}

impl Relay {
    /// Opens the port. Must be called within the runtime that is to do the work, which is the one that is measured.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(address: SocketAddr, settings: &RelaySettings, keys: Arc<Keys>) -> Result<Self, OpenError> {
        let certificate = Certificate::of(settings.certificate.as_deref(), settings.private_key.as_deref())?;
        let config = quic(&certificate)?;
        let endpoint = Endpoint::server(config, address).map_err(|error| OpenError::Port { address, error })?;
        let mut media = origin::Config::default();
        let capacity = settings.cache_mb.saturating_mul(1024 * 1024);
        media.pool = cache::Pool::new(cache::Config::default().with_capacity(capacity).with_expiry(KEPT));
        let desk = Desk::new(settings.edge(), sampler::threads());
        metrics::describe();
        let house = House { desk, keys, origin: moq_tokio::origin::spawn_config(media) };
        Ok(Self {
            endpoint,
            hls: Arc::new(Hls::new(house.clone())),
            house,
            crowd: Crowd::new(settings.connections_max, settings.connections_per_address),
            certificate_sha256: certificate.sha256,
        })
    }

    /// Where it listens; with port 0 the system chose one.
    ///
    /// # Errors
    /// The system's.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// The hash by which browsers take its certificate; `None` for one that an authority signed. Rule E14.
    #[must_use]
    pub fn certificate_sha256(&self) -> Option<&str> {
        self.certificate_sha256.as_deref()
    }

    /// Its LL-HLS, for a server of HTTP. Rule E17.
    #[must_use]
    pub fn hls(&self) -> Arc<Hls> {
        Arc::clone(&self.hls)
    }

    /// The broadcasts of one stream, for who publishes from within this process: a session of its viewers finds there
    /// what is made here.
    ///
    /// # Errors
    /// The media library's, for a stream whose id is no path.
    pub fn broadcasts(&self, stream: &str) -> Result<origin::Producer, moq_net::Error> {
        self.house.broadcasts(stream)
    }

    /// How it is doing.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.house.desk.standing()
    }

    /// Open connections, also those that are still shaking hands.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.endpoint.open_connections()
    }

    /// Those of all streams, which peers carry (E16).
    pub(crate) fn all_broadcasts(&self) -> origin::Producer {
        self.house.origin.clone()
    }

    pub(crate) fn open_sessions(&self) -> Vec<Open> {
        self.house.desk.open()
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.house.keys
    }

    /// Takes other settings of admission; the rest holds from the next start. Rule E13.
    pub fn set(&self, settings: &RelaySettings) {
        self.house.desk.set(settings.edge());
    }

    /// Takes the tenants' shares of the fleet's sessions, all of them. Rule E3.
    pub fn set_shares(&self, shares: impl IntoIterator<Item = (Arc<str>, u32)>) {
        self.house.desk.set_shares(shares);
    }

    /// Ends the sessions of a kicked seat, a stopped stream or a token that was called back, and refuses their tokens
    /// for `memory`: as long as one could still be shown. Rules E4 and T6.
    pub fn remove(&self, removal: Removal, memory: Duration) {
        self.house.desk.remove(removal, memory);
    }

    /// Serves until `stop` is ready, then closes every session: their players reconnect elsewhere (O9).
    pub async fn serve(&self, stop: impl Future<Output = ()>) {
        let mut visits = JoinSet::new();
        let mut away = self.house.keys.away();
        let second = |reading| self.house.desk.second(reading);
        let admission = async {
            let (mut knocking, mut turns) = (Knocking::default(), interval(TURN));
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                let is_idle = knocking.is_empty(Instant::now());
                tokio::select! {
                    incoming = self.endpoint.accept() => match incoming {
                        Some(incoming) => knocking.push(incoming, Instant::now()),
                        None => break,
                    },
                    _ = turns.tick(), if !is_idle => {}
                    Some(_) = visits.join_next() => {}
                }
                while !knocking.is_empty(Instant::now()) && self.house.desk.may_begin() {
                    knocking.next().into_iter().for_each(|incoming| self.open_door(incoming, &mut visits));
                }
            }
        };
        let outages = async {
            while away.changed().await.is_ok() {
                let is_away = away.borrow_and_update().since().is_some();
                self.house.desk.set_away(is_away);
                tracing::info!(away = is_away, "the control or its store went away or came back");
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = admission => {}
            () = stop => {}
            () = outages => {}
            never = sampler::measure(second) => match never {},
            never = self.hls.tidy() => match never {},
        }
        self.house.desk.close_all(CloseCode::Stopping);
        let told = async { while visits.join_next().await.is_some() {} };
        timeout(LAST_WORDS, told).await.ok();
        self.endpoint.close(0_u32.into(), CloseCode::Stopping.as_str().as_bytes());
        timeout(LAST_WORDS, self.endpoint.wait_idle()).await.ok();
    }

    fn open_door(&self, incoming: Incoming, visits: &mut JoinSet<()>) {
        let Some(counted) = self.crowd.enter(incoming.remote_address().ip()) else {
            metrics::turned_away();
            incoming.refuse();
            return;
        };
        let visit = self.house.clone().visit(incoming);
        visits.spawn(async move {
            visit.await;
            drop(counted);
        });
    }
}

fn quic(certificate: &Certificate) -> Result<ServerConfig, CertificateError> {
    // WebTransport last, as raw QUIC is cheaper for whoever speaks both.
    let protocols: Vec<_> = moq_net::ALPNS.iter().copied().chain([web_transport_moq::ALPN]).collect();
    let tls = QuicServerConfig::try_from(certificate.tls(&protocols)?).expect("TLS 1.3 has QUIC's first cipher suite");
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(IDLE.try_into().expect("ten seconds are a QUIC timeout")))
        .keep_alive_interval(Some(SIGN_OF_LIFE))
        .max_concurrent_bidi_streams(STREAMS.into())
        .max_concurrent_uni_streams(STREAMS.into())
        .receive_window(RECEIVE_WINDOW.into())
        .congestion_controller_factory(Arc::new(congestion::Bbr3Config::default()));
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// A client that is silent for so long is gone.
const IDLE: Duration = Duration::from_secs(10);
/// A client that has nothing to say is asked for a sign of life. Rule E2 needs one each second.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// Between two looks at whether those who knock may come in: little beside a handshake's own time.
const TURN: Duration = Duration::from_millis(10);
/// Streams that a client may have open: the media library opens one for each subscription and each group.
const STREAMS: u32 = 10_000;
/// What a client may send ahead of the relay's reading; QUIC's own default has no bound. Bounds memory.
const RECEIVE_WINDOW: u32 = 16 * 1024 * 1024;
/// Media that nobody asked for is kept so long.
const KEPT: Duration = Duration::from_secs(30);
/// A stop waits no longer than this for clients to take note.
const LAST_WORDS: Duration = Duration::from_secs(2);
