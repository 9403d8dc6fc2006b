//! What the machine answers. A refusal is an answer, not an error of the gate.

use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::cooldown::{Change, Reach};
use crate::signal::rate_headers::Rate;
use crate::signal::retry_after::RetryAfter;
use crate::{Operation, Scope, Slot, Ticket};

/// The answer to a call that asks to go out.
#[derive(Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// Go now.
    Started(Slot),
    /// Wait for this ticket's turn.
    Queued(Ticket),
}

/// The answer to a call that may share another one (G5).
#[derive(Debug, PartialEq, Eq)]
pub enum Joined {
    /// It is the first of its kind: the upstream call is to be made, on behalf of this and all later callers.
    Opened {
        /// This caller's own ticket: it leaves with it.
        caller: Ticket,
        /// The shared call's ticket, the same for all its callers.
        flight: Ticket,
        /// Where the shared call stands; it waits under the flight's ticket.
        enqueued: Enqueued,
    },
    /// The same call is under way: its outcome is this one's too.
    Following {
        /// This caller's own ticket.
        caller: Ticket,
        /// The shared call's ticket.
        flight: Ticket,
    },
    /// Observe mode: it would have shared a call, and is made all the same (G29).
    Alone(Enqueued),
}

/// What to do next about those who wait.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Wake this ticket: it is to claim its slot now.
    Start(Ticket),
    /// Tell this ticket that it will not start; if it is a flight's, tell all its callers.
    Refuse(Ticket, Refusal),
    /// Nobody waits for this flight any more: drop its call (G7).
    Abandon(Ticket),
    /// Nothing before this time; `None`: nothing until something else happens.
    Wait(Option<Instant>),
}

/// The answer to a ticket that was woken.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    /// Go now.
    Started(Slot),
    /// Not after all (a cooldown began, or the call came late): it keeps its place and will be woken again.
    Waits,
    /// It will not start.
    Refused(Refusal),
    /// No such ticket waits: it was refused or cancelled before.
    Gone,
}

/// Why a call was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// G3: `503 gate_queue_full`.
    #[error("the gate's queue is full with {waiting} calls waiting; try again in {} s", .retry_after.as_secs())]
    QueueFull {
        /// Calls that wait.
        waiting: usize,
        /// When the first of them may have gone.
        retry_after: Duration,
    },
    /// G3: `503 gate_wait_exceeded`.
    #[error("the call would have waited in the gate for longer than it allows; allow more, or call less often")]
    WaitExceeded {
        /// How long it has waited.
        waited: Duration,
        /// How long it would have had to wait at least, where that was known.
        needed: Option<Duration>,
    },
    /// G12, G18: 429.
    #[error(transparent)]
    RateLimited(RateLimited),
}

/// A rate limit with everything known about it (G20).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RateLimited {
    /// What was called.
    pub operation: Operation,
    /// What is held.
    pub scope: Scope,
    /// The time that is left.
    pub retry_after: Duration,
    /// The last real limits.
    pub rate: Rate,
    /// Made here, without touching the upstream (`Tidegate-Synthetic`).
    pub synthetic: bool,
}

impl RateLimited {
    /// `Retry-After` in whole seconds, never less than the time that is left and never 0.
    #[must_use]
    pub fn retry_after_s(&self) -> u64 {
        (self.retry_after.as_secs() + u64::from(self.retry_after.subsec_nanos() > 0)).max(1)
    }
}

impl fmt::Display for RateLimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = match &self.scope {
            Scope::Upstream => "the upstream asked for fewer calls".to_owned(),
            Scope::App => "the app's budget at the upstream is nearly used up".to_owned(),
            Scope::Operation(operation) => format!("the upstream asked for fewer calls of {operation}"),
        };
        write!(f, "{scope}; try again in {} s", self.retry_after_s())
    }
}

/// What a response means for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An answer.
    Fine,
    /// A rate limit (G9, G10, G11c, G12).
    Throttled,
    /// The token has expired: bootstrap again (G11).
    ExpiredToken,
    /// This resource is gone or closed, and only this one (G11b).
    Gone,
    /// Another failure; it says nothing about rates.
    Failed,
}

/// What was heard in a response. Its cooldowns are in force already.
#[derive(Debug)]
pub struct Heard {
    /// What it means; provisional while `wants_body`.
    pub outcome: Outcome,
    /// The first 64 KiB of the decoded body are needed for the judgement: hand them (or what there is of them
    /// when the body ends or breaks) to `handle_body`.
    pub wants_body: bool,
    /// The limits that it told.
    pub rate: Rate,
    /// What changed, for the other processes of a fleet.
    pub changes: Vec<Change>,
    pub(crate) status: u16,
    pub(crate) global: bool,
    pub(crate) server_delay: Option<RetryAfter>,
    pub(crate) throttle: Option<Throttle>,
    /// One upstream answer costs the retry budget once, however many callers try again after it.
    pub(crate) retry_granted: OnceLock<bool>,
}

/// A throttle that a response set off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Throttle {
    pub(crate) reach: Reach,
    pub(crate) until: Instant,
}

/// What to do with a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Hand it to the caller.
    Pass,
    /// Give the slot back, wait, and enqueue the call anew with one retry more.
    RetryIn(Duration),
    /// Give up: the caller gets this error, or the upstream's own 429 as it came.
    RateLimited(RateLimited),
}
