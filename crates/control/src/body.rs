//! Reading a request's body within its bounds of size and time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tidegate_wire::{Code, Problem};

/// Reads a body of at most `at_most` bytes.
///
/// A body that is a little too large is read to its end and dropped: a client that is still sending when the
/// connection closes may never see why.
pub(crate) async fn read(body: impl Body<Data = Bytes>, at_most: usize, time: Duration) -> Result<Bytes, Problem> {
    if body.size_hint().lower() > (DRAINED * at_most) as u64 {
        return Err(too_large(at_most));
    }
    let mut whole = pin!(collect(body, at_most));
    // Most bodies are there together with their head, and need no timer.
    if let Poll::Ready(whole) = poll_fn(|cx| Poll::Ready(whole.as_mut().poll(cx))).await {
        return whole;
    }
    match tokio::time::timeout(time, whole).await {
        Ok(whole) => whole,
        Err(_elapsed) => {
            let detail = format!("the body was not whole {} ms after its headers", time.as_millis());
            Err(Problem::new(Code::RequestTimeout, detail))
        }
    }
}

async fn collect(body: impl Body<Data = Bytes>, at_most: usize) -> Result<Bytes, Problem> {
    let mut body = pin!(body);
    let mut whole = Bytes::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_broken| broken())?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > DRAINED * at_most {
            return Err(too_large(at_most));
        }
        // Nearly always the only piece, which is then taken as it is.
        whole = if whole.is_empty() { data } else { Bytes::from([whole, data].concat()) };
    }
    if whole.len() > at_most { Err(too_large(at_most)) } else { Ok(whole) }
}

fn too_large(at_most: usize) -> Problem {
    Problem::new(Code::BodyTooLarge, format!("the body is larger than {at_most} bytes"))
}

fn broken() -> Problem {
    Problem::new(Code::BadRequest, "the body ended before its length, or its chunks are malformed")
}

/// Bodies up to so many times what is taken are read even though they are refused.
const DRAINED: usize = 4;
