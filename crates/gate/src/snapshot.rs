//! What the metrics and the dashboard see of an upstream (O4, O5).

use std::time::Duration;

use crate::Hold;

/// An upstream at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Slots held.
    pub running: u32,
    /// Interactive calls in line.
    pub interactive: usize,
    /// Background calls in line.
    pub background: usize,
    /// All calls that wait, also those that only an operation's cooldown holds.
    pub waiting: usize,
    /// Keys in line, once for each priority.
    pub keys: usize,
    /// Shared calls under way.
    pub flights: usize,
    /// Callers of shared calls.
    pub callers: usize,
    /// Operations that something is kept for.
    pub operations: usize,
    /// Cooldowns in force: the upstream's longest first, then operations', the longest first.
    pub holds: Vec<Hold>,
    /// What happened so far.
    pub counters: Counters,
}

/// What happened since the start; every answer of the machine is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls that started.
    pub started: u64,
    /// Calls that had to wait first.
    pub queued: u64,
    /// The time that started calls have waited, in all.
    pub waited: Duration,
    /// Refused with a full queue.
    pub queue_full: u64,
    /// Refused after, or for, too long a wait.
    pub wait_exceeded: u64,
    /// Refused with a 429 that was made here.
    pub synthetic: u64,
    /// Went away while they waited.
    pub cancelled: u64,
    /// Were woken and did not come in time.
    pub late: u64,
    /// Shared somebody else's call.
    pub shared: u64,
    /// Responses that were throttles.
    pub throttled: u64,
    /// Responses that were expired tokens.
    pub expired_token: u64,
    /// Responses about one resource that is gone.
    pub gone: u64,
    /// Other failures.
    pub failed: u64,
    /// Calls that may try again.
    pub retried: u64,
    /// Retries that the retry budget refused.
    pub over_retry_budget: u64,
    /// Observe mode: calls that would have waited.
    pub would_wait: u64,
    /// Observe mode: calls that would have been refused.
    pub would_refuse: u64,
    /// Observe mode: calls that would have shared another.
    pub would_share: u64,
    /// Observe mode: throttled calls that would have been tried again or answered with an error.
    pub would_retry: u64,
}
