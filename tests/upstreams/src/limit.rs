//! A limit of one operation: so many calls a window (G12, G13).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::date::RetryForm;
use crate::family::{Family, Standing};

/// A fixed window that begins with its first call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Calls a window.
    pub calls: u64,
    /// Length of the window.
    pub window_ms: u64,
    /// Counts each key by itself.
    #[serde(default)]
    pub per_key: bool,
    /// How it is told, on every answer of the operation.
    #[serde(default)]
    pub family: Family,
    /// How a refusal tells when to come back; the family's own way if not given.
    #[serde(default)]
    pub retry_form: Option<RetryForm>,
    /// The refusal; the family's own if not given.
    #[serde(default)]
    pub refusal: Option<Answer>,
}

impl Limit {
    /// So many calls a window, told in this manner.
    #[must_use]
    pub fn new(calls: u64, window_ms: u64, family: Family) -> Self {
        Self { calls, window_ms, per_key: false, family, retry_form: None, refusal: None }
    }

    /// The refusal, without the limit's headers.
    pub(crate) fn refuse(&self, left: Duration) -> Answer {
        let mut answer = self.refusal.clone().unwrap_or_else(|| Answer::like(self.family.refusal()));
        if answer.retry_after.is_empty() {
            answer.retry_after.extend(self.retry_form.unwrap_or(self.family.retry_form()).of(left));
        }
        answer
    }
}

/// The window of one operation, or of one key in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    began: Duration,
    used: u64,
}

impl Window {
    /// Counts a call if there is room; says where the limit stands then, and whether the call passes.
    pub(crate) fn take(&mut self, limit: &Limit, now: Duration) -> (Standing, bool) {
        let window = Duration::from_millis(limit.window_ms);
        if self.used == 0 || now >= self.began + window {
            *self = Self { began: now, used: 0 };
        }
        let passes = self.used < limit.calls;
        self.used += u64::from(passes);
        let left = (self.began + window).saturating_sub(now);
        (Standing { limit: limit.calls, remaining: limit.calls - self.used, window, left }, passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g12_a_window_begins_with_its_first_call_and_refuses_what_is_over() {
        let limit = Limit::new(2, 1000, Family::Stream);
        let mut window = Window::default();
        let mut take = |ms| {
            let (at, passes) = window.take(&limit, Duration::from_millis(ms));
            (at.remaining, at.left.as_millis(), passes)
        };
        assert_eq!(take(500), (1, 1000, true));
        assert_eq!(take(700), (0, 800, true));
        assert_eq!(take(1499), (0, 1, false));
        assert_eq!(take(1500), (1, 1000, true));
    }
}
