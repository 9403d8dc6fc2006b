//! The page's own calls: `admit`, `token`, `hb`, `leave` (S2–S8, S16–S20).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_seats::{Asker, Beat, BeatAnswer, Renewal, RenewalAnswer, RetryAfter, SeatId, StreamId, TenantId};
use tidegate_store::Named;
use tidegate_wire::play::{
    Admission, AdmitRequest, HeartbeatRequest, Kept, LeaveRequest, NotYet, Renewed, Seated, TokenRequest, parse_admit,
    parse_heartbeat, parse_leave, parse_token,
};
use tidegate_wire::{Code, Problem};

use super::asking::Asking;
use super::{Asked, Call, Route, StreamPath};
use crate::answers;
use crate::buckets::TooMany;
use crate::control::Shared;
use crate::tokens::{Life, Presented, unix_now};

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
    let (request, stream) = whole(call, request, stream)?;
    let ask = Asking::new(control, stream, &request, Asker::Page, None);
    let answer = match ask.as_named(control, &toll(call)).await? {
        Named::Answered(answer) => answer,
        Named::TooOften(retry) => return Err(too_often(retry)),
        Named::Nobody => {
            draw_address(call)?;
            ask.as_anybody(control).await?
        }
    };
    ask.told(control, answer).await
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
    let (request, stream) = whole(call, request, stream)?;
    let seat = seat_of(request.seat.as_deref()).ok_or_else(|| unnamed(call, seat_gone()))?;
    let shown = match draw(control, call, stream, seat).await? {
        Drawn::OfSeat => None,
        Drawn::OfAddress => present(control, stream, seat, request.token.as_deref()),
    };
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
    let seat = seat.to_string();
    let back = control.relays.knows(&seat);
    let signed = control.tokens.viewer(&seat, stream, &tenant, back, Life { from: now, until });
    let relays = control.relays.ranked(&tenant, None);
    Ok(Renewed { token: signed.token, token_expires_s: signed.life_s, relays })
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
    let (request, stream) = whole(call, request, stream)?;
    let seat = seat_of(request.seat.as_deref()).ok_or_else(|| unnamed(call, seat_gone()))?;
    let beat = Beat { seat, proof: None, hidden: request.hidden, hls: request.hls };
    let (answer, shown) = match control.seats.beat_named(stream, beat.clone(), &toll(call)).await {
        Named::Answered(answer) => (answer, None),
        Named::TooOften(retry) => return Err(too_often(retry)),
        Named::Nobody => {
            draw_address(call)?;
            let shown = present(control, stream, seat, request.token.as_deref());
            let proof = shown.as_ref().map(|shown| shown.proof);
            (control.seats.beat(stream, Beat { proof, ..beat }).await, shown)
        }
    };
    match answer {
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
    let (request, stream) = whole(call, request, stream)?;
    let Some(seat) = seat_of(request.seat.as_deref()) else { return draw_address(call) };
    if draw(control, call, stream, seat).await? == Drawn::OfSeat {
        let now = unix_now();
        control.departures.remember(seat, control.tokens.viewer_until(now), now);
    }
    control.seats.leave(stream, seat).await.map_err(|away| control.store_away(away))
}

/// The request and its stream; without either the call names nobody, and the address pays for it.
fn whole<'a, T>(
    call: &Asked,
    request: Result<T, Problem>,
    stream: &'a StreamPath,
) -> Result<(T, &'a StreamId), Problem> {
    match (request, stream.id()) {
        (Ok(request), Ok(stream)) => Ok((request, stream)),
        (Err(problem), _) | (_, Err(problem)) => Err(unnamed(call, problem)),
    }
}

/// What a call that names nobody is told.
fn unnamed(call: &Asked, problem: Problem) -> Problem {
    draw_address(call).err().unwrap_or(problem)
}

fn seat_of(text: Option<&str>) -> Option<SeatId> {
    text.and_then(SeatId::parse)
}

/// Whose bucket a call drew on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drawn {
    /// The live seat's or place's that it named.
    OfSeat,
    OfAddress,
}

/// Finds what the call names and draws on its bucket: that seat's own, or the address's (S16).
async fn draw(control: &Shared, call: &Asked, stream: &StreamId, seat: SeatId) -> Result<Drawn, Problem> {
    match control.seats.find(stream, Some(seat), None).await {
        Some(seat) => toll(call)(seat).map(|()| Drawn::OfSeat).map_err(too_often),
        None => draw_address(call).map(|()| Drawn::OfAddress),
    }
}

/// Draws on the bucket of whichever live entry the call turns out to name (S16).
pub(super) fn toll(call: &Asked) -> impl Fn(SeatId) -> Result<(), RetryAfter> {
    let exempt = call.is_exempt();
    move |seat| {
        let drawn = if exempt { Ok(()) } else { call.context.policy.buckets.draw_seat(seat) };
        drawn.map_err(|TooMany(wait)| RetryAfter(wait))
    }
}

pub(super) fn draw_address(call: &Asked) -> Result<(), Problem> {
    if call.is_exempt() {
        return Ok(());
    }
    call.context
        .policy
        .buckets
        .draw_address(call.client())
        .map_err(|TooMany(wait)| Problem::new(Code::RateLimited, "too many requests from this address").retry(wait))
}

pub(super) fn too_often(retry: RetryAfter) -> Problem {
    Problem::new(Code::RateLimited, "too many requests for this seat").retry(retry.0)
}

/// Verifies a presented token. Only where it can matter, for a seat that the store does not know (T5): heartbeats of
/// live seats carry a token too, and a signature costs more than all the rest of the call.
pub(super) fn present(control: &Shared, stream: &StreamId, seat: SeatId, token: Option<&str>) -> Option<Presented> {
    control.tokens.proof(token?, stream, seat, control.outage.verify_at(unix_now()))
}

fn seat_gone() -> Problem {
    Problem::new(Code::SeatGone, "ask for a new one with `admit`")
}

fn kicked() -> Problem {
    Problem::new(Code::Kicked, "this seat was removed from the stream")
}

/// What a page is told when its seat is kept by its token alone. Rule S18's time of a visible page.
const NEXT_BEAT_WHILE_AWAY: std::time::Duration = std::time::Duration::from_secs(5);
