//! A stream of events past the HTTP library.
//!
//! Once its head is decided, a stream needs none of what HTTP keeps for a connection: buffers of 8 KiB and more, which
//! thousands of viewers multiply. The route lets the viewer in and makes an ordinary response; what stands before every
//! route completes its head; then the connection hands its socket over, and frames that are encoded once for all go
//! to it as they are.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, VARY};
use tidegate_chat::{Coding, Viewer, send};
use tokio::net::TcpStream;
use tracing::debug;

use crate::reply;

/// A response's head, and whom the events behind it are for.
pub(crate) struct Takeover {
    head: Vec<u8>,
    viewer: Viewer,
    coding: Coding,
}

/// A viewer on its way from the route to the connection. Extensions must be cloneable; it is taken once.
#[derive(Clone)]
struct Admitted(Arc<Mutex<Option<Viewer>>>, Coding);

/// The response that lets a viewer in. Only the server sends what follows its head.
pub(crate) fn response(viewer: Viewer, coding: Coding) -> Response {
    let mut response = head(coding);
    response.extensions_mut().insert(Admitted(Arc::new(Mutex::new(Some(viewer))), coding));
    response
}

/// The same without a viewer, for who asks for the head alone.
pub(crate) fn head(coding: Coding) -> Response {
    // Not the empty body, whose length would be told.
    let nothing = stream::empty::<Result<Bytes, Infallible>>();
    let mut response = reply::text("text/event-stream", Body::from_stream(nothing));
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if coding == Coding::Gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    // The end of the stream is that of the connection.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    // nginx would collect events before it hands them on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

impl Takeover {
    /// What a response leads to, if it lets a viewer in.
    pub(crate) fn of(response: &mut Response) -> Option<Self> {
        let Admitted(admitted, coding) = response.extensions_mut().remove()?;
        let viewer = admitted.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Self { head: written(response), viewer, coding })
    }

    /// Sends everything, until the room is over or the viewer has gone.
    pub(crate) async fn run(self, socket: TcpStream) {
        let left = send(self.viewer, self.head, self.coding, socket).await;
        debug!(?left, "a stream of events ended");
    }
}

fn written(response: &Response) -> Vec<u8> {
    let mut line = String::with_capacity(64);
    let (status, date) = (response.status(), httpdate::fmt_http_date(SystemTime::now()));
    let reason = status.canonical_reason().unwrap_or_default();
    write!(line, "HTTP/1.1 {} {reason}\r\ndate: {date}\r\n", status.as_u16()).expect("a string takes every write");
    let mut head = line.into_bytes();
    for (name, value) in response.headers() {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}
