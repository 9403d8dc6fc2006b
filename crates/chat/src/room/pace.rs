//! When to poll next, and whether something was missed meanwhile (C3).

use std::time::{Duration, Instant};

use crate::event::Event;

/// What the batches so far tell about the chat's speed.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the last answer came.
    answered: Option<Instant>,
    /// The newest row's time by the upstream's clock, in microseconds.
    newest_us: Option<i64>,
}

impl Pace {
    /// Whether rows are missing before this batch. The upstream's answers reach back only so far, so a batch that
    /// begins long after the last one ended, in a chat too busy for such a silence, has lost the rows between.
    pub(super) fn has_hole(&self, events: &[Event], now: Instant) -> bool {
        let (Some(answered), Some(newest_us)) = (self.answered, self.newest_us) else { return false };
        let may_lose = events.len() >= FULL || now.saturating_duration_since(answered) > REACH;
        let times = || events.iter().filter_map(|event| event.at_us);
        let (Some(first_us), Some(last_us)) = (times().min(), times().max()) else { return false };
        let rows = i64::try_from(times().count()).unwrap_or(i64::MAX);
        if !may_lose || rows < ENOUGH {
            return false;
        }
        let mean_us = last_us.saturating_sub(first_us) / (rows - 1);
        let silence_us = first_us.saturating_sub(newest_us);
        silence_us > SILENCE_MIN_US.max(mean_us.saturating_mul(SILENCE_MEANS))
    }

    /// Takes a batch down; answers how long the next wait may be without losing rows, if that is known.
    pub(super) fn note(&mut self, events: &[Event], now: Instant) -> Option<Duration> {
        let newest_us = events.iter().filter_map(|event| event.at_us).max();
        self.newest_us = self.newest_us.max(newest_us);
        let before = self.answered.replace(now);
        if events.len() >= FULL {
            // How many there really were is not told.
            return Some(Duration::ZERO);
        }
        let rows = u32::try_from(events.len()).ok().filter(|rows| *rows > 0)?;
        let took = now.saturating_duration_since(before?);
        Some(took.saturating_mul(FULL as u32 / 2) / rows)
    }

    /// The next answer starts anew with what was there before: it says nothing about speed.
    pub(super) fn start_anew(&mut self) {
        self.answered = None;
    }

    pub(super) fn newest_us(&self) -> Option<i64> {
        self.newest_us
    }
}

/// Rows in a batch that is full. A busy chat answers 150 to 200 rows at most. Rule C3.
pub(super) const FULL: usize = 150;
/// How far an answer reaches back at least. Rule C3.
const REACH: Duration = Duration::from_secs(10);
/// Fewer rows than these tell no speed.
const ENOUGH: i64 = 10;
/// A silence shorter than this is none, in microseconds.
const SILENCE_MIN_US: i64 = 1_000_000;
/// A silence is a hole when it is this many times as long as the usual time between two rows: by chance that happens
/// once in e^20 batches.
const SILENCE_MEANS: i64 = 20;
