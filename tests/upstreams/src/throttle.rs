//! Throttling by address: everything from it is refused for a time (G9).

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::date::RetryForm;
use crate::likeness::Like;

/// So many calls of one address in a sliding window pass; the next one closes the address for a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Calls that pass in a window.
    pub calls: usize,
    /// Length of the sliding window.
    pub window_ms: u64,
    /// How long the address stays closed.
    pub hold_ms: u64,
    /// Whether a call to a closed address closes it anew.
    #[serde(default)]
    pub prolongs: bool,
    /// How the refusal tells when to come back.
    #[serde(default)]
    pub retry_form: RetryForm,
    /// The refusal; a plain `429` if not given.
    #[serde(default)]
    pub refusal: Option<Answer>,
}

impl Throttle {
    /// So many calls a window, then closed for a time, told by `429` and `Retry-After` in seconds.
    #[must_use]
    pub fn new(calls: usize, window_ms: u64, hold_ms: u64) -> Self {
        Self { calls, window_ms, hold_ms, prolongs: false, retry_form: RetryForm::Seconds, refusal: None }
    }
}

/// How an address is refused, for so long.
pub(crate) fn refuse(throttle: Option<&Throttle>, left: Duration) -> Answer {
    let form = throttle.map_or(RetryForm::Seconds, |throttle| throttle.retry_form);
    let own = throttle.and_then(|throttle| throttle.refusal.clone());
    let mut answer = own.unwrap_or_else(|| Answer::like(Like::Throttled));
    if answer.retry_after.is_empty() {
        answer.retry_after.extend(form.of(left));
    }
    answer
}

/// One address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Address {
    passed: VecDeque<Duration>,
    closed_until: Duration,
}

impl Address {
    /// Counts a call; if the address is closed, says for how long.
    pub(crate) fn take(&mut self, throttle: Option<&Throttle>, now: Duration) -> Option<Duration> {
        if now < self.closed_until {
            if let Some(throttle) = throttle.filter(|throttle| throttle.prolongs) {
                self.close(Duration::from_millis(throttle.hold_ms), now);
            }
            return Some(self.closed_until - now);
        }
        let throttle = throttle?;
        let window = Duration::from_millis(throttle.window_ms);
        while self.passed.front().is_some_and(|&at| at + window <= now) {
            self.passed.pop_front();
        }
        if self.passed.len() < throttle.calls {
            self.passed.push_back(now);
            return None;
        }
        self.passed.clear();
        self.close(Duration::from_millis(throttle.hold_ms), now);
        Some(self.closed_until - now)
    }

    pub(crate) fn close(&mut self, hold: Duration, now: Duration) {
        self.closed_until = now + hold;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(throttle: &Throttle, times: &[u64]) -> Vec<Option<u128>> {
        let mut address = Address::default();
        let mut take = |&ms: &u64| address.take(Some(throttle), Duration::from_millis(ms)).map(|left| left.as_millis());
        times.iter().map(&mut take).collect()
    }

    #[test]
    fn g9_an_address_is_closed_for_a_time_after_so_many_calls() {
        let throttle = Throttle::new(2, 1000, 3000);
        let left = taken(&throttle, &[0, 100, 200, 3199, 3200]);
        assert_eq!(left, [None, None, Some(3000), Some(1), None]);
    }

    #[test]
    fn g9_slow_calls_are_not_throttled() {
        assert_eq!(taken(&Throttle::new(2, 1000, 3000), &[0, 500, 1000, 1500]), [None; 4]);
    }

    #[test]
    fn g9_an_address_may_be_closed_anew_by_each_call() {
        let throttle = Throttle { prolongs: true, ..Throttle::new(1, 1000, 3000) };
        assert_eq!(taken(&throttle, &[0, 100, 1100]), [None, Some(3000), Some(3000)]);
    }
}
