//! Calls to YouTube: each through the gate, which is told what the reader makes of the answer.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, LOCATION};
use http::{Request, Response};
use tidegate_upstream::{
    CallError, CallOptions, Gate, Hold, Key, Outcome, Priority, Refusal, Reveal, Scope, Seen, UnknownUpstream,
};
use tokio::time::{Instant, timeout};

use crate::youtube::{
    Fetched, MAX_BODY_BYTES, PageAnswer, PageRequest, PollAnswer, PollRequest, Trouble, read_page, read_poll,
};

/// The way to YouTube.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    gate: GateHandle,
    upstream: Arc<str>,
}

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Asked<T> {
    /// The upstream's answer, read.
    Answer(T),
    /// A rate limit: told in the answer to this call, or known to the gate before.
    Throttled { retry_after: Duration, told: bool },
    /// The gate has no room for it.
    Busy(Duration),
    /// No answer, and why.
    Failed(String),
}

/// An answer with what its reader made of it.
struct Reading<T> {
    response: Response<Vec<u8>>,
    answer: T,
    /// It is a rate limit, and what its body says of waiting.
    throttle: Option<Option<Duration>>,
}

/// Who asks, and how much of a hurry it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub(crate) key: Key,
    pub(crate) priority: Priority,
}

#[derive(Clone)]
struct GateHandle(Gate);

impl std::fmt::Debug for GateHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

impl Web {
    pub(crate) fn new(gate: Gate, upstream: &str) -> Result<Self, UnknownUpstream> {
        gate.snapshot(upstream)?;
        Ok(Self { gate: GateHandle(gate), upstream: upstream.into() })
    }

    /// How long a rate limit still holds every call.
    pub(crate) fn cooldown(&self) -> Option<Duration> {
        let snapshot = self.gate.0.snapshot(&self.upstream).ok()?;
        let now = Instant::now().into_std();
        let left = |hold: &Hold| hold.until.saturating_duration_since(now);
        let holds = snapshot.holds.iter().filter(|hold| hold.firm && hold.scope == Scope::Upstream);
        holds.map(left).max().filter(|left| !left.is_zero())
    }

    /// Asks for a page. A page that has moved on the same host is followed a few steps: handles are renamed.
    pub(crate) async fn page(&self, request: PageRequest, asker: Asker) -> Asked<PageAnswer> {
        let mut request = request;
        for _ in 0..MAX_MOVES {
            let asked = self.call("page", asker, &request.path, &request.headers, None, read_page, page_trouble).await;
            match asked {
                Asked::Answer(PageAnswer::Trouble(Trouble::Moved { path })) => request.path = path,
                other @ (Asked::Answer(_) | Asked::Throttled { .. } | Asked::Busy(_) | Asked::Failed(_)) => {
                    return other;
                }
            }
        }
        Asked::Answer(PageAnswer::Trouble(Trouble::Changed { what: "a page that moves again and again" }))
    }

    pub(crate) async fn poll(&self, request: PollRequest, asker: Asker) -> Asked<PollAnswer> {
        let body = Some(Bytes::from(request.body));
        self.call("get_live_chat", asker, &request.path, &request.headers, body, read_poll, poll_trouble).await
    }

    #[expect(clippy::too_many_arguments, reason = "one private function for pages and polls")]
    async fn call<T>(
        &self,
        what: &str,
        asker: Asker,
        path: &str,
        headers: &[(&'static str, String)],
        body: Option<Bytes>,
        read: fn(&Fetched<'_>) -> T,
        trouble: fn(&T) -> Option<&Trouble>,
    ) -> Asked<T> {
        let options = CallOptions {
            operation: Some(tidegate_upstream::Operation::new(what)),
            key: Some(asker.key),
            priority: Some(asker.priority),
            max_wait: Some(match asker.priority {
                Priority::Interactive => MAX_WAIT_TO_OPEN,
                Priority::Background => MAX_WAIT,
            }),
            // The room tries again by its own budgets (G25).
            max_attempts: Some(1),
            ..CallOptions::default()
        };
        let attempt = || async {
            let response = timeout(PATIENCE, self.send(path, headers, body.clone()));
            let response = response.await.map_err(|_| "no answer in time".to_owned())??;
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let answer = read(&Fetched { status: response.status().as_u16(), location, body: response.body() });
            let throttle = match trouble(&answer) {
                Some(Trouble::Throttled { retry_after, .. }) => Some(*retry_after),
                Some(_) | None => None,
            };
            Ok::<_, String>(Reading { response, answer, throttle })
        };
        match self.gate.0.call(&self.upstream, options, attempt).await {
            Ok(done) => match done.answer {
                Ok(reading) => Asked::Answer(reading.answer),
                Err(why) => Asked::Failed(why),
            },
            Err(CallError::RateLimited { limited, .. }) => {
                Asked::Throttled { retry_after: limited.retry_after, told: true }
            }
            Err(CallError::Refused(Refusal::RateLimited(limited))) => {
                Asked::Throttled { retry_after: limited.retry_after, told: false }
            }
            Err(CallError::Refused(Refusal::QueueFull { retry_after, .. })) => Asked::Busy(retry_after),
            Err(CallError::Refused(Refusal::WaitExceeded { needed, .. })) => Asked::Busy(needed.unwrap_or(BUSY_RETRY)),
            Err(CallError::UnknownUpstream(error)) => Asked::Failed(error.to_string()),
        }
    }

    async fn send(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        body: Option<Bytes>,
    ) -> Result<Response<Vec<u8>>, String> {
        let method = if body.is_some() { http::Method::POST } else { http::Method::GET };
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.header(ACCEPT_ENCODING, "gzip").body(body.unwrap_or_default());
        let request = request.map_err(|error| error.to_string())?;
        let response = self.gate.0.send(&self.upstream, request, MAX_BODY_BYTES + 1).await;
        let (parts, body) = response.map_err(|error| error.to_string())?.into_parts();
        let is_gzip = parts.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding.as_bytes() == b"gzip");
        let body = if is_gzip { gunzipped(&body) } else { body.to_vec() };
        Ok(Response::from_parts(parts, body))
    }
}

impl<T> Reveal for Reading<T> {
    /// The response, which the gate reads itself, or what only the reader of a whole page finds, such as a bot check
    /// behind the first 64 KiB of a 200 (G11c).
    fn reveal(&self) -> Seen<'_> {
        match self.throttle {
            Some(retry_after) if self.response.status() == http::StatusCode::OK => {
                Seen::Finding { outcome: Outcome::Throttled, retry_after }
            }
            Some(_) | None => self.response.reveal(),
        }
    }
}

fn page_trouble(answer: &PageAnswer) -> Option<&Trouble> {
    match answer {
        PageAnswer::Trouble(trouble) => Some(trouble),
        PageAnswer::Watch(_) | PageAnswer::Channel(_) | PageAnswer::Chat(_) | PageAnswer::ChatOver(_) => None,
    }
}

fn poll_trouble(answer: &PollAnswer) -> Option<&Trouble> {
    match answer {
        PollAnswer::Trouble(trouble) => Some(trouble),
        PollAnswer::Batch(_) | PollAnswer::Over(_) => None,
    }
}

/// What there is of a compressed body, up to a little more than is read: a few bytes may stand for gigabytes.
fn gunzipped(body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    let decoder = flate2::read::MultiGzDecoder::new(body);
    // A body that is cut off is judged by its reader, which finds it garbled.
    let _cut = decoder.take(MAX_BODY_BYTES as u64 + 1).read_to_end(&mut whole);
    whole
}

/// Steps to a page that has moved.
const MAX_MOVES: u32 = 4;
/// The longest wait in the gate. A cooldown that outlasts it is told at once, so that viewers learn of it (C5).
const MAX_WAIT: Duration = Duration::from_secs(15);
/// The longest wait of somebody who wants a room to open: as long as browsers' and proxies' patience surely lasts. More
/// rooms at once than the gate can start in it are told at once when to come back. Rule G3, the proxy's default.
const MAX_WAIT_TO_OPEN: Duration = Duration::from_secs(30);
/// When to come back after a wait that was in vain, whose end nobody knew.
const BUSY_RETRY: Duration = Duration::from_secs(10);
/// Time for a whole answer.
const PATIENCE: Duration = Duration::from_secs(30);
