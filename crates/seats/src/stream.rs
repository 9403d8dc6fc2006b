//! One stream: its seats, its open offers, its line.

use std::collections::BTreeMap;

use crate::entries::Slot;
use crate::line::Line;
use crate::{Arrival, StreamRecord, StreamStats};

/// A stream and everybody in it.
///
/// Untold turns belong to the head of the line: exactly its first `untold` places have one (S6, S7).
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) record: StreamRecord,
    pub(crate) line: Line,
    pub(crate) untold: u32,
    pub(crate) offered: BTreeMap<Arrival, Slot>,
    pub(crate) seated: BTreeMap<Arrival, Slot>,
    pub(crate) hls: u32,
    pub(crate) tokens: TokenEnds,
}

impl Stream {
    pub(crate) fn new(record: StreamRecord) -> Self {
        Self {
            record,
            line: Line::default(),
            untold: 0,
            offered: BTreeMap::new(),
            seated: BTreeMap::new(),
            hls: 0,
            tokens: TokenEnds::default(),
        }
    }

    pub(crate) fn ended(&self) -> bool {
        self.record.ended_at.is_some()
    }

    /// Seats, and what is kept for somebody: never over the cap, unless that was lowered (S6, S10).
    pub(crate) fn used(&self) -> u32 {
        self.seats() + self.turns()
    }

    pub(crate) fn room(&self) -> u32 {
        self.record.settings.viewer_cap.saturating_sub(self.used())
    }

    /// Places that wait with nothing kept for them.
    pub(crate) fn turnless(&self) -> u32 {
        self.line.len() - self.untold
    }

    /// Whether a seat is free and somebody waits for one.
    pub(crate) fn hungry(&self) -> bool {
        self.room() > 0 && self.turnless() > 0
    }

    pub(crate) fn stats(&self, unix_s: u64) -> StreamStats {
        StreamStats {
            cap: self.record.settings.viewer_cap,
            queue_max: self.record.settings.queue_max,
            seats: self.seats(),
            hls: self.hls,
            queued: self.line.len(),
            turns: self.turns(),
            peak: self.record.peak,
            seats_with_tokens: self.tokens.unexpired(unix_s),
        }
    }

    pub(crate) fn seats(&self) -> u32 {
        count(&self.seated)
    }

    fn turns(&self) -> u32 {
        count(&self.offered) + self.untold
    }
}

fn count(members: &BTreeMap<Arrival, Slot>) -> u32 {
    u32::try_from(members.len()).expect("each member has a u32 slot of its own")
}

/// How many seats' last tokens end in which second (S22), so that counting them walks seconds, not seats.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenEnds {
    by_second: BTreeMap<u32, u32>,
}

impl TokenEnds {
    pub(crate) fn add(&mut self, end: u32) {
        *self.by_second.entry(end).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, end: u32) {
        if let Some(seats) = self.by_second.get_mut(&end) {
            *seats -= 1;
            if *seats == 0 {
                self.by_second.remove(&end);
            }
        }
    }

    fn unexpired(&self, unix_s: u64) -> u32 {
        let now = u32::try_from(unix_s).unwrap_or(u32::MAX);
        self.by_second.range(now.saturating_add(1)..).map(|(_, seats)| seats).sum()
    }
}
