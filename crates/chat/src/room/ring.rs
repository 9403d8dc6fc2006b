//! The newest events of a room, as frames: what a viewer is sent, and what it can come back to (C8, C9).
//!
//! Viewers have no queue of their own. Each has a [`Cursor`] into this one ring, so a slow one costs the others
//! nothing, and a thousand of them a thousand cursors.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::id::{Epoch, EventId, Start};
use super::rows::{hash, row_of, takes_away};
use crate::event::{Event, Failure};
use crate::frame::{gap_frame, notice_frame, write_frame};

/// The newest events of a room, encoded once.
#[derive(Debug)]
pub struct Ring {
    epoch: Epoch,
    limits: RingLimits,
    entries: VecDeque<Entry>,
    /// The sequence number of the first entry, or of the next one if there is none.
    first: u64,
    /// The first number of the newest batch: what comes at once is nobody's lag.
    batch: u64,
    bytes: usize,
    notice: Notice,
    is_closed: bool,
}

/// How much of a chat is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLimits {
    /// Events kept for those who come back. Rule C8: 2,000.
    pub events: usize,
    /// For how long. Rule C8: 5 minutes.
    pub age: Duration,
    /// How many bytes of frames; an upstream that sends novels ends up with fewer events. 8 MiB.
    pub bytes: usize,
    /// With how many events a new viewer starts. Rule C8: 50.
    pub newest: usize,
    /// A viewer further behind than this is told of a gap and goes on with the newest. Rule C9: 500.
    pub lag: u64,
}

/// Where a viewer stands in the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    next: u64,
    /// The next number when the viewer came: what is older is caught up on, not lagged behind.
    since: u64,
    /// What is deleted is left out of what is older than the viewer (C8).
    starts_anew: bool,
    gap: Option<Missed>,
    notices: u64,
}

/// What a viewer is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// Send these whole frames.
    Frames(Bytes),
    /// Everything is sent.
    Nothing,
    /// Everything is sent, and nothing will follow.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Missed(Option<u64>);

#[derive(Debug)]
struct Entry {
    /// The frames of the whole batch, in which this one lies: neighbours are sent as one piece without a copy.
    batch: Bytes,
    start: usize,
    end: usize,
    at: Instant,
    row: Option<u64>,
    author: Option<u64>,
    is_gone: bool,
}

/// The last word to those who are there.
#[derive(Debug, Default)]
struct Notice {
    number: u64,
    frame: Bytes,
}

impl Default for RingLimits {
    fn default() -> Self {
        Self { events: 2_000, age: Duration::from_secs(300), bytes: 8 << 20, newest: 50, lag: 500 }
    }
}

impl Ring {
    /// An empty ring.
    #[must_use]
    pub fn new(epoch: Epoch, limits: RingLimits) -> Self {
        Self {
            epoch,
            limits,
            entries: VecDeque::new(),
            first: 1,
            batch: 1,
            bytes: 0,
            notice: Notice::default(),
            is_closed: false,
        }
    }

    /// Takes what came at once.
    pub fn push(&mut self, events: &[Event], now: Instant) {
        let mut frames = Vec::new();
        let mut ends = Vec::with_capacity(events.len());
        self.batch = self.next();
        for (event, seq) in events.iter().zip(self.batch..) {
            write_frame(&mut frames, Some(EventId { epoch: self.epoch, seq }), event);
            ends.push(frames.len());
        }
        let batch = Bytes::from(frames);
        let mut start = 0;
        for (event, end) in events.iter().zip(ends) {
            takes_away(&event.kind, |gone| self.mark_gone(gone));
            let (row, author) = row_of(event);
            let (row, author) = (row.map(hash), author.map(hash));
            self.entries.push_back(Entry { batch: batch.clone(), start, end, at: now, row, author, is_gone: false });
            self.bytes += end - start;
            start = end;
        }
        self.expire(now);
    }

    /// Says something to those who are there, and to nobody who comes back later.
    pub fn notify(&mut self, failure: Failure) {
        self.notice = Notice { number: self.notice.number + 1, frame: notice_frame(failure).into() };
    }

    /// Ends the ring: who has read everything is done.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The id of the newest event.
    #[must_use]
    pub fn newest(&self) -> EventId {
        EventId { epoch: self.epoch, seq: self.next() - 1 }
    }

    /// How many bytes of frames are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A place in the ring for a viewer that comes.
    pub fn enter(&mut self, start: Start, now: Instant) -> Cursor {
        self.expire(now);
        let since = self.next();
        let cursor = Cursor { next: since, since, starts_anew: false, gap: None, notices: self.notice.number };
        match start {
            Start::After(id) if id.epoch == self.epoch && id.seq < since => {
                let wanted = id.seq + 1;
                let missed = self.first.saturating_sub(wanted);
                let gap = (missed > 0).then_some(Missed(Some(missed)));
                Cursor { next: wanted.max(self.first), gap, ..cursor }
            }
            Start::After(_) | Start::Lost => {
                Cursor { next: self.newest_from(), starts_anew: true, gap: Some(Missed(None)), ..cursor }
            }
            Start::Newest => Cursor { next: self.newest_from(), starts_anew: true, ..cursor },
        }
    }

    /// What comes next for a viewer; the cursor moves behind it.
    pub fn read(&self, cursor: &mut Cursor) -> Read {
        self.skip(cursor);
        if let Some(Missed(missed)) = cursor.gap.take() {
            return Read::Frames(gap_frame(EventId { epoch: self.epoch, seq: cursor.next - 1 }, missed).into());
        }
        if let Some(frames) = self.piece(cursor) {
            return Read::Frames(frames);
        }
        if cursor.notices < self.notice.number {
            cursor.notices = self.notice.number;
            return Read::Frames(self.notice.frame.clone());
        }
        if self.is_closed { Read::Over } else { Read::Nothing }
    }

    /// Moves a viewer forward that is too far behind, or whose place is no longer kept.
    fn skip(&self, cursor: &mut Cursor) {
        let behind = self.batch.saturating_sub(cursor.next.max(cursor.since));
        let to = if behind > self.limits.lag { self.newest_from() } else { self.first };
        if let Some(missed) = to.checked_sub(cursor.next).filter(|missed| *missed > 0) {
            let before = cursor.gap.map_or(Some(0), |Missed(before)| before);
            cursor.gap = Some(Missed(before.map(|before| before + missed)));
            cursor.next = to;
        }
    }

    /// The longest run of frames from the cursor on that lie side by side in memory.
    fn piece(&self, cursor: &mut Cursor) -> Option<Bytes> {
        while self.is_left_out(cursor) {
            cursor.next += 1;
        }
        let first = self.entry(cursor.next)?;
        let mut end = first.end;
        cursor.next += 1;
        while let Some(entry) = self.entry(cursor.next) {
            let is_neighbour = entry.start == end && entry.batch.as_ptr() == first.batch.as_ptr();
            if !is_neighbour || self.is_left_out(cursor) || entry.end - first.start > PIECE_MAX {
                break;
            }
            end = entry.end;
            cursor.next += 1;
        }
        Some(first.batch.slice(first.start..end))
    }

    fn is_left_out(&self, cursor: &Cursor) -> bool {
        let is_gone = || self.entry(cursor.next).is_some_and(|entry| entry.is_gone);
        cursor.starts_anew && cursor.next < cursor.since && is_gone()
    }

    fn entry(&self, seq: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(seq.checked_sub(self.first)?).ok()?)
    }

    fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Where the newest events begin, counted without those that are gone.
    fn newest_from(&self) -> u64 {
        let numbered = self.entries.iter().enumerate().rev();
        let newest = numbered.filter(|(_, entry)| !entry.is_gone).take(self.limits.newest);
        newest.last().map_or(self.next(), |(index, _)| self.first + index as u64)
    }

    fn mark_gone(&mut self, gone: u64) {
        let hit = |entry: &&mut Entry| entry.row == Some(gone) || entry.author == Some(gone);
        self.entries.iter_mut().filter(hit).for_each(|entry| entry.is_gone = true);
    }

    fn expire(&mut self, now: Instant) {
        let limits = self.limits;
        while let Some(oldest) = self.entries.front() {
            let is_old = now.saturating_duration_since(oldest.at) > limits.age;
            if !is_old && self.entries.len() <= limits.events && self.bytes <= limits.bytes {
                break;
            }
            self.bytes -= oldest.end - oldest.start;
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

/// The most that is sent as one piece, in bytes: about what a socket takes at once.
const PIECE_MAX: usize = 64 << 10;
