//! Live chats: a viewer's stream of events, and the rooms there are (C1, C4, C8, C10).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use http::header::ACCEPT_ENCODING;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use tidegate_chat::event::StreamState;
use tidegate_chat::room::{Ending, Start};
use tidegate_chat::youtube::{Name, View};
use tidegate_chat::{Coding, Listed, Readers, Refused, Rooms, Viewer};
use tidegate_seats::SeatId;
use tidegate_wire::{Code, Problem, Reply};
use utoipa::ToSchema;

use super::{Asked, Call, Route, play};
use crate::control::Shared;
use crate::tokens::unix_now;
use crate::{auth, takeover};

/// Read a live chat as it goes (SSE).
///
/// One room for each video and view, whatever name it is asked by. `Last-Event-ID` goes on behind that event.
#[utoipa::path(
    get,
    path = "/v1/chat/{name}/events",
    tag = "chat",
    security((), ("key" = [])),
    params(
        ("name" = String, Path, description = "A video id, an `@handle`, a channel id, or an address of one, percent-encoded"),
        ("view" = Option<String>, Query, description = "`all` (the default) or `top`"),
        ("token" = Option<String>, Query, description = "A seat's token, where only known readers are let in and no header can be sent"),
        ("last-event-id" = Option<String>, Header, description = "The `id` of the last event that was read"),
    ),
    responses((status = 200, description = "Events until the chat is over; the data of each is one `Event` as JSON", body = String, content_type = "text/event-stream"))
)]
pub(crate) async fn chat_events(State(control): State<Arc<Shared>>, call: Call) -> Response {
    match enter(&control, &call).await {
        Ok(viewer) => {
            call.count(&control, Route::ChatEvents, "ok");
            let coding = coding(&call);
            viewer.map_or_else(|| takeover::head(coding), |viewer| takeover::response(viewer, coding))
        }
        Err(problem) => call.refuse(&control, Route::ChatEvents, &problem),
    }
}

/// Lets a viewer in; nobody, and no call to the upstream, for who asks for the head alone.
async fn enter(control: &Shared, call: &Asked) -> Result<Option<Viewer>, Problem> {
    let rooms = rooms(control)?;
    let asker = Asker::of(control, call).await;
    asker.draw(call)?;
    if !call.context.policy.origins.allow(&call.headers) {
        return Err(Problem::new(Code::OriginNotAllowed, "`control.cors_origins` lists those that may"));
    }
    let (name, view) = (name(call)?, view(call)?);
    let last = call.headers.get("last-event-id").map(|id| id.to_str().unwrap_or("?"));
    let start = Start::of_header(last);
    // Who comes back with the id of an event was let in before: its token may have ended since (C4).
    if !rooms.has_sent(&name, view, start) {
        asker.may_read(rooms)?;
    }
    if call.is_head() {
        return Ok(None);
    }
    rooms.enter(&name, view, start).await.map(Some).map_err(refused)
}

/// Who asks (C10).
enum Asker {
    /// A tenant, by its secret key.
    Tenant,
    /// Who has a seat in one of this server's streams.
    Seat(SeatId),
    Anybody,
}

impl Asker {
    /// Reads `Authorization: Bearer`, or the query's `token`, for `EventSource` can send no headers. A secret key is
    /// not taken from there: addresses are logged on their way.
    async fn of(control: &Shared, call: &Asked) -> Self {
        let bearer = auth::bearer(&call.headers);
        let in_query = || call.query().split('&').find_map(|pair| pair.strip_prefix("token="));
        let Some(shown) = bearer.or_else(in_query) else { return Self::Anybody };
        if let Some(seat) = control.tokens.seat(shown, control.outage.verify_at(unix_now())) {
            return Self::Seat(seat);
        }
        match bearer {
            Some(key) if control.catalogue.tenant_of_key(&auth::key_digest(key)).await.is_some() => Self::Tenant,
            Some(_) | None => Self::Anybody,
        }
    }

    /// S16: whoever names no seat draws on its address's bucket.
    fn draw(&self, call: &Asked) -> Result<(), Problem> {
        match self {
            Self::Tenant => Ok(()),
            Self::Seat(seat) => play::toll(call)(*seat).map_err(play::too_often),
            Self::Anybody => play::draw_address(call),
        }
    }

    fn may_read(&self, rooms: &Rooms) -> Result<(), Problem> {
        match (rooms.readers(), self) {
            (Readers::Anybody, _) | (Readers::Known, Self::Tenant | Self::Seat(_)) => Ok(()),
            (Readers::Known, Self::Anybody) => Err(Problem::new(
                Code::Unauthorized,
                "chats are for tenants and their seats: send a secret key or a seat's token as \
                 `Authorization: Bearer`, or the token as `?token=`",
            )),
        }
    }
}

/// List the rooms there are.
#[utoipa::path(
    get,
    path = "/v1/chat",
    tag = "chat",
    security((), ("key" = [])),
    responses((status = 200, description = "The rooms", body = RoomList))
)]
pub(crate) async fn list_rooms(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let outcome = readable(&control, &call).await.map(|rooms| RoomList { rooms: rooms.list() });
    call.answer(&control, Route::Rooms, outcome)
}

/// Read how a room is: its interval, its viewers, its last error, a rate limit.
#[utoipa::path(
    get,
    path = "/v1/chat/{name}",
    tag = "chat",
    security((), ("key" = [])),
    params(
        ("name" = String, Path, description = "A video id, or an address of one, percent-encoded"),
        ("view" = Option<String>, Query, description = "`all` (the default) or `top`"),
    ),
    responses((status = 200, description = "The room", body = Listed))
)]
pub(crate) async fn get_room(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let outcome = find(&control, &call).await;
    call.answer(&control, Route::Room, outcome)
}

/// The rooms, for who may read them.
async fn readable<'a>(control: &'a Shared, call: &Asked) -> Result<&'a Rooms, Problem> {
    let rooms = rooms(control)?;
    Asker::of(control, call).await.may_read(rooms)?;
    Ok(rooms)
}

async fn find(control: &Shared, call: &Asked) -> Result<RoomTold, Problem> {
    let rooms = readable(control, call).await?;
    let view = view(call)?;
    match name(call)? {
        Name::Video(video) => rooms.find(&video, view).map(RoomTold).ok_or_else(no_room),
        // Which video that is now would have to be asked.
        Name::Channel(_) => {
            Err(Problem::new(Code::BadRequest, "a room is told by its video; `GET /v1/chat` lists those there are"))
        }
    }
}

fn no_room() -> Problem {
    Problem::new(Code::RoomNotFound, "nobody reads this chat; its `/events` starts a room")
}

fn rooms(control: &Shared) -> Result<&Rooms, Problem> {
    let off = || Problem::new(Code::ChatOff, "chats need an upstream youtube: write `[upstreams.youtube]` and restart");
    control.rooms.get().ok_or_else(off)
}

/// The `{name}` of `/v1/chat/{name}` and `/v1/chat/{name}/events`.
fn name(call: &Asked) -> Result<Name, Problem> {
    let rest = call.path().strip_prefix("/v1/chat/").unwrap_or_default();
    let name = percent_decode_str(rest.split('/').next().unwrap_or_default()).decode_utf8_lossy();
    Name::parse(&name).map_err(|bad| Problem::new(Code::BadRequest, bad.to_string()))
}

fn view(call: &Asked) -> Result<View, Problem> {
    match call.query().split('&').find_map(|pair| pair.strip_prefix("view=")) {
        None | Some("all") => Ok(View::All),
        Some("top") => Ok(View::Top),
        Some(_) => Err(Problem::of_field(Code::BadRequest, "view", "write top or all")),
    }
}

/// C9: gzip for whoever takes it (RFC 9110, section 12.5.3), which browsers do by themselves.
fn coding(call: &Asked) -> Coding {
    let listed = call.headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let takes = |coding: &str| {
        let (name, weight) = coding.split_once(';').map_or((coding, ""), |(name, weight)| (name, weight));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    };
    if listed.flat_map(|list| list.split(',')).any(takes) { Coding::Gzip } else { Coding::Identity }
}

/// C4: before the stream opens, an error is a status with a code.
fn refused(refused: Refused) -> Problem {
    let detail = refused.to_string();
    match refused {
        Refused::Room(Ending::RateLimited(left)) => Problem::new(Code::RateLimited, detail).retry(left),
        Refused::Room(Ending::Over) => Problem::new(Code::Ended, detail),
        Refused::Room(Ending::Closed(state)) => Problem::new(of_state(state), detail),
        Refused::Room(Ending::Gone(_)) => Problem::new(Code::VideoNotFound, detail),
        Refused::Room(Ending::Upstream(_)) => Problem::new(Code::UpstreamError, detail),
        Refused::NothingOn => Problem::new(Code::NotLive, detail),
        Refused::Busy(wait) => Problem::new(Code::GateQueueFull, detail).retry(wait),
        Refused::TooManyRooms => Problem::new(Code::TooManyRooms, detail).retry(ROOM_RETRY),
    }
}

fn of_state(state: StreamState) -> Code {
    match state {
        StreamState::Live | StreamState::Upcoming | StreamState::ChatDisabled => Code::ChatDisabled,
        StreamState::Ended => Code::Ended,
        StreamState::NotAStream => Code::NotLive,
        StreamState::MembersOnly => Code::MembersOnly,
        StreamState::Private | StreamState::AgeRestricted | StreamState::SignInRequired => Code::NotPublic,
        StreamState::Unavailable => Code::VideoNotFound,
    }
}

/// The rooms there are.
#[derive(Serialize, ToSchema)]
struct RoomList {
    /// Each as its own route tells it.
    rooms: Vec<Listed>,
}

#[derive(Serialize)]
#[serde(transparent)]
struct RoomTold(Listed);

impl Reply for RoomList {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for RoomTold {
    fn status(&self) -> u16 {
        200
    }
}

/// When to ask again where there are as many rooms as are allowed: as long as an empty one goes on (C2).
const ROOM_RETRY: Duration = Duration::from_secs(30);
