//! How many rows were said by when.

use std::time::Duration;

/// A chat whose rate may change; its rows are numbered from 0 on.
#[derive(Debug)]
pub(crate) struct Chat {
    /// From when on, with which row, and how many more a second; in order.
    stretches: Vec<(Duration, u64, f64)>,
}

impl Chat {
    pub(crate) fn new(rate: f64) -> Self {
        Self { stretches: vec![(Duration::ZERO, 0, rate)] }
    }

    pub(crate) fn set_rate(&mut self, rate: f64, now: Duration) {
        if self.stretches.last().is_none_or(|last| last.2 != rate) {
            self.stretches.push((now, self.rows(now), rate));
        }
    }

    /// Rows that were said until then.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time times a rate, never negative")]
    pub(crate) fn rows(&self, now: Duration) -> u64 {
        let (since, row, rate) = *self.stretches.last().unwrap_or(&(Duration::ZERO, 0, 0.0));
        row + (now.saturating_sub(since).as_secs_f64() * rate) as u64
    }

    /// When a row was said that has been said.
    pub(crate) fn said_at(&self, row: u64) -> Duration {
        let stretch = self.stretches.iter().rev().find(|(_, first, rate)| *first <= row && *rate > 0.0);
        let (since, first, rate) = *stretch.unwrap_or(&(Duration::ZERO, 0, 1.0));
        #[expect(clippy::cast_precision_loss, reason = "rows of a test's chat")]
        let after = (row - first + 1) as f64 / rate;
        since + Duration::from_secs_f64(after)
    }
}
