//! Whether and when a call that was rate limited is tried again (G20, G21).

use std::time::Duration;

/// How often and how patiently a call is tried again. A call's own options override its upstream's (G22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first included. Rule G20, 3.
    pub max_attempts: u32,
    /// Whether cooldowns that are known already hold a call back before it is made. Rule G20, true.
    pub enable_cooldown: bool,
    /// Caps the fallback delay only; a delay that the server gives may be longer. Rule G21, 5 s.
    pub max_delay: Duration,
    /// A longer delay than this is not waited for: the caller gets the error. Rule G20, 10 s.
    pub max_retryable_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            enable_cooldown: true,
            max_delay: Duration::from_secs(5),
            max_retryable_delay: Duration::from_secs(10),
        }
    }
}

impl RetryPolicy {
    /// Whether a call that was tried again `retries` times already may be so once more after `delay`.
    #[must_use]
    pub fn allows(&self, retries: u32, delay: Duration) -> bool {
        retries.saturating_add(1) < self.max_attempts && delay <= self.max_retryable_delay
    }

    /// The delay when the server gives none: exponential with full jitter, capped by `max_delay`.
    #[must_use]
    pub fn backoff(&self, retries: u32, jitter: Jitter) -> Duration {
        let doubled = BACKOFF_BASE.saturating_mul(2_u32.saturating_pow(retries.min(16)));
        doubled.min(self.max_delay).mul_f64(jitter.0).max(BACKOFF_LEAST)
    }
}

/// A random fraction from 0 to 1, drawn by the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter(f64);

impl Jitter {
    /// Takes a fraction; anything outside 0 to 1 is moved to the nearer end, and no number is the whole.
    #[must_use]
    pub fn new(fraction: f64) -> Self {
        Self(if fraction.is_nan() { 1.0 } else { fraction.clamp(0.0, 1.0) })
    }
}

/// The fallback delay before the first retry, before jitter; it doubles with each. Rule G21.
const BACKOFF_BASE: Duration = Duration::from_secs(1);
/// Full jitter may draw next to nothing, but a throttle never means no wait at all. Rule G16.
const BACKOFF_LEAST: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g21_the_fallback_doubles_with_full_jitter_up_to_max_delay() {
        let policy = RetryPolicy::default();
        let whole = |retries| policy.backoff(retries, Jitter::new(1.0)).as_millis();
        assert_eq!([0, 1, 2, 3, u32::MAX].map(whole), [1000, 2000, 4000, 5000, 5000]);
        assert_eq!(policy.backoff(1, Jitter::new(0.25)).as_millis(), 500);
        assert_eq!(policy.backoff(0, Jitter::new(0.0)).as_millis(), 100, "never no wait");
    }

    #[test]
    fn g20_three_attempts_and_no_delay_above_ten_seconds() {
        let policy = RetryPolicy::default();
        let ten = Duration::from_secs(10);
        assert_eq!([0, 1, 2, u32::MAX].map(|retries| policy.allows(retries, ten)), [true, true, false, false]);
        assert!(!policy.allows(0, ten + Duration::from_millis(1)));
        assert!(!RetryPolicy { max_attempts: 1, ..policy }.allows(0, ten));
        assert!(!RetryPolicy { max_attempts: 0, ..policy }.allows(0, ten));
    }

    #[test]
    fn a_jitter_is_always_a_fraction() {
        assert_eq!([-1.0, 0.5, 7.0, f64::NAN].map(Jitter::new), [0.0, 0.5, 1.0, 1.0].map(Jitter));
    }
}
