//! A tenant's view of a stream's seats (S18, S21, S22).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_seats::{Arrival, Beat, BeatAnswer, KickAnswer, KickTarget, SeatId, SeatListing, StreamId};
use tidegate_wire::seats::{
    Heartbeat, Heartbeats, HeartbeatsRequest, KickRequest, Kicked, Seat, SeatList, Stats, Viewers, parse_heartbeats,
    parse_kick,
};
use tidegate_wire::{Code, Problem};
use tracing::info;

use super::no_stream;
use super::{Asked, Call, Route, StreamPath};
use crate::control::Shared;

/// Remove a viewer.
///
/// Frees the seat or place, ends its sessions at every relay within 2 s, and refuses the seat id or viewer name for
/// a while (S8, S21).
#[utoipa::path(
    post,
    path = "/v1/streams/{id}/kick",
    tag = "seats",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    request_body(content = KickRequest, description = "Exactly one of the two"),
    responses((status = 200, description = "Removed and blocked", body = Kicked))
)]
pub(crate) async fn kick(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_kick(&control, &stream, &mut call).await;
    call.answer(&control, Route::Kick, outcome)
}

async fn try_kick(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Kicked, Problem> {
    let (_tenant, stream) = call.tenants_stream(control, stream).await?;
    let request = parse_kick(&call.body().await?)?;
    let target = match (request.seat.as_deref().map(SeatId::parse), request.viewer.as_deref()) {
        (Some(Some(seat)), _) => KickTarget::Seat(seat),
        (None, Some(viewer)) => KickTarget::Viewer(viewer),
        // Text that no seat ever has: nobody to remove, nothing to remember.
        (Some(None), _) | (None, None) => return Ok(Kicked { seat: None }),
    };
    let answer = control.seats.kick(&stream, target).await.map_err(|away| control.store_away(away))?;
    match answer {
        KickAnswer::Kicked { seat } => {
            let prefix = seat.map(|seat| seat.prefix());
            info!(%stream, seat = prefix, request = %call.context.id, "viewer kicked");
            Ok(Kicked { seat: seat.map(|seat| seat.to_string()) })
        }
        KickAnswer::StreamNotFound => Err(no_stream()),
    }
}

/// Keep many seats.
///
/// For a backend that speaks for its viewers; up to 1,000 seats, with an answer for each (S18).
#[utoipa::path(
    post,
    path = "/v1/streams/{id}/hb",
    tag = "seats",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    request_body(content = HeartbeatsRequest),
    responses((status = 200, description = "An answer for each seat, in the order asked", body = Heartbeats))
)]
pub(crate) async fn heartbeats(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_heartbeats(&control, &stream, &mut call).await;
    call.answer(&control, Route::Heartbeats, outcome)
}

async fn try_heartbeats(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Heartbeats, Problem> {
    let (_tenant, stream) = call.tenants_stream(control, stream).await?;
    let request = parse_heartbeats(&call.body().await?)?;
    let mut seats = Vec::with_capacity(request.seats.len());
    for seat in request.seats {
        seats.push(beat(control, &stream, seat).await);
    }
    Ok(Heartbeats { seats })
}

async fn beat(control: &Shared, stream: &StreamId, text: String) -> Heartbeat {
    let Some(seat) = SeatId::parse(&text) else { return Heartbeat::lost(text, Code::SeatGone) };
    match control.seats.beat(stream, Beat { seat, proof: None, hidden: None, hls: None }).await {
        BeatAnswer::Kept { next } => Heartbeat::kept(text, next),
        BeatAnswer::Gone => Heartbeat::lost(text, Code::SeatGone),
        BeatAnswer::Kicked => Heartbeat::lost(text, Code::Kicked),
        BeatAnswer::StreamEnded => Heartbeat::lost(text, Code::StreamEnded),
        BeatAnswer::StreamNotFound => Heartbeat::lost(text, Code::StreamNotFound),
    }
}

/// Count a stream's seats and places.
#[utoipa::path(
    get,
    path = "/v1/streams/{id}/stats",
    tag = "seats",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    responses((status = 200, description = "The counts now", body = Stats))
)]
pub(crate) async fn stats(State(control): State<Arc<Shared>>, stream: StreamPath, call: Call) -> Response {
    let outcome = try_stats(&control, &stream, &call).await;
    call.answer(&control, Route::Stats, outcome)
}

async fn try_stats(control: &Shared, stream: &StreamPath, call: &Asked) -> Result<Stats, Problem> {
    let (tenant, stream) = call.tenants_stream(control, stream).await?;
    let counts = control.seats.stats(&stream).await.ok_or_else(no_stream)?;
    let record = control.catalogue.stream(&tenant, &stream).await.ok_or_else(no_stream)?;
    Ok(Stats {
        viewers: Viewers {
            cap: counts.cap,
            hls: counts.hls,
            peak: counts.peak,
            queue_max: counts.queue_max,
            queued: counts.queued,
            seats: counts.seats,
        },
        seats_with_tokens: counts.seats_with_tokens,
        turns: counts.turns,
        ingest_token_at: record.ingest_token_at,
    })
}

/// List a stream's seats, in order of arrival.
#[utoipa::path(
    get,
    path = "/v1/streams/{id}/seats",
    tag = "seats",
    security(("key" = [])),
    params(
        ("id" = String, Path, description = "The stream"),
        ("cursor" = Option<u64>, Query, description = "`next_cursor` of the page before"),
        ("limit" = Option<usize>, Query, minimum = 1, maximum = 1000, description = "Seats of a page; default 100"),
    ),
    responses((status = 200, description = "A page of seats", body = SeatList))
)]
pub(crate) async fn list_seats(State(control): State<Arc<Shared>>, stream: StreamPath, call: Call) -> Response {
    let outcome = try_list_seats(&control, &stream, &call).await;
    call.answer(&control, Route::Seats, outcome)
}

async fn try_list_seats(control: &Shared, stream: &StreamPath, call: &Asked) -> Result<SeatList, Problem> {
    let (_tenant, stream) = call.tenants_stream(control, stream).await?;
    let page = Page::parse(call.query())?;
    // One more than asked for tells whether there is a next page.
    let mut listed = control.seats.seats(&stream, page.after, page.limit + 1).await;
    let more = listed.len() > page.limit;
    listed.truncate(page.limit);
    let last = listed.last().map(|seat| seat.arrival.0.to_string());
    Ok(SeatList { next_cursor: last.filter(|_| more), seats: listed.into_iter().map(seat).collect() })
}

fn seat(listing: SeatListing) -> Seat {
    let SeatListing { arrival: _, seat, viewer, since, hidden, hls } = listing;
    Seat { id: seat.to_string(), viewer, since, hidden, hls }
}

/// Which page of a list.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    after: Option<Arrival>,
    limit: usize,
}

impl Page {
    fn parse(query: &str) -> Result<Self, Problem> {
        let mut page = Self { after: None, limit: PAGE_DEFAULT };
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "cursor" => {
                    let cursor = value.parse().map_err(|_| bad(name, "the `next_cursor` of the page before"))?;
                    page.after = Some(Arrival(cursor));
                }
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit));
                    page.limit = limit.ok_or_else(|| bad(name, "a whole number from 1 to 1000"))?;
                }
                _ => {}
            }
        }
        Ok(page)
    }
}

fn bad(name: &str, what: &str) -> Problem {
    Problem::of_field(Code::BadRequest, name, what)
}

const PAGE_DEFAULT: usize = 100;
const PAGE_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s21_a_page_of_seats_is_bounded() {
        let page = |query| Page::parse(query).unwrap();
        assert_eq!(page(""), Page { after: None, limit: 100 });
        assert_eq!(page("cursor=17&limit=1000&other=x"), Page { after: Some(Arrival(17)), limit: 1000 });
        for query in ["limit=0", "limit=1001", "limit=", "limit=-1", "limit=99999999999999999999999", "limit"] {
            assert_eq!(Page::parse(query).unwrap_err().field.as_deref(), Some("limit"), "{query}");
        }
        for query in ["cursor=x", "cursor=-1", "cursor="] {
            assert_eq!(Page::parse(query).unwrap_err().field.as_deref(), Some("cursor"), "{query}");
        }
    }
}
