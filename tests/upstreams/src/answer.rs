//! One scripted answer: what is said, how slowly, and how it goes wrong.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::date::RetryAfter;
use crate::likeness::Like;

/// An answer; by default `200` with an echo of the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// A ready answer of a real service; the other fields change it.
    pub like: Option<Like>,
    /// The status, `200` unless `like` says otherwise.
    pub status: Option<u16>,
    /// Names and values, in order, repeated names too. `{host}` in a value is the request's own authority.
    pub headers: Vec<(String, String)>,
    /// One header each.
    pub retry_after: Vec<RetryAfter>,
    /// The body, an echo unless `like` says otherwise.
    pub body: Option<Body>,
    /// Compresses the body and says so.
    pub gzip: bool,
    /// Sends the body without a `Content-Length`.
    pub chunked: bool,
    /// Trailer fields; HTTP/1.1 callers get them if they send `TE: trailers`.
    pub trailers: Vec<(String, String)>,
    /// Time before the head of the answer.
    pub delay_ms: u64,
    /// Waits before the head until this latch is released, so that a test decides when.
    pub hold: Option<String>,
    /// Sends the body slowly.
    pub pieces: Option<Pieces>,
    /// Goes wrong.
    pub fault: Option<Fault>,
    /// Answers without reading the request's body.
    pub early: bool,
    /// Its concurrency slot ends with its head, as a long poll's does (G3). Streams and sockets always do so.
    pub streams: bool,
}

impl Answer {
    /// An echo with this status.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// A ready answer of a real service.
    #[must_use]
    pub fn like(like: Like) -> Self {
        Self { like: Some(like), ..Self::default() }
    }

    /// A `200` with this body.
    #[must_use]
    pub fn body(body: Body) -> Self {
        Self { body: Some(body), ..Self::default() }
    }

    /// A `200` with a JSON body.
    #[must_use]
    pub fn json(value: Value) -> Self {
        Self::body(Body::Json(value))
    }

    /// With one more header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With one more `Retry-After`.
    #[must_use]
    pub fn with_retry_after(mut self, retry: RetryAfter) -> Self {
        self.retry_after.push(retry);
        self
    }

    /// With time before its head.
    #[must_use]
    pub fn with_delay_ms(self, delay_ms: u64) -> Self {
        Self { delay_ms, ..self }
    }

    /// Held back until [`crate::Upstream::release`] names this latch.
    #[must_use]
    pub fn with_hold(self, latch: &str) -> Self {
        Self { hold: Some(latch.to_owned()), ..self }
    }

    /// Going wrong.
    #[must_use]
    pub fn with_fault(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }

    /// The answer with what `like` stands for filled in.
    pub(crate) fn settled(&self) -> Self {
        let Some(like) = self.like else { return self.clone() };
        let base = like.answer();
        let own = self.clone();
        Self {
            like: None,
            status: own.status.or(base.status),
            headers: [base.headers, own.headers].concat(),
            body: own.body.or(base.body),
            ..own
        }
    }
}

/// What an answer carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// What was received, as JSON: method, path, query, version, headers in order, body, trailers.
    #[default]
    Echo,
    /// The request's body and trailers, frame by frame, as they come.
    Mirror,
    /// Nothing.
    Empty,
    /// `text/plain`
    Text(String),
    /// `text/html`
    Html(String),
    /// `application/json`
    Json(Value),
    /// So many bytes of a pattern that shows a shifted or repeated piece.
    Bytes(usize),
    /// `text/event-stream`
    Sse(Sse),
    /// A WebSocket that sends back what it gets; other requests get 426.
    WebSocket,
}

/// A stream of events: `id: 0`, `data: {"n":0}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sse {
    /// How many; none is without end.
    pub events: Option<u64>,
    /// Time between two of them.
    pub every_ms: u64,
}

/// A body in slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// Bytes of a slice, at least 1.
    pub bytes: usize,
    /// Time between two of them.
    pub every_ms: u64,
}

/// How an answer goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// No answer, ever; the connection stays open.
    Never,
    /// No answer; the connection is closed.
    Close,
    /// The head and so many bytes of the body, then nothing more.
    HangAfter(usize),
    /// The head and so many bytes of the body, then the connection is closed.
    BreakAfter(usize),
}

/// The pattern of [`Body::Bytes`]: its period is a prime, so that no piece looks like its neighbour.
pub(crate) fn pattern(bytes: usize) -> Vec<u8> {
    let period: Vec<u8> = (0..=250).collect();
    let mut pattern = period.repeat(bytes / period.len() + 1);
    pattern.truncate(bytes);
    pattern
}
