//! Answers over HTTP: media, playlists, refusals, and what a page of another origin may read.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue,
    RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};
use tidegate_edge::Refusal;
use tidegate_wire::relay::CloseCode;
use tidegate_wire::{Code, Problem, Reply, retry_after_s};

use super::address::{Thing, TrackId};

/// A playlist.
pub(crate) fn playlist(text: Bytes) -> Response<Bytes> {
    of_type("application/vnd.apple.mpegurl", text)
}

/// Media.
pub(crate) fn media(thing: Thing, data: Bytes) -> Response<Bytes> {
    let media = match thing {
        Thing::Init(TrackId::Audio(_), _)
        | Thing::Segment(TrackId::Audio(_), _)
        | Thing::Part(TrackId::Audio(_), ..) => "audio/mp4",
        Thing::Init(..) | Thing::Segment(..) | Thing::Part(..) | Thing::Playlist(_) | Thing::Token => "video/mp4",
    };
    of_type(media, data)
}

/// `204`: done, and there is nothing to say.
pub(crate) fn nothing() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    finish(response)
}

/// What a browser asks before it lets a page of another origin call. No cookie means anything here, so every page may.
pub(crate) fn preflight() -> Response<Bytes> {
    let mut response = nothing();
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static("GET, POST, OPTIONS"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type, range"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

/// A refusal.
pub(crate) fn problem(problem: &Problem) -> Response<Bytes> {
    let body = serde_json::to_vec(problem).expect("problems are numbers and strings");
    let mut response = of_type(problem.media().as_str(), body.into());
    *response.status_mut() = StatusCode::from_u16(problem.status()).expect("the table holds statuses");
    if let Some(ms) = problem.retry_after_ms() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_s(ms)));
    }
    response
}

/// What the desk says to who may not come in (E8).
pub(crate) fn refused(refusal: &Refusal) -> Problem {
    match refusal {
        Refusal::EdgeFull { retry, full: _ } => {
            Problem::new(Code::EdgeFull, "try another relay, or this one again later, with the same token")
                .retry(*retry)
        }
        Refusal::TokenInUse => Problem::new(Code::TokenInUse, "renew the seat's token and come with that"),
        Refusal::ScopeFull => {
            Problem::new(Code::ScopeFull, "the tenant's sessions are used up at this relay").retry(SCOPE_RETRY)
        }
        Refusal::Removed => Problem::new(Code::Removed, "the seat was given up, or the stream was stopped"),
    }
}

/// What the requests of a session that is over are told.
pub(crate) fn over(code: Option<CloseCode>) -> Problem {
    match code {
        Some(CloseCode::Stopping) => {
            Problem::new(Code::NotReady, "the relay is stopping; ask another").retry(ASK_ANOTHER)
        }
        Some(code) => Problem::new(Code::SessionGone, format!("the session is over: {}", code.as_str())),
        None => Problem::new(Code::SessionGone, "there is no such session: open one with a token at index.m3u8"),
    }
}

fn of_type(media: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    finish(response)
}

fn finish(mut response: Response<Bytes>) -> Response<Bytes> {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("retry-after"));
    // Addresses name a session: what is behind them is for one viewer, and soon gone.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Shares move with each report (E3).
const SCOPE_RETRY: Duration = Duration::from_secs(5);
/// Others are there now (O9).
const ASK_ANOTHER: Duration = Duration::from_secs(2);
