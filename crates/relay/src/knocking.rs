//! Handshakes that wait for their turn (E7).
//!
//! Thousands come in the second in which an event begins, and a relay takes so many of them a second. One that is left
//! unanswered comes again after one second, two, four…, together with all the others: the relay would stand idle
//! between, and who comes by chance would be first. So they wait here, in the order in which they came.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use web_transport_moq::noq::Incoming;

use crate::metrics;

/// Who knocks, the first to come first.
#[derive(Default)]
pub(crate) struct Knocking(VecDeque<(Incoming, Instant)>);

impl Knocking {
    /// Lets one wait. Where too many do, it is left unanswered: its client sends its first packet again, and a refusal
    /// would cost as much as an answer.
    pub(crate) fn push(&mut self, incoming: Incoming, now: Instant) {
        if self.0.len() < WAITING_MAX {
            self.0.push_back((incoming, now));
        } else {
            leave(incoming);
        }
    }

    /// Whether somebody waits, after those are forgotten whose clients have given up.
    pub(crate) fn is_empty(&mut self, now: Instant) -> bool {
        while let Some((incoming, _)) = self.0.pop_front_if(|(_, came)| now.saturating_duration_since(*came) > PATIENCE)
        {
            leave(incoming);
        }
        self.0.is_empty()
    }

    pub(crate) fn next(&mut self) -> Option<Incoming> {
        self.0.pop_front().map(|(incoming, _)| incoming)
    }
}

fn leave(incoming: Incoming) {
    metrics::unanswered();
    incoming.ignore();
}

/// Bounds memory: a few kilobytes for each.
const WAITING_MAX: usize = 1_024;
/// Browsers give a handshake ten seconds, and the rest of it needs some of them.
const PATIENCE: Duration = Duration::from_secs(4);
