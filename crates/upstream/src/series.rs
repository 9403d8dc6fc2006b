//! The metrics of one upstream (O4). Handles are looked up once; counting costs an atomic addition.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use metrics::{
    Counter, Gauge, Histogram, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use tidegate_gate::{Scope, Snapshot};

/// What gave a throttle away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The status alone (G9).
    Status,
    /// A redirect to a captcha page (G11c).
    Redirect,
    /// A header beside a status that is no throttle by itself.
    Header,
    /// The body (G10).
    Body,
    /// The caller's own judgement.
    Caller,
}

impl Signal {
    /// Which part of a head told it.
    pub(crate) fn of_head(status: StatusCode) -> Self {
        match status {
            StatusCode::TOO_MANY_REQUESTS => Self::Status,
            _ if status.is_redirection() => Self::Redirect,
            _ => Self::Header,
        }
    }
}

/// The handles.
pub(crate) struct Series {
    waits: Histogram,
    /// Calls that did not wait, until they are told as such: the way of most, and in one go cheaper.
    at_once: AtomicU64,
    throttles: [Counter; 5],
    starts: Counter,
    shared: Counter,
    synthetic: Counter,
    retries: Counter,
    over_budget: Counter,
    cancelled: Counter,
    stalled: Counter,
    refused_full: Counter,
    refused_wait: Counter,
    refused_limited: Counter,
    observed: [Counter; 4],
    queue: [Gauge; 2],
    in_flight: Gauge,
    cooldown: Gauge,
    cooldowns_of_operations: Gauge,
}

impl Series {
    pub(crate) fn new(upstream: &Arc<str>) -> Self {
        describe();
        let name = || Arc::clone(upstream);
        let throttle =
            |signal: &'static str| counter!("tidegate_gate_throttles_total", "upstream" => name(), "signal" => signal);
        let refusal =
            |code: &'static str| counter!("tidegate_gate_refusals_total", "upstream" => name(), "code" => code);
        let would =
            |what: &'static str| counter!("tidegate_gate_observed_total", "upstream" => name(), "would" => what);
        let queue =
            |priority: &'static str| gauge!("tidegate_gate_queue", "upstream" => name(), "priority" => priority);
        Self {
            waits: histogram!("tidegate_gate_wait_seconds", "upstream" => name()),
            at_once: AtomicU64::new(0),
            throttles: ["status", "redirect", "header", "body", "caller"].map(throttle),
            starts: counter!("tidegate_gate_starts_total", "upstream" => name()),
            shared: counter!("tidegate_gate_shared_total", "upstream" => name()),
            synthetic: counter!("tidegate_gate_synthetic_total", "upstream" => name()),
            retries: counter!("tidegate_gate_retries_total", "upstream" => name()),
            over_budget: counter!("tidegate_gate_retries_over_budget_total", "upstream" => name()),
            cancelled: counter!("tidegate_gate_cancelled_total", "upstream" => name()),
            stalled: counter!("tidegate_gate_stalled_bodies_total", "upstream" => name()),
            refused_full: refusal("gate_queue_full"),
            refused_wait: refusal("gate_wait_exceeded"),
            refused_limited: refusal("rate_limited"),
            observed: ["wait", "refuse", "share", "retry"].map(would),
            queue: ["interactive", "background"].map(queue),
            in_flight: gauge!("tidegate_gate_in_flight", "upstream" => name()),
            cooldown: gauge!("tidegate_gate_cooldown_seconds", "upstream" => name()),
            cooldowns_of_operations: gauge!("tidegate_gate_operations_held", "upstream" => name()),
        }
    }

    /// A call started after this wait.
    pub(crate) fn waited(&self, time: Duration) {
        if time.is_zero() {
            self.at_once.fetch_add(1, Ordering::Relaxed);
        } else {
            self.waits.record(time);
        }
    }

    pub(crate) fn throttled(&self, by: Signal) {
        self.throttles[by as usize].increment(1);
    }

    /// A body that did not move was ended.
    pub(crate) fn stalled(&self) {
        self.stalled.increment(1);
    }

    /// Brings what the engine counts itself up to date.
    pub(crate) fn publish(&self, snapshot: &Snapshot, now: Instant) {
        let at_once = self.at_once.swap(0, Ordering::Relaxed);
        self.waits.record_many(0.0, usize::try_from(at_once).unwrap_or(usize::MAX));
        let counters = &snapshot.counters;
        self.starts.absolute(counters.started);
        self.shared.absolute(counters.shared);
        self.synthetic.absolute(counters.synthetic);
        self.retries.absolute(counters.retried);
        self.over_budget.absolute(counters.over_retry_budget);
        self.cancelled.absolute(counters.cancelled);
        self.refused_full.absolute(counters.queue_full);
        self.refused_wait.absolute(counters.wait_exceeded);
        self.refused_limited.absolute(counters.synthetic);
        let would = [counters.would_wait, counters.would_refuse, counters.would_share, counters.would_retry];
        self.observed.iter().zip(would).for_each(|(counter, count)| counter.absolute(count));
        self.queue[0].set(snapshot.interactive as f64);
        self.queue[1].set(snapshot.background as f64);
        self.in_flight.set(f64::from(snapshot.running));
        let whole = |scope: &Scope| matches!(scope, Scope::Upstream | Scope::App);
        let held = snapshot.holds.iter().filter(|hold| whole(&hold.scope)).map(|hold| hold.until).max();
        self.cooldown.set(held.map_or(0.0, |until| until.saturating_duration_since(now).as_secs_f64()));
        self.cooldowns_of_operations.set(snapshot.holds.iter().filter(|hold| !whole(&hold.scope)).count() as f64);
    }
}

fn describe() {
    for (name, help) in COUNTERS {
        describe_counter!(name, help);
    }
    for (name, help) in GAUGES {
        describe_gauge!(name, help);
    }
    describe_histogram!("tidegate_gate_wait_seconds", "Time that started calls had waited.");
}

const COUNTERS: [(&str, &str); 10] = [
    ("tidegate_gate_starts_total", "Calls that were sent to the upstream."),
    ("tidegate_gate_throttles_total", "Answers of the upstream that were throttles, by what told it (G9-G11c)."),
    ("tidegate_gate_shared_total", "Calls that shared another one's answer (G5)."),
    ("tidegate_gate_synthetic_total", "429s that the gate made itself (G18)."),
    ("tidegate_gate_refusals_total", "Calls that the gate refused, by code."),
    ("tidegate_gate_retries_total", "Calls that were made again (G20)."),
    ("tidegate_gate_retries_over_budget_total", "Retries that the budget forbade (G23)."),
    ("tidegate_gate_cancelled_total", "Callers that went away while they waited (G3)."),
    ("tidegate_gate_stalled_bodies_total", "Bodies that were ended because they did not move (G3)."),
    ("tidegate_gate_observed_total", "What observe mode would have done (G29)."),
];

const GAUGES: [(&str, &str); 4] = [
    ("tidegate_gate_queue", "Calls that wait, by priority (G2)."),
    ("tidegate_gate_in_flight", "Slots held (G1)."),
    ("tidegate_gate_cooldown_seconds", "Time left of the cooldown that holds the whole upstream; 0 without one."),
    ("tidegate_gate_operations_held", "Operations that a cooldown of their own holds (G12)."),
];
