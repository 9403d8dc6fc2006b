//! The rules of seats, as plainly as they can be said: one list of entries in order of coming, searched from end to
//! end; every deadline written out; nothing counted, indexed or remembered that could be looked up.
//!
//! It shares no code with the engine beyond the words of its questions and answers.

mod asks;
mod tenant;
mod time;
mod turns;

pub(crate) use asks::NEAR_RETRY;

use std::time::{Duration, Instant};

use tidegate_seats::{
    Arrival, Departure, EntryRecord, NonceHash, Now, SeatId, SeatListing, SeatSettings, StandingRecord, StreamId,
    StreamRecord, StreamStats, TurnKind,
};

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) settings: SeatSettings,
    pub(crate) tenant_cap: u32,
    pub(crate) spend_capped: bool,
    pub(crate) streams: Vec<StreamRecord>,
    /// In order of coming.
    pub(crate) entries: Vec<Entry>,
    birth: u64,
    departed: Vec<Departed>,
    blocked: Vec<Blocked>,
    next_arrival: u64,
    now: Now,
    last_tick: Instant,
    outage_ended: Instant,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) arrival: Arrival,
    pub(crate) stream: StreamId,
    pub(crate) seat: SeatId,
    pub(crate) nonce: Option<NonceHash>,
    pub(crate) viewer: Option<String>,
    pub(crate) place: Place,
    pub(crate) since: u64,
    pub(crate) hidden: bool,
    pub(crate) hls: bool,
    pub(crate) token_until: u64,
    pub(crate) due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Waiting(Option<TurnKind>),
    Offered,
    /// A told offer whose seconds stand still (S15), with what is left of them.
    Frozen(Duration),
    Seated,
}

#[derive(Clone, Debug)]
struct Departed {
    stream: StreamId,
    seat: SeatId,
    why: Departure,
    until: Until,
}

#[derive(Clone, Debug)]
struct Blocked {
    stream: StreamId,
    viewer: String,
    until: Until,
}

/// An end on both clocks: the monotonic one decides, the other is what a row keeps.
#[derive(Clone, Copy, Debug)]
struct Until {
    at: Instant,
    unix_s: u64,
}

impl Reference {
    pub(crate) fn new(tenant_cap: u32, birth: u64, settings: SeatSettings, now: Now) -> Self {
        Self {
            settings,
            tenant_cap,
            spend_capped: false,
            streams: Vec::new(),
            entries: Vec::new(),
            birth,
            departed: Vec::new(),
            blocked: Vec::new(),
            next_arrival: 1,
            now,
            last_tick: now.at,
            outage_ended: now.at,
        }
    }

    pub(crate) fn stats(&self, stream: &StreamId, now: Now) -> Option<StreamStats> {
        let record = self.stream(stream)?;
        let seated = || self.of(stream).filter(|entry| entry.place == Place::Seated);
        Some(StreamStats {
            cap: record.settings.viewer_cap,
            queue_max: record.settings.queue_max,
            seats: count(seated()),
            hls: count(seated().filter(|entry| entry.hls)),
            queued: count(self.line(stream)),
            turns: count(self.of(stream).filter(|entry| entry.has_turn())),
            peak: record.peak,
            seats_with_tokens: count(seated().filter(|entry| entry.token_until > now.unix_s)),
        })
    }

    pub(crate) fn seats(&self, stream: &StreamId) -> Vec<SeatListing> {
        let seated = self.of(stream).filter(|entry| entry.place == Place::Seated);
        let listing = |entry: &Entry| SeatListing {
            arrival: entry.arrival,
            seat: entry.seat,
            viewer: entry.viewer.clone(),
            since: entry.since,
            hidden: entry.hidden,
            hls: entry.hls,
        };
        seated.map(listing).collect()
    }

    pub(crate) fn rows(&self) -> Vec<EntryRecord> {
        let row = |entry: &Entry| EntryRecord {
            arrival: entry.arrival,
            stream: entry.stream.clone(),
            seat: entry.seat,
            nonce: entry.nonce,
            viewer: entry.viewer.clone(),
            standing: match entry.place {
                Place::Waiting(turn) => StandingRecord::Waiting { turn },
                Place::Offered | Place::Frozen(_) => StandingRecord::Offered,
                Place::Seated => StandingRecord::Seated,
            },
            since: entry.since,
            hidden: entry.hidden,
            hls: entry.hls,
            token_until: entry.token_until,
        };
        self.entries.iter().map(row).collect()
    }

    pub(crate) fn find(&self, stream: &StreamId, seat: Option<SeatId>, nonce: Option<NonceHash>, now: Now) -> bool {
        let named = |entry: &Entry| match seat {
            Some(seat) => entry.seat == seat,
            None => nonce.is_some() && entry.nonce == nonce,
        };
        self.of(stream).any(|entry| named(entry) && (!self.is_over(entry, now) || self.is_outage(now)))
    }

    pub(crate) fn earliest_deadline(&self) -> Option<Instant> {
        let runs = |entry: &&Entry| !matches!(entry.place, Place::Frozen(_));
        self.entries.iter().filter(runs).map(|entry| entry.due).min()
    }

    /// Seats, offers and holds of one stream.
    pub(crate) fn used(&self, stream: &StreamId) -> u32 {
        count(self.of(stream).filter(|entry| entry.takes_a_seat()))
    }

    /// Seats, offers and holds of all streams.
    pub(crate) fn used_by_tenant(&self) -> u32 {
        count(self.entries.iter().filter(|entry| entry.takes_a_seat()))
    }

    pub(crate) fn stream(&self, stream: &StreamId) -> Option<&StreamRecord> {
        self.streams.iter().find(|record| record.id == *stream)
    }

    fn stream_mut(&mut self, stream: &StreamId) -> Option<&mut StreamRecord> {
        self.streams.iter_mut().find(|record| record.id == *stream)
    }

    /// A stream's entries, in order of coming.
    pub(crate) fn of(&self, stream: &StreamId) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.stream == *stream)
    }

    /// A stream's line, from its head: a told offer stands in it no more (S6).
    pub(crate) fn line(&self, stream: &StreamId) -> impl Iterator<Item = &Entry> {
        self.of(stream).filter(|entry| matches!(entry.place, Place::Waiting(_)))
    }

    fn index_of(&self, arrival: Arrival) -> Option<usize> {
        self.entries.iter().position(|entry| entry.arrival == arrival)
    }

    fn index_where(&self, stream: &StreamId, wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
        self.entries.iter().position(|entry| entry.stream == *stream && wanted(entry))
    }

    fn cap(&self, stream: &StreamId) -> u32 {
        self.stream(stream).map_or(0, |record| record.settings.viewer_cap)
    }
}

impl Entry {
    pub(crate) fn has_turn(&self) -> bool {
        matches!(self.place, Place::Waiting(Some(_)) | Place::Offered | Place::Frozen(_))
    }

    pub(crate) fn takes_a_seat(&self) -> bool {
        self.place != Place::Waiting(None)
    }
}

fn count<'a>(entries: impl Iterator<Item = &'a Entry>) -> u32 {
    u32::try_from(entries.count()).unwrap()
}
