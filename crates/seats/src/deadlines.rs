//! Who is due next.
//!
//! An entry's deadline moves with every word its viewer says, so moving it must cost nothing: an alarm stays where
//! it was set, and when it goes off the entry is asked for its real deadline. Each entry has one live alarm, never
//! later than its deadline; an alarm of an entry that is gone, or was set anew, is dropped when it goes off.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::entries::Slot;

/// Milliseconds of monotonic time since the house began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(pub(crate) u64);

impl Tick {
    pub(crate) const NEVER: Self = Self(u64::MAX);

    pub(crate) fn since(origin: Instant, at: Instant) -> Self {
        Self(millis(at.saturating_duration_since(origin)))
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(millis(time)))
    }

    pub(crate) fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The alarms of a house, earliest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    alarms: BinaryHeap<Reverse<(Tick, Slot)>>,
}

impl Deadlines {
    pub(crate) fn set(&mut self, at: Tick, slot: Slot) {
        self.alarms.push(Reverse((at, slot)));
    }

    /// Takes the next alarm that has gone off by now.
    pub(crate) fn pop_due(&mut self, now: Tick) -> Option<(Tick, Slot)> {
        if self.next()? > now {
            return None;
        }
        self.alarms.pop().map(|Reverse(alarm)| alarm)
    }

    pub(crate) fn next(&self) -> Option<Tick> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }
}
