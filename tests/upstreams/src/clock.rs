//! The stand-in's two clocks: a monotonic one for the log and the windows, and a wall clock for its dates.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Both clocks run on tokio's time, so that a paused test pauses them too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
    wall: SystemTime,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), wall: SystemTime::now() }
    }

    /// Time since the stand-in started.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// What its `Date` header says, with a scripted error.
    pub(crate) fn wall(&self, skew_s: i64) -> SystemTime {
        shifted(self.wall + self.now(), skew_s)
    }
}

/// A time moved by so many seconds, either way.
pub(crate) fn shifted(time: SystemTime, by_s: i64) -> SystemTime {
    let by = Duration::from_secs(by_s.unsigned_abs());
    let moved = if by_s < 0 { time.checked_sub(by) } else { time.checked_add(by) };
    moved.unwrap_or(time)
}
