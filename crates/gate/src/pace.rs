//! Spacing and slots (G1): when the next call may start, and how many may run.
//!
//! Small enough to live behind a store: a few numbers, and every step a function of them and `now`.

use std::time::{Duration, Instant};

/// The pace of one upstream.
#[derive(Debug)]
pub(crate) struct Pace {
    min_interval: Duration,
    slots: u32,
    /// Off in observe mode: then everything may start, and is only counted (G29).
    enforced: bool,
    running: u32,
    /// Calls that were told to start and have not yet; they hold their slots already.
    granted: u32,
    /// Calls that have started and are still on their way to a connection.
    leaving: u32,
    last_start: Option<Instant>,
    /// Observe mode: when the next call would have started if they had been held (G29).
    would_start: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(min_interval: Duration, slots: u32, enforced: bool) -> Self {
        Self { min_interval, slots, enforced, running: 0, granted: 0, leaving: 0, last_start: None, would_start: None }
    }

    /// Takes another pace; what runs goes on.
    pub(crate) fn set(&mut self, min_interval: Duration, slots: u32, enforced: bool) {
        (self.min_interval, self.slots, self.enforced) = (min_interval, slots, enforced);
    }

    pub(crate) fn min_interval(&self) -> Duration {
        self.min_interval
    }

    /// Slots held, by calls under way or about to start.
    pub(crate) fn running(&self) -> u32 {
        self.running
    }

    pub(crate) fn slot_free(&self) -> bool {
        !self.enforced || self.running < self.slots
    }

    /// When the spacing allows the next start: at once, at a time, or (`None`) only after the call that was
    /// told to start has done so and has left, because the distance counts from there.
    pub(crate) fn spaced(&self, now: Instant) -> Option<Instant> {
        if self.min_interval.is_zero() || !self.enforced {
            return Some(now);
        }
        (self.granted == 0 && self.leaving == 0).then(|| self.spaced_at_least(now))
    }

    /// The earliest time that the spacing can allow.
    pub(crate) fn spaced_at_least(&self, now: Instant) -> Instant {
        self.last_start.map_or(now, |last| now.max(last + self.min_interval))
    }

    /// Keeps a slot for a call that is told to start.
    pub(crate) fn grant(&mut self, counted: bool) {
        self.granted += 1;
        self.running += u32::from(counted);
    }

    /// The call that was told to start went away, or must wait after all.
    pub(crate) fn revoke(&mut self, counted: bool) {
        self.granted -= 1;
        self.running -= u32::from(counted);
    }

    /// The call that was told to start does so now.
    pub(crate) fn redeem(&mut self, leaves_later: bool, now: Instant) {
        self.granted -= 1;
        self.leaving += u32::from(leaves_later);
        self.last_start = Some(now);
    }

    /// A call that has started is only now on its way: the next one keeps its distance from here.
    pub(crate) fn sent(&mut self, now: Instant) {
        self.leaving = self.leaving.saturating_sub(1);
        self.last_start = self.last_start.max(Some(now));
    }

    /// A call that has started ends without having left.
    pub(crate) fn stayed(&mut self) {
        self.leaving = self.leaving.saturating_sub(1);
    }

    /// A call starts without having waited.
    pub(crate) fn start(&mut self, counted: bool, leaves_later: bool, now: Instant) {
        self.running += u32::from(counted);
        self.leaving += u32::from(leaves_later);
        self.last_start = Some(now);
    }

    pub(crate) fn give_back(&mut self, counted: bool) {
        // A slot of another upstream can only be a shell's mistake; counting below zero would stop this one.
        self.running = self.running.saturating_sub(u32::from(counted));
    }

    /// Observe mode: how long the spacing would have held a call that starts now, and whether it would have had
    /// to wait for a slot (G29).
    pub(crate) fn observe(&mut self, now: Instant) -> (Duration, bool) {
        let start = self.would_start.map_or(now, |next| next.max(now));
        self.would_start = Some(start + self.min_interval);
        (start - now, self.running >= self.slots)
    }
}
