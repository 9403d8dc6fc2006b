//! A room's poll interval: the upstream's hint, widened by throttles (G24).

use std::time::Duration;

/// Widens on a throttle and narrows step by step on success.
///
/// Resuming at the old rate right after a throttle walks back into it; so the interval doubles, above what the
/// upstream's own hint would ever suggest, and halves on each success rather than resetting.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    min: Duration,
    normal: Duration,
    /// Longer than `normal` while a throttle is being recovered from.
    widened: Option<Duration>,
    factor: f64,
    max: Duration,
}

impl Interval {
    /// An interval from `min` on that widens by `factor` up to `max` (`backoff_factor`, `max_interval`).
    #[must_use]
    pub fn new(min: Duration, factor: f64, max: Duration) -> Self {
        Self { min, normal: min, widened: None, factor, max }
    }

    /// The time to wait before the next poll.
    #[must_use]
    pub fn get(&self) -> Duration {
        self.widened.unwrap_or(self.normal)
    }

    /// Whether a throttle still shows.
    #[must_use]
    pub fn is_widened(&self) -> bool {
        self.widened.is_some()
    }

    /// Takes the upstream's hint of a good answer, held between the shortest interval and 15 s, and halves what a throttle widened.
    pub fn handle_success(&mut self, hint: Duration) {
        self.normal = hint.min(NORMAL_MAX).max(self.min);
        self.widened = self.widened.map(|wide| wide / 2).filter(|&wide| wide > self.normal);
    }

    /// Widens after a throttle.
    pub fn handle_throttle(&mut self) {
        let wider = self.get().mul_f64(self.factor).min(self.max);
        self.widened = Some(wider).filter(|&wide| wide > self.normal);
    }
}

/// The longest one without a throttle. Rule C3; G24 goes above it.
const NORMAL_MAX: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g24_a_throttled_room_doubles_up_to_60_s_and_halves_on_each_success() {
        let secs = Duration::from_secs;
        let mut interval = Interval::new(secs(1), 2.0, secs(60));
        interval.handle_success(secs(10));
        let widened: Vec<Duration> = (0..4)
            .map(|_| {
                interval.handle_throttle();
                interval.get()
            })
            .collect();
        assert_eq!(widened, [secs(20), secs(40), secs(60), secs(60)]);
        let narrowed: Vec<Duration> = (0..4)
            .map(|_| {
                interval.handle_success(secs(10));
                interval.get()
            })
            .collect();
        assert_eq!(narrowed, [secs(30), secs(15), secs(10), secs(10)]);
        assert!(!interval.is_widened());
    }

    #[test]
    fn c3_the_hint_is_held_between_1_s_and_15_s() {
        let mut interval = Interval::new(Duration::from_secs(1), 2.0, Duration::from_secs(60));
        for (hint_ms, held_ms) in [(0, 1000), (999, 1000), (5035, 5035), (15_001, 15_000), (u64::MAX, 15_000)] {
            interval.handle_success(Duration::from_millis(hint_ms));
            assert_eq!(interval.get(), Duration::from_millis(held_ms));
        }
    }
}
