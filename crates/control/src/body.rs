//! Reading a request's body within its bounds of size and time.

use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use tidegate_wire::{Code, Problem};

use crate::settings::BODY_MAX_BYTES;

/// Reads a body of at most [`BODY_MAX_BYTES`].
///
/// A body that is a little too large is read to its end and dropped: a client that is still sending when the
/// connection closes may never see why.
pub(crate) async fn read(body: Body, time: Duration) -> Result<Bytes, Problem> {
    if body.size_hint().lower() > DRAIN_MAX_BYTES as u64 {
        return Err(too_large());
    }
    // Most bodies are there together with their head: then this future is ready at once and no timer is set.
    match tokio::time::timeout(time, Limited::new(body, DRAIN_MAX_BYTES).collect()).await {
        Ok(Ok(whole)) => within_bounds(whole.to_bytes()),
        Ok(Err(error)) => Err(broken(error.as_ref())),
        Err(_elapsed) => {
            let detail = format!("the body was not whole {} ms after its headers", time.as_millis());
            Err(Problem::new(Code::RequestTimeout, detail))
        }
    }
}

fn within_bounds(body: Bytes) -> Result<Bytes, Problem> {
    if body.len() > BODY_MAX_BYTES { Err(too_large()) } else { Ok(body) }
}

fn too_large() -> Problem {
    Problem::new(Code::BodyTooLarge, format!("the body is larger than {BODY_MAX_BYTES} bytes"))
}

fn broken(error: &(dyn Error + 'static)) -> Problem {
    if error.is::<LengthLimitError>() {
        return too_large();
    }
    Problem::new(Code::BadRequest, "the body ended before its length, or its chunks are malformed")
}

/// Bodies up to this size are read even though they are refused.
const DRAIN_MAX_BYTES: usize = 4 * BODY_MAX_BYTES;
