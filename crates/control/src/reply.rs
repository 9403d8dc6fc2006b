//! An answer becomes a response: status, headers, body, once.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use tidegate_wire::{Code, Media, Problem, Reply, retry_after_s};

/// Writes an answer.
pub(crate) fn write(answer: &impl Reply) -> Response {
    let mut body = Vec::with_capacity(BODY_USUAL_BYTES);
    serde_json::to_writer(&mut body, answer).expect("answers are structs of numbers and strings");
    let mut response = Response::new(Body::from(Bytes::from(body)));
    *response.status_mut() = status(answer.status());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media(answer.media()));
    if let Some(ms) = answer.retry_after_ms() {
        headers.insert(RETRY_AFTER, seconds(retry_after_s(ms)));
    }
    response
}

/// Writes a refusal, with the headers that its code asks for.
pub(crate) fn write_problem(problem: &Problem) -> Response {
    let mut response = write(problem);
    match problem.code {
        Code::Unauthorized => {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // The rest of the body may still come: what follows on this connection is no request.
        Code::BodyTooLarge | Code::RequestTimeout => {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Code::BadRequest
        | Code::UnknownField
        | Code::BadNonce
        | Code::SpendCapReached
        | Code::Kicked
        | Code::ServerAdmission
        | Code::NotFound
        | Code::StreamNotFound
        | Code::MethodNotAllowed
        | Code::TenantViewerCap
        | Code::TooManyPlaces
        | Code::SeatGone
        | Code::StreamEnded
        | Code::RateLimited
        | Code::StoreUnavailable
        | Code::NotReady
        | Code::OriginNotAllowed
        | Code::ChatOff
        | Code::RoomNotFound
        | Code::VideoNotFound
        | Code::ChatDisabled
        | Code::NotLive
        | Code::MembersOnly
        | Code::NotPublic
        | Code::Ended
        | Code::UpstreamError
        | Code::GateQueueFull
        | Code::TooManyRooms
        // A relay's, which writes its own.
        | Code::TokenRefused
        | Code::TokenInUse
        | Code::ScopeFull
        | Code::EdgeFull
        | Code::Removed
        | Code::SessionGone
        | Code::NoBroadcast
        | Code::MediaLate => {}
    }
    response
}

/// Done, with nothing to say.
pub(crate) fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// A text that is made elsewhere: a key set, a description, metrics.
pub(crate) fn text(content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// `204` to a method question, with the methods there are.
pub(crate) fn allowed(methods: &'static str) -> Response {
    let mut response = no_content();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).expect("the table of codes holds HTTP statuses")
}

fn media(media: Media) -> HeaderValue {
    match media {
        Media::Json => HeaderValue::from_static("application/json"),
        Media::Problem => HeaderValue::from_static("application/problem+json"),
    }
}

/// Every waiting ask is told a time of a few seconds, which needs no new text.
fn seconds(n: u64) -> HeaderValue {
    let usual = usize::try_from(n).ok().and_then(|n| USUAL_SECONDS.get(n));
    usual.map_or_else(|| HeaderValue::from(n), |text| HeaderValue::from_static(text))
}

/// A place is asked to come back after 2 s to 10 s, and 10 % more (S3).
const USUAL_SECONDS: [&str; 12] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"];

/// Larger than most answers and a token, so that writing one allocates once.
const BODY_USUAL_BYTES: usize = 640;
