//! A budget of milliseconds of work in a sliding window (G14).

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::date::RetryForm;
use crate::likeness::Like;

/// Every call costs so much; the budget is charged after the call, so `used` may pass `limit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The budget of one window.
    pub limit_ms: u64,
    /// Cost of a call.
    pub cost_ms: u64,
    /// Length of the sliding window; Stream's is a minute.
    #[serde(default = "minute")]
    pub window_ms: u64,
    /// How a refusal tells when to come back.
    #[serde(default)]
    pub retry_form: RetryForm,
}

fn minute() -> u64 {
    60_000
}

impl Budget {
    pub(crate) fn headers(&self, used_ms: u64) -> Vec<(String, String)> {
        let remaining_ms = i128::from(self.limit_ms) - i128::from(used_ms);
        [("used", used_ms.to_string()), ("limit", self.limit_ms.to_string()), ("remaining", remaining_ms.to_string())]
            .into_iter()
            .map(|(what, value)| (format!("x-budget-{what}-ms"), value))
            .collect()
    }

    pub(crate) fn refuse(&self, left: Duration) -> Answer {
        let retry_after = self.retry_form.of(left).into_iter().collect();
        Answer { retry_after, ..Answer::like(Like::StreamLimit) }
    }
}

/// What was spent within the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spent(VecDeque<Duration>);

impl Spent {
    /// Charges a call if the budget is not used up; says what is used then, and if refused, how long it stays so.
    pub(crate) fn take(&mut self, budget: &Budget, now: Duration) -> (u64, Option<Duration>) {
        let window = Duration::from_millis(budget.window_ms);
        while self.0.front().is_some_and(|&at| at + window <= now) {
            self.0.pop_front();
        }
        let used_ms = self.0.len() as u64 * budget.cost_ms;
        if used_ms < budget.limit_ms {
            self.0.push_back(now);
            return (used_ms + budget.cost_ms, None);
        }
        let oldest = self.0.front().copied().unwrap_or(now);
        (used_ms, Some(oldest + window - now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g14_a_budget_slides_and_may_be_overdrawn_by_the_last_call() {
        let budget = Budget { limit_ms: 100, cost_ms: 60, window_ms: 1000, retry_form: RetryForm::Seconds };
        let mut spent = Spent::default();
        let mut take = |ms| spent.take(&budget, Duration::from_millis(ms));
        assert_eq!(take(0), (60, None));
        assert_eq!(take(100), (120, None));
        assert_eq!(take(200), (120, Some(Duration::from_millis(800))));
        assert_eq!(take(1000), (120, None));
        assert_eq!(budget.headers(120)[2], ("x-budget-remaining-ms".to_owned(), "-20".to_owned()));
    }
}
