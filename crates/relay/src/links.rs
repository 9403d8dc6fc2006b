//! Connections to other relays of the fleet, over which one publisher's broadcast reaches the viewers of all (E16).
//!
//! The control says whom to connect to, so that each two relays have one link; both ends read and write on it, and the
//! media library fetches a broadcast over it once, however many viewers there are, and only while there are any.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use moq_net::origin;
use tidegate_wire::report::Peer;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use url::Url;
use web_transport_moq::noq::crypto::rustls::QuicClientConfig;
use web_transport_moq::noq::{ClientConfig, Endpoint};
use web_transport_moq::proto::ConnectRequest;
use web_transport_moq::{ALPN, Client, ClientBuilder, ClientError};

use crate::trust;

/// The links that one relay opened.
pub(crate) struct Links {
    /// All broadcasts of all streams.
    origin: origin::Producer,
    open: HashMap<String, Link>,
}

struct Link {
    /// From then on another one is wanted: its token ends some time later.
    old: Instant,
    carrying: Carrying,
}

/// A link's task, which ends with this value.
struct Carrying(JoinHandle<()>);

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error("its address: {0}")]
    Address(#[from] url::ParseError),
    #[error("its certificate's hash is none")]
    Hash,
    #[error("no socket: {0}")]
    Socket(#[from] std::io::Error),
    #[error("the connection: {0}")]
    Connection(#[from] ClientError),
    #[error("the media handshake: {0}")]
    Media(#[from] moq_net::Error),
    #[error("no answer")]
    Silent,
}

impl Links {
    pub(crate) fn new(origin: origin::Producer) -> Self {
        Self { origin, open: HashMap::new() }
    }

    /// Whom the relay is connected to, or connecting, with a token that is good for long yet.
    pub(crate) fn names(&mut self, now: Instant) -> Vec<String> {
        self.open.retain(|_, link| !link.carrying.0.is_finished());
        self.open.iter().filter(|(_, link)| now < link.old).map(|(name, _)| name.clone()).collect()
    }

    /// Connects to those whom the control named. A link that there is already ends as the new one begins.
    pub(crate) fn open(&mut self, peers: Vec<Peer>, now: Instant) {
        for peer in peers {
            let (name, origin) = (peer.relay.clone(), self.origin.clone());
            let old = now + Duration::from_secs(peer.token_expires_s) / 2;
            let carrying = tokio::spawn(async move {
                let relay = peer.relay.clone();
                match carry(origin, peer).await {
                    Ok(end) => tracing::info!(relay, %end, "the link to a relay ended"),
                    Err(error) => tracing::warn!(relay, %error, "no link to a relay; tried again in a second"),
                }
            });
            self.open.insert(name, Link { old, carrying: Carrying(carrying) });
        }
    }
}

impl Drop for Carrying {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Connects, and carries broadcasts until the link ends.
async fn carry(origin: origin::Producer, peer: Peer) -> Result<moq_net::Error, LinkError> {
    let url: Url = format!("{}/?jwt={}", peer.url, peer.token).parse()?;
    let client = client(peer.cert_sha256.as_deref())?;
    let protocols = moq_net::ALPNS.iter().map(|name| (*name).to_owned());
    let connecting = client.connect(ConnectRequest::new(url).with_protocols(protocols));
    let session = timeout(HANDSHAKE, connecting).await.map_err(|_| LinkError::Silent)??;
    let transport = moq_tokio::transport::Session::new(session.clone());
    let both = moq_net::Client::new().with_publisher(&origin).with_subscriber(origin);
    let handshake = timeout(HANDSHAKE, both.connect(Instant::now(), transport)).await;
    let (_media, driver) = handshake.map_err(|_| LinkError::Silent)??;
    tracing::info!(relay = peer.relay, "linked to a relay");
    Ok(moq_net::time::run(driver).await)
}

fn client(cert_sha256: Option<&str>) -> Result<Client, LinkError> {
    if let Some(hash) = cert_sha256 {
        let hash = HEXLOWER.decode(hash.as_bytes()).map_err(|_| LinkError::Hash)?;
        return Ok(ClientBuilder::new().with_server_certificate_hashes(vec![hash])?);
    }
    let mut tls = trust::public(&[&rustls::version::TLS13]);
    tls.alpn_protocols = vec![ALPN.as_bytes().to_vec()];
    let tls = QuicClientConfig::try_from(tls).expect("TLS 1.3 has QUIC's first cipher suite");
    let endpoint = Endpoint::client("[::]:0".parse().expect("an address"))?;
    Ok(Client::new(endpoint, ClientConfig::new(Arc::new(tls))))
}

/// Another relay answers within this, or is tried again.
const HANDSHAKE: Duration = Duration::from_secs(10);
