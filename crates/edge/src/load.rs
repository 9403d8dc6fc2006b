//! How busy a relay is: what was measured in one second (E5).

use std::fmt;
use std::time::Duration;

/// The share of time that the work threads were busy, in thousandths: 850 is 0.85.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Busy(u16);

impl Busy {
    /// All threads, all the time.
    pub const WHOLE: Self = Self(1000);

    /// From a share; below 0 (and NaN) is 0, above 1 is 1. A runtime's counters may overshoot: a task that never
    /// yields is accounted for when it ends.
    #[must_use]
    pub fn from_share(share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000")]
        Self((share * 1000.0).round().clamp(0.0, 1000.0) as u16)
    }

    /// As a share, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// The level below which a relay opens again, when this is the one from which it is saturated. Rule E6.
    pub(crate) const fn opening_level(self) -> Self {
        Self(self.0.saturating_sub(HYSTERESIS))
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.share())
    }
}

/// What was measured in one second (E5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How busy the work threads were.
    pub busy: Busy,
    /// How late timers fired.
    pub lag: Duration,
    /// How long it was measured; about a second, more if the relay was too busy to look.
    pub window: Duration,
}

impl Reading {
    /// Whole seconds that it stands for, at least one: a ticker is late by a little and early by a little.
    pub(crate) fn seconds(&self) -> u32 {
        u32::try_from((self.window + Duration::from_millis(500)).as_secs()).unwrap_or(u32::MAX).max(1)
    }
}

/// The lag of a second: nine in ten of its probes were not later than this (p90). No probe at all is no lag.
#[must_use]
pub fn lag_of(probes: &mut [Duration]) -> Duration {
    let Some(last) = probes.len().checked_sub(1) else { return Duration::ZERO };
    let rank = (probes.len() * 9).div_ceil(10).saturating_sub(1).min(last);
    *probes.select_nth_unstable(rank).1
}

/// Between the level that saturates and the one that opens, in thousandths. Rule E6.
const HYSTERESIS: u16 = 150;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e5_the_lag_is_what_nine_in_ten_probes_stayed_below() {
        let ms = |list: &[u64]| list.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
        assert_eq!(lag_of(&mut []), Duration::ZERO);
        assert_eq!(lag_of(&mut ms(&[7])), Duration::from_millis(7));
        assert_eq!(lag_of(&mut ms(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1])), Duration::from_millis(9));
        let mut fifty: Vec<_> = (1..=50).rev().map(Duration::from_millis).collect();
        assert_eq!(lag_of(&mut fifty), Duration::from_millis(45));
    }

    #[test]
    fn e5_a_counter_that_overshoots_is_a_whole() {
        assert_eq!(Busy::from_share(1.248), Busy::WHOLE);
        assert_eq!(Busy::from_share(-0.1), Busy::default());
        assert_eq!(Busy::from_share(f64::NAN), Busy::default());
        assert_eq!(Busy::from_share(0.85).to_string(), "0.850");
    }
}
