//! One connection up to the point where it is known what it asks for: QUIC, WebTransport, the address.

use std::time::Instant;

use moq_net::server::Handshake;
use web_transport_moq::noq::{ConnectionError, Incoming, crypto::rustls::HandshakeData};
use web_transport_moq::proto::ConnectResponse;
use web_transport_moq::{ALPN, Request, ServerError, Session};

/// The transport as the media library takes it.
pub(crate) type Transport = moq_tokio::transport::Session<Session>;

/// Somebody at the door, connected and not yet let in.
pub(crate) struct Arrival {
    pub(crate) session: Session,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    /// Over raw QUIC the address came with the media library's own handshake, which waits for the answer.
    paused: Option<Handshake<Transport>>,
}

/// Why a connection came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArrivalError {
    #[error("the connection: {0}")]
    Connection(#[from] ConnectionError),
    #[error("the WebTransport request: {0}")]
    Request(#[from] ServerError),
    #[error("the media handshake: {0}")]
    Media(#[from] moq_net::Error),
}

impl Arrival {
    /// Takes a connection, and hears its address.
    ///
    /// A WebTransport session is accepted before it is judged: a browser shows neither status nor reason of a refused
    /// request, and only the close of an open session tells it a code.
    pub(crate) async fn take(incoming: Incoming) -> Result<Self, ArrivalError> {
        let mut connecting = incoming.accept()?;
        let handshake = connecting.handshake_data().await?.downcast::<HandshakeData>().ok();
        let protocol = handshake.and_then(|data| data.protocol).unwrap_or_default();
        let connection = connecting.await?;
        if protocol == ALPN.as_bytes() {
            return Self::web(Request::accept(connection).await?).await;
        }
        let session = Session::raw(connection);
        let transport = Transport::new(session.clone());
        let paused = moq_net::Server::new().accept_request(Instant::now(), transport).await?;
        let (path, query) = match paused.path().split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (paused.path().to_owned(), None),
        };
        Ok(Self { session, path, query, paused: Some(paused) })
    }

    async fn web(request: Request) -> Result<Self, ArrivalError> {
        let (path, query) = (request.url.path().to_owned(), request.url.query().map(str::to_owned));
        let protocol = request.protocols.iter().find(|name| moq_net::ALPNS.contains(&name.as_str())).cloned();
        let response = match protocol {
            Some(protocol) => ConnectResponse::OK.with_protocol(protocol),
            None => ConnectResponse::OK,
        };
        let session = request.respond(response).await?;
        Ok(Self { session, path, query, paused: None })
    }

    /// Begins the media library's handshake, or goes on with it.
    pub(crate) async fn begin(self) -> Result<Handshake<Transport>, ArrivalError> {
        match self.paused {
            Some(paused) => Ok(paused),
            None => {
                let transport = Transport::new(self.session);
                Ok(moq_net::Server::new().accept_request(Instant::now(), transport).await?)
            }
        }
    }

    /// Closes the session with a code and a reason, and waits until the other side has them.
    pub(crate) async fn refuse(self, code: u32, reason: &str) {
        self.session.close(code, reason.as_bytes());
        if let Some(paused) = self.paused {
            // The close above was first and stands; this one lets the library forget the handshake quietly.
            paused.close(moq_net::Error::Unauthorized);
        }
        self.session.closed().await;
    }
}
