//! The page's own calls: `admit`, `token`, `hb`, `leave` (S2–S8, S16–S20).

use std::sync::Arc;

use aws_lc_rs::digest;
use axum::extract::State;
use axum::response::Response;
use tidegate_seats::{Ask, Asker, Beat, BeatAnswer, NonceHash, Renewal, RenewalAnswer, SeatId, StreamId, TenantId};
use tidegate_wire::play::{
    Admission, AdmitRequest, HeartbeatRequest, Kept, LeaveRequest, NotYet, Renewed, Seated, TokenRequest, parse_admit,
    parse_heartbeat, parse_leave, parse_token,
};
use tidegate_wire::{Code, Problem};

use super::{Asked, Call, Route, StreamPath};
use crate::buckets::TooMany;
use crate::control::Shared;
use crate::tokens::{self, Presented, unix_now};
use crate::{answers, relays};

/// Ask for a seat.
///
/// Without a free seat the page gets a place in line and asks again with its seat id; an offered seat is taken with
/// `join`. Calls are limited by address, and those that name a live seat or place by that seat (S16).
#[utoipa::path(
    post,
    path = "/v1/play/{id}/admit",
    tag = "play",
    params(("id" = String, Path, description = "The stream")),
    request_body(content = AdmitRequest, description = "Everything is optional; an empty body asks for a new seat"),
    responses(
        (status = 201, description = "Seated", body = Seated),
        (status = 409, description = "In line, offered a seat, or full", body = NotYet),
    )
)]
pub(crate) async fn admit(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_admit(&control, &stream, &mut call).await;
    call.answer(&control, Route::Admit, outcome)
}

async fn try_admit(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Admission, Problem> {
    let request = call.body().await.and_then(|body| parse_admit(&body));
    let named = match (&request, stream.id()) {
        (Ok(request), Ok(stream)) => Named::by_ask(request, stream),
        (Err(_), _) | (_, Err(_)) => Named::default(),
    };
    let live = draw(control, call, stream, named).await?;
    let ask = PageAsk { request: request?, named, live, asker: Asker::Page, viewer: None };
    ask.answer(control, stream.id()?).await
}

/// Get a new token for a seat (renewal).
///
/// Also at the spend cap and over the tenant's caps. While the store is away the last token suffices (S20).
#[utoipa::path(
    post,
    path = "/v1/play/{id}/token",
    tag = "play",
    params(("id" = String, Path, description = "The stream")),
    request_body(content = TokenRequest),
    responses((status = 200, description = "A new token", body = Renewed))
)]
pub(crate) async fn token(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_token(&control, &stream, &mut call).await;
    call.answer(&control, Route::Token, outcome)
}

async fn try_token(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Renewed, Problem> {
    let request = call.body().await.and_then(|body| parse_token(&body));
    let named = Named::by_seat(request.as_ref().ok().and_then(|request| request.seat.as_deref()));
    let live = draw(control, call, stream, named).await?;
    let (request, stream) = (request?, stream.id()?);
    let seat = named.seat.ok_or_else(seat_gone)?;
    let shown = present(control, stream, seat, live, request.token.as_deref());
    renew(control, stream, seat, shown).await
}

async fn renew(
    control: &Shared,
    stream: &StreamId,
    seat: SeatId,
    shown: Option<Presented>,
) -> Result<Renewed, Problem> {
    let now = unix_now();
    let until = control.tokens.viewer_until(now);
    let proof = shown.as_ref().map(|shown| shown.proof);
    let tenant = match control.seats.renew(stream, Renewal { seat, proof, token_until: until }).await {
        RenewalAnswer::Granted => control.seats.tenant_of(stream).await.ok_or_else(super::no_stream)?,
        RenewalAnswer::Gone => excused(control, seat, shown).await?,
        RenewalAnswer::Kicked => return Err(kicked()),
        RenewalAnswer::StreamEnded => return Err(answers::stream_ended()),
        RenewalAnswer::StreamNotFound => return Err(super::no_stream()),
    };
    let signed = control.tokens.viewer(seat, stream, &tenant, now, until);
    Ok(Renewed { token: signed.token, token_expires_s: signed.life_s, relays: relays::list(None) })
}

/// S20: with the store away the presented token alone keeps a seat, unless it is known to have left. The store
/// itself tells of a kick. Without a token nobody can say that the seat is gone, so it is not said.
async fn excused(control: &Shared, seat: SeatId, shown: Option<Presented>) -> Result<TenantId, Problem> {
    let Err(away) = control.seats.writable().await else { return Err(seat_gone()) };
    control.outage.note(Err(away), unix_now());
    if control.departures.knows(seat) {
        return Err(seat_gone());
    }
    shown.and_then(|shown| shown.tenant).ok_or_else(|| control.store_away(away))
}

/// Keep a seat.
///
/// A visible page calls every 5 s and loses its seat after 20 s of silence, a hidden one every 20 s and after 60 s.
#[utoipa::path(
    post,
    path = "/v1/play/{id}/hb",
    tag = "play",
    params(("id" = String, Path, description = "The stream")),
    request_body(content = HeartbeatRequest),
    responses((status = 200, description = "Kept", body = Kept))
)]
pub(crate) async fn hb(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_hb(&control, &stream, &mut call).await;
    call.answer(&control, Route::Heartbeat, outcome)
}

async fn try_hb(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Kept, Problem> {
    let request = call.body().await.and_then(|body| parse_heartbeat(&body));
    let named = Named::by_seat(request.as_ref().ok().and_then(|request| request.seat.as_deref()));
    let live = draw(control, call, stream, named).await?;
    let (request, stream) = (request?, stream.id()?);
    let seat = named.seat.ok_or_else(seat_gone)?;
    let shown = present(control, stream, seat, live, request.token.as_deref());
    let proof = shown.as_ref().map(|shown| shown.proof);
    match control.seats.beat(stream, Beat { seat, proof, hidden: request.hidden, hls: request.hls }).await {
        BeatAnswer::Kept { next } => Ok(Kept::until(next)),
        BeatAnswer::Gone => excused(control, seat, shown).await.map(|_tenant| Kept::until(NEXT_BEAT_WHILE_AWAY)),
        BeatAnswer::Kicked => Err(kicked()),
        BeatAnswer::StreamEnded => Err(answers::stream_ended()),
        BeatAnswer::StreamNotFound => Err(super::no_stream()),
    }
}

/// Give up a seat or place.
///
/// Repeating it is harmless. Takes the body of `navigator.sendBeacon` too.
#[utoipa::path(
    post,
    path = "/v1/play/{id}/leave",
    tag = "play",
    params(("id" = String, Path, description = "The stream")),
    request_body(content = LeaveRequest),
    responses((status = 204, description = "Free, or was before"))
)]
pub(crate) async fn leave(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_leave(&control, &stream, &mut call).await;
    call.done(&control, Route::Leave, outcome)
}

async fn try_leave(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<(), Problem> {
    let request = call.body().await.and_then(|body| parse_leave(&body));
    let named = Named::by_seat(request.as_ref().ok().and_then(|request| request.seat.as_deref()));
    let live = draw(control, call, stream, named).await?;
    let (_, stream) = (request?, stream.id()?);
    let Some(seat) = named.seat else { return Ok(()) };
    if live.is_some() {
        let now = unix_now();
        control.departures.remember(seat, control.tokens.viewer_until(now), now);
    }
    control.seats.leave(stream, seat).await.map_err(|away| control.store_away(away))
}

/// What a call names: the key of its look-up.
#[derive(Clone, Copy, Default)]
pub(super) struct Named {
    pub(super) seat: Option<SeatId>,
    pub(super) nonce: Option<NonceHash>,
}

impl Named {
    pub(super) fn by_ask(request: &AdmitRequest, stream: &StreamId) -> Self {
        let seat = request.seat.as_deref();
        // Ignored beside `seat`, whatever became of that.
        let nonce = if seat.is_some() { None } else { request.nonce.as_deref() };
        Self { seat: seat.and_then(SeatId::parse), nonce: nonce.map(|nonce| hash_nonce(stream, nonce)) }
    }

    fn by_seat(seat: Option<&str>) -> Self {
        Self { seat: seat.and_then(SeatId::parse), nonce: None }
    }
}

/// One ask, looked up and paid for.
pub(super) struct PageAsk<'a> {
    pub(super) request: AdmitRequest,
    pub(super) named: Named,
    pub(super) live: Option<SeatId>,
    pub(super) asker: Asker,
    pub(super) viewer: Option<&'a str>,
}

impl PageAsk<'_> {
    pub(super) async fn answer(self, control: &Shared, stream: &StreamId) -> Result<Admission, Problem> {
        let Self { request, named, live, asker, viewer } = self;
        let proof = self.named.seat.and_then(|seat| present(control, stream, seat, live, request.token.as_deref()));
        let now = unix_now();
        let token_until = control.tokens.viewer_until(now);
        let ask = Ask {
            asker,
            seat: request.seat.as_ref().map(|_| named.seat.ok_or(())),
            proof: proof.map(|shown| shown.proof),
            nonce: named.nonce,
            viewer,
            join: request.join.unwrap_or(false),
            hidden: request.hidden.unwrap_or(false),
            hls: request.hls.unwrap_or(false),
            fresh: tokens::fresh_seat(),
            token_until,
        };
        let answer = control.seats.ask(stream, ask).await.map_err(|away| control.store_away(away))?;
        answers::told(control, stream, answer, now, token_until, request.region.as_deref()).await
    }
}

/// Finds what the call names and draws on its bucket: that seat's own, or the address's (S16).
async fn draw(control: &Shared, call: &Asked, stream: &StreamPath, named: Named) -> Result<Option<SeatId>, Problem> {
    let live = match stream.id() {
        Ok(stream) if named.seat.is_some() || named.nonce.is_some() => {
            control.seats.find(stream, named.seat, named.nonce).await
        }
        Ok(_) | Err(_) => None,
    };
    let client = call.client();
    let policy = &call.context.policy;
    if policy.settings.exempt_networks.contain(client) {
        return Ok(live);
    }
    let (drawn, whose) = match live {
        Some(seat) => (policy.buckets.draw_seat(seat), "too many requests for this seat"),
        None => (policy.buckets.draw_address(client), "too many requests from this address"),
    };
    drawn.map_err(|TooMany(wait)| Problem::new(Code::RateLimited, whose).retry(wait))?;
    Ok(live)
}

/// Verifies a presented token, if it can matter: the seat is one that the store does not know (T5). Heartbeats of
/// live seats carry a token too, and a signature costs more than all the rest of the call.
fn present(
    control: &Shared,
    stream: &StreamId,
    seat: SeatId,
    live: Option<SeatId>,
    token: Option<&str>,
) -> Option<Presented> {
    if live.is_some() {
        return None;
    }
    control.tokens.proof(token?, stream, seat, control.outage.verify_at(unix_now()))
}

/// A nonce is kept as a hash, and a hash of its stream too: the same value elsewhere finds nothing.
fn hash_nonce(stream: &StreamId, nonce: &str) -> NonceHash {
    let mut hash = digest::Context::new(&digest::SHA256);
    hash.update(stream.as_str().as_bytes());
    hash.update(&[0]);
    hash.update(nonce.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finish().as_ref()[..16]);
    NonceHash(short)
}

fn seat_gone() -> Problem {
    Problem::new(Code::SeatGone, "ask for a new one with `admit`")
}

fn kicked() -> Problem {
    Problem::new(Code::Kicked, "this seat was removed from the stream")
}

/// What a page is told when its seat is kept by its token alone. Rule S18's time of a visible page.
const NEXT_BEAT_WHILE_AWAY: std::time::Duration = std::time::Duration::from_secs(5);
