//! The one table of problem codes: code, status, sentence, and whether a retry time goes with it.

use serde::{Serialize, Serializer};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Why a request was not done, as programs read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The body is not what this call takes.
    BadRequest,
    /// A tenant call with a field that does not exist.
    UnknownField,
    /// A nonce that is too short to be unguessable, or too long.
    BadNonce,
    /// No secret key, or one that opens nothing.
    Unauthorized,
    /// The tenant's spend cap is reached (S15).
    SpendCapReached,
    /// The seat id or viewer name was kicked (S8).
    Kicked,
    /// Seats of this stream come from the tenant's backend (S17).
    ServerAdmission,
    /// No such route.
    NotFound,
    /// No such stream, or another tenant's.
    StreamNotFound,
    /// The route has no such method.
    MethodNotAllowed,
    /// The body did not come in time.
    RequestTimeout,
    /// The tenant's seats are all taken (S13), or the cap asked for is over its own (S12).
    TenantViewerCap,
    /// The deployment's seats and places are all reserved (S14).
    TooManyPlaces,
    /// The seat is gone (S18).
    SeatGone,
    /// The stream has ended (S25).
    StreamEnded,
    /// The body is too large.
    BodyTooLarge,
    /// Too many calls from an address or for a seat (S16).
    RateLimited,
    /// The store can not be written now (D2).
    StoreUnavailable,
    /// The process is starting or stopping (O9).
    NotReady,
}

/// One row of the table.
struct Row {
    code: &'static str,
    status: u16,
    title: &'static str,
    retries: bool,
}

const fn row(code: &'static str, status: u16, title: &'static str) -> Row {
    Row { code, status, title, retries: false }
}

/// A row whose problems may say when to come back.
const fn again(code: &'static str, status: u16, title: &'static str) -> Row {
    Row { code, status, title, retries: true }
}

impl Code {
    /// Every code, in the table's order.
    pub const ALL: [Self; 19] = [
        Self::BadRequest,
        Self::UnknownField,
        Self::BadNonce,
        Self::Unauthorized,
        Self::SpendCapReached,
        Self::Kicked,
        Self::ServerAdmission,
        Self::NotFound,
        Self::StreamNotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::TenantViewerCap,
        Self::TooManyPlaces,
        Self::SeatGone,
        Self::StreamEnded,
        Self::BodyTooLarge,
        Self::RateLimited,
        Self::StoreUnavailable,
        Self::NotReady,
    ];

    const fn row(self) -> Row {
        match self {
            Self::BadRequest => row("bad_request", 400, "The request is not what this call takes."),
            Self::UnknownField => row("unknown_field", 400, "The body has a field that this call does not know."),
            Self::BadNonce => row("bad_nonce", 400, "The nonce is too short to be unguessable, or too long."),
            Self::Unauthorized => row("unauthorized", 401, "A tenant's secret key is needed."),
            Self::SpendCapReached => row("spend_cap_reached", 402, "The tenant's spend cap is reached."),
            Self::Kicked => again("kicked", 403, "This viewer was removed from the stream."),
            Self::ServerAdmission => row("server_admission", 403, "Seats of this stream come from its own server."),
            Self::NotFound => row("not_found", 404, "There is no such route."),
            Self::StreamNotFound => row("stream_not_found", 404, "There is no such stream."),
            Self::MethodNotAllowed => row("method_not_allowed", 405, "The route does not take this method."),
            Self::RequestTimeout => row("request_timeout", 408, "The body did not come in time."),
            Self::TenantViewerCap => again("tenant_viewer_cap", 409, "The tenant's viewer cap is reached."),
            Self::TooManyPlaces => row("too_many_places", 409, "The deployment has no room for so many places."),
            Self::SeatGone => row("seat_gone", 410, "There is no such seat: it was given up, or not taken yet."),
            Self::StreamEnded => row("stream_ended", 410, "The stream has ended."),
            Self::BodyTooLarge => row("body_too_large", 413, "The body is too large."),
            Self::RateLimited => again("rate_limited", 429, "Too many requests."),
            Self::StoreUnavailable => again("store_unavailable", 503, "The store cannot be written now."),
            Self::NotReady => again("not_ready", 503, "This process takes no requests now."),
        }
    }

    /// The code as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().code
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        self.row().status
    }

    /// One sentence for people, the same for every problem of this code.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Whether problems of this code may say when to come back.
    #[must_use]
    pub const fn carries_retry(self) -> bool {
        self.row().retries
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::ALL.map(Self::as_str)))
            .description(Some("Why the request was not done, as programs read it."))
            .into()
    }
}

impl ToSchema for Code {}
