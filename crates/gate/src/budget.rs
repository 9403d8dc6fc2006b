//! Two budgets that keep trouble small: retries per upstream (G23), errors in a row per room (G25).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many retries an upstream may get: at most 20 % of its calls over 10 s, and always at least 10 in 10 s.
///
/// Without it every client's three attempts would make three outages of one.
#[derive(Debug, Default)]
pub struct RetryBudget {
    /// Calls and retries of the last seconds, newest last.
    seconds: VecDeque<Second>,
    /// When the last ten retries were taken, newest last: what the guaranteed ten are counted by.
    last: VecDeque<Instant>,
    start: Option<Instant>,
}

#[derive(Debug, Default)]
struct Second {
    nth: u64,
    calls: u64,
    retries: u64,
}

impl RetryBudget {
    /// Counts a call; its retries are not calls of their own.
    pub fn count_call(&mut self, now: Instant) {
        self.second(now).calls += 1;
    }

    /// Takes a retry from the budget, if there is one.
    pub fn take(&mut self, now: Instant) -> bool {
        let granted = self.guaranteed(now) || self.within_share(now);
        if granted {
            self.second(now).retries += 1;
            self.last.push_back(now);
            if self.last.len() > GUARANTEED {
                self.last.pop_front();
            }
        }
        granted
    }

    fn guaranteed(&self, now: Instant) -> bool {
        self.last.len() < GUARANTEED || self.last.front().is_some_and(|&tenth| now >= tenth + WINDOW)
    }

    /// Calls are counted over a little less than the window and retries over a little more, so that no ten
    /// seconds, wherever they begin, hold more than the share.
    fn within_share(&mut self, now: Instant) -> bool {
        let nth = self.second(now).nth;
        let recent = |seconds: u64| self.seconds.iter().filter(move |second| second.nth + seconds > nth);
        let calls: u64 = recent(WINDOW.as_secs()).map(|second| second.calls).sum();
        let retries: u64 = recent(WINDOW.as_secs() + 1).map(|second| second.retries).sum();
        (retries + 1) * 100 <= calls * SHARE_PERCENT
    }

    fn second(&mut self, now: Instant) -> &mut Second {
        let start = *self.start.get_or_insert(now);
        let nth = now.saturating_duration_since(start).as_secs();
        if self.seconds.back().is_none_or(|second| second.nth < nth) {
            self.seconds.push_back(Second { nth, ..Second::default() });
            while self.seconds.front().is_some_and(|second| second.nth + WINDOW.as_secs() < nth) {
                self.seconds.pop_front();
            }
        }
        self.seconds.back_mut().expect("a second was just pushed or is there already")
    }
}

/// How many failures in a row a room survives: rate limits and stream errors apart (G25).
///
/// A room that only waits its turn must not die after three of them, and a permanent block must end it some day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorBudget {
    throttles: u32,
    throttles_max: u32,
    errors: u32,
    errors_max: u32,
}

/// What is left of a room after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Go on.
    Goes,
    /// That was the last one allowed: the room ends.
    Spent,
}

impl ErrorBudget {
    /// A fresh budget of `max_throttle_errors` and `max_stream_errors`.
    #[must_use]
    pub fn new(throttles_max: u32, errors_max: u32) -> Self {
        Self { throttles: 0, throttles_max, errors: 0, errors_max }
    }

    /// Counts a rate limit.
    pub fn handle_throttle(&mut self) -> Standing {
        self.throttles = self.throttles.saturating_add(1);
        standing(self.throttles, self.throttles_max)
    }

    /// Counts a stream error.
    pub fn handle_error(&mut self) -> Standing {
        self.errors = self.errors.saturating_add(1);
        standing(self.errors, self.errors_max)
    }

    /// A success clears both.
    pub fn handle_success(&mut self) {
        self.throttles = 0;
        self.errors = 0;
    }
}

fn standing(count: u32, max: u32) -> Standing {
    if count >= max { Standing::Spent } else { Standing::Goes }
}

/// The time over which retries are held against calls. Rule G23.
const WINDOW: Duration = Duration::from_secs(10);
/// Retries per window that are always granted. Rule G23.
const GUARANTEED: usize = 10;
/// Retries per call beyond those, in percent. Rule G23.
const SHARE_PERCENT: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn g23_ten_retries_in_ten_seconds_are_always_granted() {
        let start = Instant::now();
        let mut budget = RetryBudget::default();
        let granted = (0..20).filter(|i| budget.take(start + ms(i * 100))).count();
        assert_eq!(granted, 10);
        assert!(!budget.take(start + ms(9_999)));
        assert!(budget.take(start + ms(10_000)), "the first of the ten is ten seconds old");
        assert!(!budget.take(start + ms(10_050)), "the second is not");
        assert!(budget.take(start + ms(10_100)));
    }

    #[test]
    fn g23_an_outage_is_not_multiplied_by_retries() {
        let start = Instant::now();
        let mut budget = RetryBudget::default();
        let mut taken = Vec::new();
        // 100 calls a second for a minute, each of which fails and would like to be tried twice more.
        for i in 0..6000 {
            let now = start + ms(i * 10);
            budget.count_call(now);
            taken.extend((0..2).filter(|_| budget.take(now)).map(|_| now));
        }
        for (i, &from) in taken.iter().enumerate() {
            let within = taken[i..].iter().take_while(|&&at| at < from + WINDOW).count();
            assert!(within <= 200, "{within} retries for 1,000 calls");
        }
        assert!(taken.len() > 900, "{} of about 1,200", taken.len());
    }

    #[test]
    fn g25_rate_limits_and_stream_errors_have_their_own_budgets() {
        let mut budget = ErrorBudget::new(8, 3);
        for _ in 0..7 {
            assert_eq!(budget.handle_throttle(), Standing::Goes);
        }
        assert_eq!(budget.handle_error(), Standing::Goes);
        assert_eq!(budget.handle_error(), Standing::Goes);
        assert_eq!(budget.handle_throttle(), Standing::Spent);
        assert_eq!(budget.handle_error(), Standing::Spent);
        budget.handle_success();
        assert_eq!(budget, ErrorBudget::new(8, 3));
    }
}
