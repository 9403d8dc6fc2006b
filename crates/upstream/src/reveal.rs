//! What the result of any call shows the gate.

use std::time::Duration;

use http::{HeaderMap, Response, StatusCode};
use tidegate_gate::Outcome;

/// What the gate gets to see of a result.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// An HTTP response: its status and headers, and its body (the first 64 KiB are enough, decoded), which is looked
    /// at only where the upstream's settings say so.
    Response {
        /// The status.
        status: StatusCode,
        /// The headers.
        headers: &'a HeaderMap,
        /// The body, as far as it was read.
        body: &'a [u8],
    },
    /// A result that is no HTTP response, or one that its caller knows better.
    Finding {
        /// What it means.
        outcome: Outcome,
        /// The delay that the upstream asked for.
        retry_after: Option<Duration>,
    },
}

impl Seen<'_> {
    /// A result that says nothing about rates.
    pub const FINE: Self = Seen::Finding { outcome: Outcome::Fine, retry_after: None };
    /// A failure that says nothing about rates.
    pub const FAILED: Self = Seen::Finding { outcome: Outcome::Failed, retry_after: None };
}

/// A result that can show itself. For types of other crates use [`crate::Gate::call_judged`], which takes a closure.
pub trait Reveal {
    /// What the gate is to see.
    fn reveal(&self) -> Seen<'_>;
}

impl<B: AsRef<[u8]>> Reveal for Response<B> {
    fn reveal(&self) -> Seen<'_> {
        Seen::Response { status: self.status(), headers: self.headers(), body: self.body().as_ref() }
    }
}

impl Reveal for http::response::Parts {
    fn reveal(&self) -> Seen<'_> {
        Seen::Response { status: self.status, headers: &self.headers, body: &[] }
    }
}

/// An error is a failure that says nothing about rates.
impl<T: Reveal, E> Reveal for Result<T, E> {
    fn reveal(&self) -> Seen<'_> {
        self.as_ref().map_or(Seen::FAILED, Reveal::reveal)
    }
}
