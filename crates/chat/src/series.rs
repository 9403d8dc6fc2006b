//! The metrics of all rooms (O4, C7).

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use metrics::{Counter, Gauge, counter, describe_counter, describe_gauge, gauge};

use crate::event::{Event, Kind};

/// The handles.
#[derive(Debug)]
pub(crate) struct Series {
    rooms: Gauge,
    viewers: Gauge,
    events: Vec<(&'static str, Counter)>,
    /// By whether the answer to the room's own call told it.
    limits: [Counter; 2],
    /// Names that have a series of their own.
    unknown: Mutex<HashSet<String>>,
}

impl Series {
    pub(crate) fn new() -> Self {
        describe();
        let events = |kind: &'static str| (kind, counter!("tidegate_chat_events_total", "kind" => kind));
        let limits = |told: &'static str| counter!("tidegate_chat_rate_limits_total", "by" => told);
        Self {
            rooms: gauge!("tidegate_chat_rooms"),
            viewers: gauge!("tidegate_chat_viewers"),
            events: Kind::NAMES.into_iter().map(events).collect(),
            limits: ["gate", "answer"].map(limits),
            unknown: Mutex::default(),
        }
    }

    /// Takes down what a room gave out.
    pub(crate) fn count(&self, events: &[Event]) {
        for event in events {
            let name = event.kind.name();
            if let Some((_, counter)) = self.events.iter().find(|(kind, _)| *kind == name) {
                counter.increment(1);
            }
            if let Kind::Unknown(unknown) = &event.kind {
                counter!("tidegate_chat_unknown_total", "raw_kind" => self.label(&unknown.raw_kind)).increment(1);
            }
        }
    }

    /// Takes down a rate limit that a room met.
    pub(crate) fn limited(&self, told: bool) {
        self.limits[usize::from(told)].increment(1);
    }

    pub(crate) fn publish(&self, rooms: usize, viewers: usize) {
        #[expect(clippy::cast_precision_loss, reason = "gauges are floats; counts of viewers fit them")]
        {
            self.rooms.set(rooms as f64);
            self.viewers.set(viewers as f64);
        }
    }

    /// The upstream makes these names up, so only so many of them are told apart.
    fn label(&self, raw_kind: &str) -> String {
        let mut known = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_name = raw_kind.len() <= NAME_MAX_BYTES && raw_kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_name && (known.contains(raw_kind) || known.len() < NAMES_MAX) {
            known.insert(raw_kind.to_owned());
            return raw_kind.to_owned();
        }
        "other".to_owned()
    }
}

fn describe() {
    describe_gauge!("tidegate_chat_rooms", "Rooms of live chats that run.");
    describe_gauge!("tidegate_chat_viewers", "Viewers of all rooms.");
    describe_counter!(
        "tidegate_chat_events_total",
        "Events that rooms gave out, by kind; each once, however many read it."
    );
    describe_counter!(
        "tidegate_chat_unknown_total",
        "Rows of a kind that this version does not know, by YouTube's name for it."
    );
    describe_counter!(
        "tidegate_chat_rate_limits_total",
        "Calls of rooms that met a rate limit: told in the answer, or held back by the gate because of another one."
    );
}

const NAMES_MAX: usize = 50;
const NAME_MAX_BYTES: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c7_an_upstream_cannot_make_series_without_end() {
        let series = Series::new();
        let labels: HashSet<String> = (0..200).map(|n| series.label(&format!("liveChatNew{n}Renderer"))).collect();
        assert_eq!(labels.len(), NAMES_MAX + 1);
        assert_eq!(series.label("liveChatNew0Renderer"), "liveChatNew0Renderer");
        assert_eq!(series.label("a\"} 1"), "other");
    }
}
