//! One connection's way: taken, judged, let in or refused, and served until it ends.

use std::sync::Arc;
use std::time::Duration;

use moq_net::{Pattern, Patterns, origin};
use tidegate_edge::{Entry, Pass, Refusal, Role};
use tidegate_token::{Claims, TokenError, Verified};
use tidegate_wire::relay::{CloseCode, SessionAsk};
use tokio::time::timeout;
use web_transport_moq::noq::Incoming;

use crate::arrival::{Arrival, ArrivalError};
use crate::desk::{Desk, Line, Place};
use crate::keys::{Keys, unix_now};
use crate::metrics;

/// What every visit needs.
#[derive(Clone)]
pub(crate) struct House {
    pub(crate) desk: Arc<Desk>,
    pub(crate) keys: Arc<Keys>,
    /// All broadcasts, by the path `STREAM/…`.
    pub(crate) origin: origin::Producer,
}

/// A session that may not come in.
struct Unwelcome {
    code: CloseCode,
    reason: String,
}

impl House {
    /// Serves one connection until it ends.
    pub(crate) async fn visit(self, incoming: Incoming) {
        match timeout(HANDSHAKE, Arrival::take(incoming)).await {
            Ok(Ok(arrival)) => self.judge(arrival).await,
            Ok(Err(error)) => tracing::debug!(%error, "a connection came to nothing"),
            Err(_) => tracing::debug!("a handshake took too long"),
        }
    }

    async fn judge(self, arrival: Arrival) {
        let admitted = self.admit(&arrival).await;
        match admitted {
            Ok((place, stream)) => {
                tracing::debug!(stream, entry = ?place.entry, "session admitted");
                match self.serve(arrival, &place, &stream).await {
                    Ok(end) => tracing::debug!(stream, %end, "session ended"),
                    Err(error) => tracing::debug!(stream, %error, "session ended"),
                }
            }
            Err(Unwelcome { code, reason }) => {
                metrics::refused(code);
                tracing::debug!(code = code.as_str(), reason, "session refused");
                timeout(GOODBYE, arrival.refuse(code.number(), &reason)).await.ok();
            }
        }
    }

    /// The address, the token, and the desk, in this order (E1, E8).
    async fn admit(&self, arrival: &Arrival) -> Result<(Place, String), Unwelcome> {
        let ask = SessionAsk::parse(&arrival.path, arrival.query.as_deref()).map_err(unauthorized)?;
        let verified = self.keys.verify(&ask.token).await.map_err(unauthorized)?;
        let claims = granted(verified, ask.stream).map_err(unauthorized)?;
        let stream = ask.stream.unwrap_or_default().to_owned();
        let place = self.desk.arrive(pass(claims), Line::media(&arrival.session)).map_err(refused)?;
        Ok((place, stream))
    }

    /// What a viewer's token of a stream says (E1).
    pub(crate) async fn viewer_pass(&self, stream: &str, token: &str) -> Result<Pass, TokenError> {
        self.keys.verify(token).await?.viewer_of(stream).map(pass)
    }

    /// What is published under a stream's path.
    pub(crate) fn broadcasts(&self, stream: &str) -> Result<origin::Producer, moq_net::Error> {
        self.origin.scope(stream, &Patterns::from(Pattern::all()))
    }

    /// Hands the session to the media library, within what its token grants.
    async fn serve(&self, arrival: Arrival, place: &Place, stream: &str) -> Result<moq_net::Error, ArrivalError> {
        let begun = timeout(HANDSHAKE, arrival.begin()).await.map_err(|_| moq_net::Error::Timeout)??;
        let mine = self.broadcasts(stream)?;
        let begun = match place.entry {
            Entry::New | Entry::Returning => begun.with_publisher(&mine),
            Entry::Publisher => begun.with_subscriber(mine),
            Entry::Peer => begun.with_publisher(&mine).with_subscriber(mine),
        };
        // The session closes when its last handle is dropped, so it is kept while the driver runs.
        let (_session, driver) = begun.ok().await?;
        Ok(moq_net::time::run(driver).await)
    }
}

/// The claims, if they grant what the address asks for (E1).
fn granted(verified: Verified, stream: Option<&str>) -> Result<Claims, TokenError> {
    use tidegate_token::Role::{Peer, Publisher, Viewer};
    match (verified.role(), stream) {
        (Viewer, Some(stream)) => verified.viewer_of(stream),
        (Publisher, Some(stream)) => verified.publisher_of(stream),
        (Peer, None) => verified.peer(),
        (Peer, Some(_)) | (Viewer | Publisher, None) => Err(TokenError::WrongStream),
    }
}

fn pass(claims: Claims) -> Pass {
    Pass {
        token: claims.jti.into(),
        seat: claims.sub.into(),
        stream: claims.stream.into(),
        tenant: claims.tenant.into(),
        role: match claims.role {
            tidegate_token::Role::Viewer => Role::Viewer,
            tidegate_token::Role::Publisher => Role::Publisher,
            tidegate_token::Role::Peer => Role::Peer,
        },
        left: Duration::from_secs(claims.exp.saturating_sub(unix_now())),
        back: claims.back,
    }
}

fn unauthorized(why: impl std::fmt::Display) -> Unwelcome {
    let code = CloseCode::Unauthorized;
    Unwelcome { code, reason: format!("{} {why}", code.as_str()) }
}

fn refused(refusal: Refusal) -> Unwelcome {
    let plain = |code: CloseCode| Unwelcome { code, reason: code.as_str().to_owned() };
    match refusal {
        Refusal::EdgeFull { retry, full: _ } => {
            Unwelcome { code: CloseCode::EdgeFull, reason: CloseCode::EdgeFull.retry(retry) }
        }
        Refusal::TokenInUse => plain(CloseCode::TokenInUse),
        Refusal::ScopeFull => plain(CloseCode::ScopeFull),
        Refusal::Removed => plain(CloseCode::Removed),
    }
}

/// From a connection's first packet to its address, and from its admission to its first media message. A browser far
/// away takes two seconds.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Who is refused has this long to take note of it.
const GOODBYE: Duration = Duration::from_secs(2);
