//! The routes, one file per resource, and the table of what each may answer.

mod asking;
mod call;
mod chat;
mod health;
mod ingest;
mod page;
mod play;
mod relays;
mod seats;
mod streams;
mod tenant;
mod viewer_tokens;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_wire::{Code, Problem};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::call::StreamPath;
pub(crate) use self::call::{Asked, Call, Context, no_stream};
pub(crate) use self::page::PageCall;
use crate::control::Shared;
use crate::openapi::Description;

/// Every route, as it is called in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Admit,
    Token,
    Heartbeat,
    Leave,
    ViewerTokens,
    OpenStream,
    Streams,
    Stream,
    ChangeStream,
    DeleteStream,
    EndStream,
    Kick,
    IngestToken,
    Heartbeats,
    Stats,
    Seats,
    Tenant,
    ChatEvents,
    Rooms,
    Room,
    RelayReport,
    Jwks,
    Description,
    Health,
    Ready,
    Metrics,
    /// No route, or not this method.
    Other,
}

/// What any call with a body may be refused for.
const BODY: &[Code] = &[Code::BadRequest, Code::RequestTimeout, Code::BodyTooLarge];

/// What any call with a tenant's key may be refused for.
const KEY: &[Code] = &[Code::Unauthorized];

impl Route {
    /// Every route, in the order of the enum.
    pub(crate) const ALL: [Self; 27] = [
        Self::Admit,
        Self::Token,
        Self::Heartbeat,
        Self::Leave,
        Self::ViewerTokens,
        Self::OpenStream,
        Self::Streams,
        Self::Stream,
        Self::ChangeStream,
        Self::DeleteStream,
        Self::EndStream,
        Self::Kick,
        Self::IngestToken,
        Self::Heartbeats,
        Self::Stats,
        Self::Seats,
        Self::Tenant,
        Self::ChatEvents,
        Self::Rooms,
        Self::Room,
        Self::RelayReport,
        Self::Jwks,
        Self::Description,
        Self::Health,
        Self::Ready,
        Self::Metrics,
        Self::Other,
    ];

    /// Its label in metrics, and its operation id in the description.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Token => "token",
            Self::Heartbeat => "hb",
            Self::Leave => "leave",
            Self::ViewerTokens => "viewer_tokens",
            Self::OpenStream => "open_stream",
            Self::Streams => "list_streams",
            Self::Stream => "get_stream",
            Self::ChangeStream => "change_stream",
            Self::DeleteStream => "delete_stream",
            Self::EndStream => "end_stream",
            Self::Kick => "kick",
            Self::IngestToken => "ingest_token",
            Self::Heartbeats => "heartbeats",
            Self::Stats => "stats",
            Self::Seats => "list_seats",
            Self::Tenant => "tenant",
            Self::ChatEvents => "chat_events",
            Self::Rooms => "list_rooms",
            Self::Room => "get_room",
            Self::RelayReport => "relay_report",
            Self::Jwks => "jwks",
            Self::Description => "openapi",
            Self::Health => "healthz",
            Self::Ready => "readyz",
            Self::Metrics => "metrics",
            Self::Other => "other",
        }
    }

    /// What it may be refused for: documented, counted, and held to by the tests.
    #[rustfmt::skip]
    pub(crate) const fn refusals(self) -> &'static [&'static [Code]] {
        use Code::{
            BadNonce, ChatDisabled, ChatOff, Ended, GateQueueFull, Kicked, MembersOnly, MethodNotAllowed, NotFound, NotLive,
            NotPublic, NotReady, OriginNotAllowed, RateLimited, RoomNotFound, SeatGone, ServerAdmission, SpendCapReached,
            StoreUnavailable, StreamEnded, StreamNotFound, TenantViewerCap, TooManyPlaces, TooManyRooms, UnknownField,
            UpstreamError, VideoNotFound,
        };
        match self {
            Self::Admit => &[BODY, &[RateLimited, StreamNotFound, StreamEnded, StoreUnavailable, BadNonce, ServerAdmission, Kicked, TenantViewerCap, SpendCapReached]],
            Self::Token | Self::Heartbeat => &[BODY, &[RateLimited, StreamNotFound, StreamEnded, StoreUnavailable, SeatGone, Kicked]],
            Self::Leave => &[BODY, &[RateLimited, StreamNotFound, StoreUnavailable]],
            Self::ViewerTokens => &[BODY, KEY, &[UnknownField, StreamNotFound, StreamEnded, StoreUnavailable, BadNonce, Kicked, TenantViewerCap, SpendCapReached]],
            Self::OpenStream => &[BODY, KEY, &[UnknownField, StoreUnavailable, TenantViewerCap, TooManyPlaces]],
            Self::ChangeStream => &[BODY, KEY, &[UnknownField, StreamNotFound, StreamEnded, StoreUnavailable, TenantViewerCap, TooManyPlaces]],
            Self::Stream | Self::Stats => &[KEY, &[StreamNotFound]],
            Self::Seats => &[KEY, &[StreamNotFound, Code::BadRequest]],
            Self::DeleteStream => &[KEY, &[StreamNotFound, StoreUnavailable]],
            Self::EndStream | Self::Kick => &[BODY, KEY, &[UnknownField, StreamNotFound, StoreUnavailable]],
            Self::IngestToken => &[BODY, KEY, &[UnknownField, StreamNotFound, StreamEnded, StoreUnavailable]],
            Self::Heartbeats => &[BODY, KEY, &[UnknownField, StreamNotFound]],
            Self::Streams | Self::Tenant => &[KEY],
            Self::ChatEvents => &[KEY, &[Code::BadRequest, ChatOff, OriginNotAllowed, VideoNotFound, ChatDisabled, NotLive, MembersOnly, NotPublic, Ended, RateLimited, UpstreamError, GateQueueFull, TooManyRooms]],
            Self::Rooms => &[KEY, &[ChatOff]],
            Self::Room => &[KEY, &[Code::BadRequest, ChatOff, RoomNotFound]],
            Self::RelayReport => &[BODY, KEY],
            Self::Ready => &[&[NotReady, StoreUnavailable]],
            Self::Jwks | Self::Description | Self::Health | Self::Metrics => &[],
            Self::Other => &[&[NotFound, MethodNotAllowed]],
        }
    }

    /// The codes of [`Route::refusals`].
    pub(crate) fn codes(self) -> impl Iterator<Item = Code> {
        self.refusals().iter().flat_map(|group| group.iter().copied())
    }

    /// Every label that its answers are counted under.
    pub(crate) fn labels(self) -> impl Iterator<Item = &'static str> {
        let good: &[&str] = match self {
            Self::Admit | Self::ViewerTokens => &["in", "wait", "offer", "full"],
            Self::Other => &[],
            Self::Token
            | Self::Heartbeat
            | Self::Leave
            | Self::OpenStream
            | Self::Streams
            | Self::Stream
            | Self::ChangeStream
            | Self::DeleteStream
            | Self::EndStream
            | Self::Kick
            | Self::IngestToken
            | Self::Heartbeats
            | Self::Stats
            | Self::Seats
            | Self::Tenant
            | Self::ChatEvents
            | Self::Rooms
            | Self::Room
            | Self::RelayReport
            | Self::Jwks
            | Self::Description
            | Self::Health
            | Self::Ready
            | Self::Metrics => &["ok"],
        };
        good.iter().copied().chain(self.codes().map(Code::as_str))
    }
}

/// The routes and their description.
pub(crate) fn all() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(play::admit))
        .routes(routes!(play::token))
        .routes(routes!(play::hb))
        .routes(routes!(play::leave))
        .routes(routes!(viewer_tokens::viewer_tokens))
        .routes(routes!(streams::open_stream, streams::list_streams))
        .routes(routes!(streams::get_stream, streams::change_stream, streams::delete_stream))
        .routes(routes!(streams::end_stream))
        .routes(routes!(ingest::ingest_token))
        .routes(routes!(seats::kick))
        .routes(routes!(seats::heartbeats))
        .routes(routes!(seats::stats))
        .routes(routes!(seats::list_seats))
        .routes(routes!(tenant::tenant))
        .routes(routes!(chat::chat_events))
        .routes(routes!(chat::list_rooms))
        .routes(routes!(chat::get_room))
        .routes(routes!(relays::relay_report))
        .routes(routes!(tenant::jwks))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
}

pub(crate) use self::health::description;

/// `404` for what is no route.
pub(crate) async fn no_route(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let problem = Problem::new(Code::NotFound, "no such route; see /openapi.json for those there are");
    call.refuse(&control, Route::Other, &problem)
}

/// `405` for a route that lacks the method; the router adds `Allow`.
pub(crate) async fn no_method(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let problem = Problem::new(Code::MethodNotAllowed, "see `Allow` for the methods that this route takes");
    call.refuse(&control, Route::Other, &problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o4_the_list_of_routes_is_in_the_order_of_the_enum() {
        // Its series are found by that number.
        for (n, route) in Route::ALL.into_iter().enumerate() {
            assert_eq!(route as usize, n, "{}", route.name());
        }
    }
}
