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
    /// A page of an origin that the settings do not list (C10).
    OriginNotAllowed,
    /// No such route.
    NotFound,
    /// No such stream, or another tenant's.
    StreamNotFound,
    /// No live chats are read here.
    ChatOff,
    /// No such room runs (C10).
    RoomNotFound,
    /// No such video (C4).
    VideoNotFound,
    /// The route has no such method.
    MethodNotAllowed,
    /// The body did not come in time.
    RequestTimeout,
    /// The tenant's seats are all taken (S13), or the cap asked for is over its own (S12).
    TenantViewerCap,
    /// The deployment's seats and places are all reserved (S14).
    TooManyPlaces,
    /// The stream has no chat (C4).
    ChatDisabled,
    /// No stream that is on (C4).
    NotLive,
    /// For members only (C4).
    MembersOnly,
    /// Private, or for signed-in visitors (C4).
    NotPublic,
    /// The live chat is over; replays are not read (C13).
    Ended,
    /// The seat is gone (S18).
    SeatGone,
    /// The stream has ended (S25).
    StreamEnded,
    /// The body is too large.
    BodyTooLarge,
    /// Too many calls from an address or for a seat (S16).
    RateLimited,
    /// The chat's upstream cannot be reached, or answers what cannot be read (C4).
    UpstreamError,
    /// The store can not be written now (D2).
    StoreUnavailable,
    /// The process is starting or stopping (O9).
    NotReady,
    /// As many calls as may wait at the gate already do (C4).
    GateQueueFull,
    /// As many rooms as are allowed (C10).
    TooManyRooms,
    /// A relay takes no session on this token (E1); named as a MoQ session's close is, like the next four.
    TokenRefused,
    /// The token's session is open, and was heard from (E2).
    TokenInUse,
    /// The tenant's sessions are used up at this relay (E3).
    ScopeFull,
    /// The relay has no room for a newcomer (E8).
    EdgeFull,
    /// The seat was freed, or the stream stopped (T6).
    Removed,
    /// The session at the relay is over, or never was (E17).
    SessionGone,
    /// Nobody publishes the stream now (E17).
    NoBroadcast,
    /// The publisher is late with what was asked for (E17).
    MediaLate,
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
    pub const ALL: [Self; 39] = [
        Self::BadRequest,
        Self::UnknownField,
        Self::BadNonce,
        Self::Unauthorized,
        Self::SpendCapReached,
        Self::Kicked,
        Self::ServerAdmission,
        Self::OriginNotAllowed,
        Self::NotFound,
        Self::StreamNotFound,
        Self::ChatOff,
        Self::RoomNotFound,
        Self::VideoNotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::TenantViewerCap,
        Self::TooManyPlaces,
        Self::ChatDisabled,
        Self::NotLive,
        Self::MembersOnly,
        Self::NotPublic,
        Self::Ended,
        Self::SeatGone,
        Self::StreamEnded,
        Self::BodyTooLarge,
        Self::RateLimited,
        Self::UpstreamError,
        Self::StoreUnavailable,
        Self::NotReady,
        Self::GateQueueFull,
        Self::TooManyRooms,
        Self::TokenRefused,
        Self::TokenInUse,
        Self::ScopeFull,
        Self::EdgeFull,
        Self::Removed,
        Self::SessionGone,
        Self::NoBroadcast,
        Self::MediaLate,
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
            Self::OriginNotAllowed => row("origin_not_allowed", 403, "Pages of this origin may not open a room."),
            Self::NotFound => row("not_found", 404, "There is no such route."),
            Self::StreamNotFound => row("stream_not_found", 404, "There is no such stream."),
            Self::ChatOff => row("chat_off", 404, "This server reads no live chats."),
            Self::RoomNotFound => row("room_not_found", 404, "There is no such room now."),
            Self::VideoNotFound => row("video_not_found", 404, "There is no such video."),
            Self::MethodNotAllowed => row("method_not_allowed", 405, "The route does not take this method."),
            Self::RequestTimeout => row("request_timeout", 408, "The body did not come in time."),
            Self::TenantViewerCap => again("tenant_viewer_cap", 409, "The tenant's viewer cap is reached."),
            Self::TooManyPlaces => row("too_many_places", 409, "The deployment has no room for so many places."),
            Self::ChatDisabled => row("chat_disabled", 409, "The stream's chat is switched off."),
            Self::NotLive => row("not_live", 409, "This is no live stream now."),
            Self::MembersOnly => row("members_only", 409, "The stream is for members only."),
            Self::NotPublic => row("not_public", 409, "The video is not open to everybody."),
            Self::Ended => row("ended", 409, "The live chat is over."),
            Self::SeatGone => row("seat_gone", 410, "There is no such seat: it was given up, or not taken yet."),
            Self::StreamEnded => row("stream_ended", 410, "The stream has ended."),
            Self::BodyTooLarge => row("body_too_large", 413, "The body is too large."),
            Self::RateLimited => again("rate_limited", 429, "Too many requests."),
            Self::UpstreamError => row("upstream_error", 502, "The upstream cannot be reached or read."),
            Self::StoreUnavailable => again("store_unavailable", 503, "The store cannot be written now."),
            Self::NotReady => again("not_ready", 503, "This process takes no requests now."),
            Self::GateQueueFull => again("gate_queue_full", 503, "Too many calls to the upstream wait."),
            Self::TooManyRooms => again("too_many_rooms", 503, "There are as many rooms as are allowed."),
            Self::TokenRefused => row("UNAUTHORIZED", 401, "A viewer's token of this stream is needed."),
            Self::TokenInUse => row("TOKEN_IN_USE", 409, "The token's session is open."),
            Self::ScopeFull => again("SCOPE_FULL", 503, "The tenant's sessions are used up here."),
            Self::EdgeFull => again("EDGE_FULL", 503, "The relay has no room for a newcomer."),
            Self::Removed => row("REMOVED", 403, "The seat was given up, or the stream was stopped."),
            Self::SessionGone => row("session_gone", 410, "There is no such session."),
            Self::NoBroadcast => again("no_broadcast", 404, "Nobody publishes this stream now."),
            Self::MediaLate => again("media_late", 503, "What was asked for has not come yet."),
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
