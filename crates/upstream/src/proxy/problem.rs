//! What the proxy answers itself: RFC 9457 `application/problem+json`, one table of codes.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{HeaderName, Response, StatusCode};
use serde::Serialize;
use tidegate_gate::{RateLimited, Refusal, Scope};

use super::headers;

/// Why the proxy answered itself, as programs read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    BadHeader,
    BadRequest,
    UnknownUpstream,
    RequestTimeout,
    BodyTooLarge,
    RateLimited,
    UpstreamUnreachable,
    GateQueueFull,
    GateWaitExceeded,
    UpstreamTimeout,
}

impl Code {
    pub(crate) const ALL: [Self; 10] = [
        Self::BadHeader,
        Self::BadRequest,
        Self::UnknownUpstream,
        Self::RequestTimeout,
        Self::BodyTooLarge,
        Self::RateLimited,
        Self::UpstreamUnreachable,
        Self::GateQueueFull,
        Self::GateWaitExceeded,
        Self::UpstreamTimeout,
    ];

    /// The table: code, status, sentence.
    const fn row(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Self::BadHeader => ("bad_header", StatusCode::BAD_REQUEST, "A Tidegate header is wrong."),
            Self::BadRequest => ("bad_request", StatusCode::BAD_REQUEST, "The request cannot be passed on."),
            Self::UnknownUpstream => ("unknown_upstream", StatusCode::NOT_FOUND, "No such upstream is configured."),
            Self::RequestTimeout => ("request_timeout", StatusCode::REQUEST_TIMEOUT, "The body did not come in time."),
            Self::BodyTooLarge => ("body_too_large", StatusCode::PAYLOAD_TOO_LARGE, "The body is too large."),
            Self::RateLimited => ("rate_limited", StatusCode::TOO_MANY_REQUESTS, "The upstream asked for fewer calls."),
            Self::UpstreamUnreachable => {
                ("upstream_unreachable", StatusCode::BAD_GATEWAY, "The upstream cannot be reached.")
            }
            Self::GateQueueFull => ("gate_queue_full", StatusCode::SERVICE_UNAVAILABLE, "The gate's queue is full."),
            Self::GateWaitExceeded => {
                ("gate_wait_exceeded", StatusCode::SERVICE_UNAVAILABLE, "The wait in the gate was too long.")
            }
            Self::UpstreamTimeout => {
                ("upstream_timeout", StatusCode::GATEWAY_TIMEOUT, "The upstream did not answer in time.")
            }
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        self.row().0
    }
}

/// A refusal or a failure, as it is told.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    title: &'static str,
    status: u16,
    #[serde(rename = "code", serialize_with = "as_str")]
    pub(crate) code: Code,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstreams: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    limit: Option<Limit>,
    #[serde(skip)]
    waited: Duration,
}

/// Everything known about a rate limit (G20).
#[derive(Debug, Serialize)]
struct Limit {
    operation: String,
    scope: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reset_ms: Option<u64>,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Box<Self> {
        let (_, status, title) = code.row();
        Box::new(Self {
            title,
            status: status.as_u16(),
            code,
            detail: detail.into(),
            header: None,
            upstreams: None,
            retry_after_ms: None,
            limit: None,
            waited: Duration::ZERO,
        })
    }

    /// A `Tidegate-*` header that is not what it should be.
    pub(crate) fn bad_header(name: &HeaderName, what: impl std::fmt::Display) -> Box<Self> {
        let header = Some(name.as_str().to_owned());
        Box::new(Self { header, ..*Self::new(Code::BadHeader, format!("{name}: {what}")) })
    }

    /// No upstream of this name; says which there are.
    pub(crate) fn unknown_upstream(detail: String, upstreams: Vec<String>) -> Box<Self> {
        Box::new(Self { upstreams: Some(upstreams), ..*Self::new(Code::UnknownUpstream, detail) })
    }

    /// The gate did not make the call.
    pub(crate) fn refused(refusal: &Refusal) -> Box<Self> {
        let detail = refusal.to_string();
        match refusal {
            Refusal::QueueFull { retry_after, .. } => {
                Self::again(Self::new(Code::GateQueueFull, detail), Some(*retry_after))
            }
            Refusal::WaitExceeded { waited, needed } => {
                let problem = Self::again(Self::new(Code::GateWaitExceeded, detail), *needed);
                Box::new(Self { waited: *waited, ..*problem })
            }
            Refusal::RateLimited(limited) => {
                let problem = Self::again(Self::new(Code::RateLimited, detail), Some(limited.retry_after));
                Box::new(Self { limit: Some(Limit::of(limited)), ..*problem })
            }
        }
    }

    fn again(problem: Box<Self>, after: Option<Duration>) -> Box<Self> {
        Box::new(Self { retry_after_ms: after.map(whole_ms), ..*problem })
    }

    /// The answer. `now_s` is the wall clock in seconds since 1970, for a reset that is told as an SDK expects it.
    pub(crate) fn respond(&self, now_s: u64) -> Response<Bytes> {
        let body = serde_json::to_vec(self).expect("text and numbers always serialise");
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = self.code.row().1;
        let into = response.headers_mut();
        into.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        into.insert(headers::SYNTHETIC, HeaderValue::from_static("1"));
        into.insert(headers::WAIT_MS, whole_ms(self.waited).into());
        if let Some(ms) = self.retry_after_ms {
            // Whole seconds, never less than the time that is left and never none.
            into.insert(RETRY_AFTER, ms.div_ceil(1000).max(1).into());
        }
        if let Some(limit) = &self.limit {
            let known = [
                (LIMIT, limit.limit),
                (REMAINING, limit.remaining),
                (RESET, limit.reset_ms.map(|ms| now_s + ms.div_ceil(1000))),
            ];
            for (name, value) in known {
                if let Some(value) = value {
                    into.insert(name, value.into());
                }
            }
        }
        response
    }
}

impl Limit {
    fn of(limited: &RateLimited) -> Self {
        Self {
            operation: limited.operation.as_str().to_owned(),
            scope: match &limited.scope {
                Scope::Upstream => "upstream",
                Scope::App => "app",
                Scope::Operation(_) => "operation",
            },
            limit: limited.rate.limit,
            remaining: limited.rate.remaining,
            reset_ms: limited.rate.reset.map(whole_ms),
        }
    }
}

fn as_str<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}

/// Milliseconds, rounded up.
pub(crate) fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The last real limits, as their own SDKs read them (G12): the reset in seconds since 1970.
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
