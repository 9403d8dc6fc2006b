//! Open or saturated (E6).
//!
//! ```text
//!          busy ≥ level or lag ≥ 50 ms, for 2 s
//!   Open ──────────────────────────────────────▶ Saturated
//!        ◀──────────────────────────────────────
//!          busy < level − 0.15 and lag < 15 ms, for 10 s
//! ```
//!
//! Between the two it stays what it was, and no change comes within ten seconds of the last one. While it is open and
//! over the level all the same, the intake gives nothing (`intake`), so waiting for a change lets nobody in.

use std::time::{Duration, Instant};

use crate::{Busy, Reading};

/// What a relay says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It takes newcomers.
    Open,
    /// It keeps whom it has and takes no newcomers.
    Saturated,
}

impl State {
    /// As reports and metrics name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Saturated => "saturated",
        }
    }
}

/// The state with what led to it.
#[derive(Debug)]
pub(crate) struct Saturation {
    state: State,
    changed: Option<Instant>,
    /// Whole seconds in a row over the level.
    over_s: u32,
    /// Whole seconds in a row calm enough to open.
    calm_s: u32,
}

impl Saturation {
    pub(crate) const fn new() -> Self {
        Self { state: State::Open, changed: None, over_s: 0, calm_s: 0 }
    }

    pub(crate) const fn state(&self) -> State {
        self.state
    }

    /// Takes a second's reading. Answers the new state if it changed.
    pub(crate) fn handle_reading(&mut self, reading: &Reading, level: Busy, now: Instant) -> Option<State> {
        let calm = reading.busy < level.opening_level() && reading.lag < LAG_OPEN;
        self.over_s = if is_over(reading, level) { self.over_s.saturating_add(reading.seconds()) } else { 0 };
        self.calm_s = if calm { self.calm_s.saturating_add(reading.seconds()) } else { 0 };
        let next = match self.state {
            State::Open if self.over_s >= OVER_S => State::Saturated,
            State::Saturated if self.calm_s >= CALM_S => State::Open,
            State::Open | State::Saturated => return None,
        };
        if self.changed.is_some_and(|at| now.saturating_duration_since(at) < DWELL) {
            return None;
        }
        self.state = next;
        self.changed = Some(now);
        Some(next)
    }
}

/// Whether a second was over the level. Rule E6.
pub(crate) fn is_over(reading: &Reading, level: Busy) -> bool {
    reading.busy >= level || reading.lag >= LAG_SATURATED
}

/// Timers this late are heard and seen. Rule E6.
const LAG_SATURATED: Duration = Duration::from_millis(50);
/// Rule E6.
const LAG_OPEN: Duration = Duration::from_millis(15);
/// Rule E6.
const OVER_S: u32 = 2;
/// Rule E6.
const CALM_S: u32 = 10;
/// The least time between two changes: what hangs on the state (listing, players' next tries) takes seconds itself.
const DWELL: Duration = Duration::from_secs(10);
