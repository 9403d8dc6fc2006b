//! A small stage for the rules: pages with names ask, time passes by hand, and an answer reads as one short line.
//!
//! A page is named `A`, or `two/A` when it belongs to another stream than the stage's first, `one`. It remembers
//! the seat id it was given, as a browser does, and sends it with its next ask.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tidegate_seats::{
    Answer, Ask, Asker, Beat, BeatAnswer, House, KickAnswer, KickTarget, Lost, NonceHash, Proof, Renewal,
    RenewalAnswer, SeatId, SeatSettings, SettingsRefusal, StreamId, StreamRecord, StreamSettings, StreamStats, Swept,
    TenantLimits,
};

use crate::ids::seat_id;
use crate::rows::Rows;
use crate::words::{in_words, seconds};

pub(crate) use tidegate_seats::Now;

/// What a page says beside its name; the default is a plain ask of a visible page.
#[derive(Clone, Copy, Default)]
pub(crate) struct Says {
    pub(crate) join: bool,
    pub(crate) hidden: bool,
    pub(crate) hls: bool,
    pub(crate) nonce: Option<u8>,
    /// The ask comes from the backend, with or without a viewer's name.
    pub(crate) backend: bool,
    pub(crate) viewer: Option<&'static str>,
    pub(crate) proof: Option<Proof>,
}

/// Takes an open offer.
pub(crate) const JOIN: Says = Says { join: true, ..ASK };
/// A plain ask.
pub(crate) const ASK: Says =
    Says { join: false, hidden: false, hls: false, nonce: None, backend: false, viewer: None, proof: None };
/// An ask of a hidden tab.
pub(crate) const HIDDEN: Says = Says { hidden: true, ..ASK };
/// An ask by the tenant's backend.
pub(crate) const BACKEND: Says = Says { backend: true, ..ASK };

/// What the page of that name holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hand {
    Empty,
    Seat(SeatId),
    /// Text without a seat id's shape.
    Garbage,
}

/// One tenant's house, its clock, its pages and the rows of its store.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) house: House,
    pub(crate) now: Now,
    pub(crate) settings: SeatSettings,
    rows: Rows,
    hands: BTreeMap<String, Hand>,
    ids: u64,
    opened: Instant,
    wall_ahead_s: i64,
}

/// Unix seconds at which every stage opens.
pub(crate) const OPENS: u64 = 1_800_000_000;
/// When the store's memory began: long before, so no token restores anything unless a test says so.
const BIRTH: u64 = OPENS - 86_400;

impl Stage {
    /// A tenant without a cap worth the name, and one public stream `one`.
    pub(crate) fn new(viewer_cap: u32, queue_max: u32) -> Self {
        Self::tenant(1_000_000).stream("one", viewer_cap, queue_max)
    }

    /// A tenant without streams.
    pub(crate) fn tenant(viewer_cap: u32) -> Self {
        Self::tenant_with(viewer_cap, SeatSettings::default())
    }

    /// A tenant without streams, with other times than the spec's.
    pub(crate) fn tenant_with(viewer_cap: u32, settings: SeatSettings) -> Self {
        let rows = Rows::new(viewer_cap, BIRTH);
        let now = Now { at: Instant::now(), unix_s: OPENS };
        let house = House::restore(rows.record(), settings.clone(), now);
        Self { house, now, settings, rows, hands: BTreeMap::new(), ids: 0, opened: now.at, wall_ahead_s: 0 }
    }

    /// Adds a public stream.
    pub(crate) fn stream(mut self, id: &str, viewer_cap: u32, queue_max: u32) -> Self {
        self.open(id, viewer_cap, queue_max).unwrap();
        self
    }

    pub(crate) fn open(&mut self, id: &str, viewer_cap: u32, queue_max: u32) -> Result<(), SettingsRefusal> {
        let record = StreamRecord {
            id: stream_id(id),
            settings: settings_of(id, viewer_cap, queue_max),
            created_at: self.now.unix_s,
            ended_at: None,
            ingest_token_at: None,
            peak: 0,
        };
        let opened = self.house.open_stream(record, self.now);
        self.save();
        opened
    }

    // Pages.

    /// A page's answer, in words.
    pub(crate) fn ask(&mut self, page: &str) -> String {
        self.say(page, ASK)
    }

    /// The answers of several pages, asking in this order.
    pub(crate) fn ask_each(&mut self, pages: &str) -> Vec<String> {
        pages.split(' ').map(|page| self.ask(page)).collect()
    }

    pub(crate) fn join(&mut self, page: &str) -> String {
        self.say(page, JOIN)
    }

    pub(crate) fn say(&mut self, page: &str, says: Says) -> String {
        in_words(&self.answer(page, says))
    }

    /// A page's answer as the engine gave it. Checks that the id in it is the page's own, or a fresh one, never
    /// one that the page chose.
    pub(crate) fn answer(&mut self, page: &str, says: Says) -> Answer {
        let held = self.hand(page);
        let fresh = self.fresh_id();
        let ask = Ask {
            asker: if says.backend { Asker::Backend } else { Asker::Page },
            seat: match held {
                Hand::Empty => None,
                Hand::Seat(seat) => Some(Ok(seat)),
                Hand::Garbage => Some(Err(())),
            },
            proof: says.proof,
            nonce: says.nonce.map(nonce_of),
            viewer: says.viewer,
            join: says.join,
            hidden: says.hidden,
            hls: says.hls,
            fresh,
            token_until: self.now.unix_s + 120,
        };
        let answer = self.house.handle_ask(&stream_of(page), ask, self.now);
        self.save();
        if let Some((seat, lost)) = seat_in(&answer) {
            match (held, lost) {
                (Hand::Seat(own), None) => assert!(seat == own || says.viewer.is_some(), "{page} got another's seat"),
                (Hand::Empty, None) => assert!(seat == fresh || says.nonce.is_some() || says.viewer.is_some()),
                (Hand::Empty, Some(_)) => panic!("{page} held nothing, so it lost nothing"),
                (_, Some(_)) => assert!(seat == fresh || says.viewer.is_some(), "a newcomer's id is fresh"),
                (Hand::Garbage, None) => panic!("garbage names nothing"),
            }
            self.hands.insert(page.into(), Hand::Seat(seat));
        }
        answer
    }

    /// A plain ask of a page that waits: its position, and when it asks again.
    pub(crate) fn place(&mut self, page: &str) -> (u32, Duration) {
        let answer = self.answer(page, ASK);
        let Answer::Wait { position, retry, .. } = answer else { panic!("{page} waits, so no {answer:?}") };
        (position.0.get(), retry.0)
    }

    pub(crate) fn beat(&mut self, page: &str) -> String {
        self.beat_with(page, None, None)
    }

    pub(crate) fn beat_hidden(&mut self, page: &str) -> String {
        self.beat_with(page, Some(true), None)
    }

    pub(crate) fn beat_with(&mut self, page: &str, hidden: Option<bool>, proof: Option<Proof>) -> String {
        let beat = Beat { seat: self.seat(page), proof, hidden, hls: None };
        let answer = self.house.handle_beat(&stream_of(page), beat, self.now);
        self.save();
        match answer {
            BeatAnswer::Kept { next } => format!("kept {}", seconds(next)),
            BeatAnswer::Gone => "gone".into(),
            BeatAnswer::Kicked => "kicked".into(),
            BeatAnswer::StreamEnded => "stream ended".into(),
            BeatAnswer::StreamNotFound => "no such stream".into(),
        }
    }

    pub(crate) fn renew(&mut self, page: &str) -> RenewalAnswer {
        self.renew_with(page, None)
    }

    pub(crate) fn renew_with(&mut self, page: &str, proof: Option<Proof>) -> RenewalAnswer {
        let renewal = Renewal { seat: self.seat(page), proof, token_until: self.now.unix_s + 120 };
        let answer = self.house.handle_renewal(&stream_of(page), renewal, self.now);
        self.save();
        answer
    }

    /// The page says goodbye and forgets its seat, as a page that reloads into a fresh visit would.
    pub(crate) fn leave(&mut self, page: &str) {
        self.leave_but_remember(page);
        self.forget(page);
    }

    pub(crate) fn leave_but_remember(&mut self, page: &str) {
        self.house.handle_leave(&stream_of(page), self.seat(page), self.now);
        self.save();
    }

    pub(crate) fn kick(&mut self, page: &str) -> KickAnswer {
        let target = KickTarget::Seat(self.seat(page));
        let answer = self.house.handle_kick(&stream_of(page), target, self.now);
        self.save();
        answer
    }

    pub(crate) fn kick_viewer(&mut self, stream: &str, viewer: &str) -> KickAnswer {
        let answer = self.house.handle_kick(&stream_id(stream), KickTarget::Viewer(viewer), self.now);
        self.save();
        answer
    }

    /// What a page holds.
    pub(crate) fn seat(&self, page: &str) -> SeatId {
        match self.hand(page) {
            Hand::Seat(seat) => seat,
            Hand::Empty | Hand::Garbage => panic!("{page} holds no seat id"),
        }
    }

    pub(crate) fn forget(&mut self, page: &str) {
        self.hands.remove(page);
    }

    /// Gives a page a seat id, as if it had copied or invented it.
    pub(crate) fn hold(&mut self, page: &str, seat: SeatId) {
        self.hands.insert(page.into(), Hand::Seat(seat));
    }

    pub(crate) fn hold_garbage(&mut self, page: &str) {
        self.hands.insert(page.into(), Hand::Garbage);
    }

    /// A token of the seat that a page holds, issued now.
    pub(crate) fn proof(&self, page: &str) -> Proof {
        Proof { seat: self.seat(page), issued_at: self.now.unix_s, expires_at: self.now.unix_s + 120 }
    }

    // The tenant.

    pub(crate) fn change(&mut self, stream: &str, viewer_cap: u32, queue_max: u32) -> Result<(), SettingsRefusal> {
        let settings = settings_of(stream, viewer_cap, queue_max);
        let changed = self.house.change_stream(&stream_id(stream), settings, self.now);
        self.save();
        changed
    }

    pub(crate) fn change_to_private(&mut self, stream: &str, viewer_cap: u32, queue_max: u32) {
        let settings = StreamSettings { public: false, ..settings_of(stream, viewer_cap, queue_max) };
        self.house.change_stream(&stream_id(stream), settings, self.now).unwrap();
        self.save();
    }

    pub(crate) fn end(&mut self, stream: &str) -> bool {
        let ended = self.house.end_stream(&stream_id(stream), self.now);
        self.save();
        ended
    }

    pub(crate) fn delete(&mut self, stream: &str) -> bool {
        let deleted = self.house.delete_stream(&stream_id(stream), self.now);
        self.save();
        deleted
    }

    pub(crate) fn limit(&mut self, viewer_cap: u32) {
        self.house.set_limits(TenantLimits { viewer_cap }, self.now);
        self.save();
    }

    pub(crate) fn spend_capped(&mut self, capped: bool) {
        self.house.set_spend_capped(capped, self.now);
        self.save();
    }

    // Time.

    /// Time passes with a tick at least every second, as in a store that runs.
    pub(crate) fn pass(&mut self, duration: Duration) {
        let end = self.now.at + duration;
        while self.now.at < end {
            self.drift(Duration::from_secs(1).min(end - self.now.at));
            self.tick();
        }
    }

    /// Time passes without a tick: shorter than 3 s it is a late tick, longer an outage (D2).
    pub(crate) fn drift(&mut self, duration: Duration) {
        self.now.at += duration;
        let passed_s = (self.now.at - self.opened).as_secs();
        self.now.unix_s = (OPENS + passed_s).saturating_add_signed(self.wall_ahead_s);
    }

    pub(crate) fn tick(&mut self) {
        while self.house.handle_timeout(self.now) == Swept::More {}
        self.save();
    }

    /// The wall clock jumps; monotonic time does not notice.
    pub(crate) fn set_wall_clock_ahead(&mut self, seconds: i64) {
        self.wall_ahead_s = seconds;
        self.drift(Duration::ZERO);
    }

    // The store.

    /// The process dies and starts again on its rows; what only memory held is gone.
    pub(crate) fn restart(&mut self) {
        self.house = House::restore(self.rows.record(), self.settings.clone(), self.now);
        self.save();
    }

    /// The store loses every viewer and begins a new memory now (T5).
    pub(crate) fn lose_memory(&mut self) {
        self.rows.birth = self.now.unix_s;
        self.rows.entries.clear();
        self.rows.departed.clear();
        self.rows.kicked_viewers.clear();
        self.restart();
    }

    fn save(&mut self) {
        self.rows.apply(self.house.take_changes());
    }

    // What can be read.

    pub(crate) fn stats(&mut self, stream: &str) -> StreamStats {
        self.tick();
        self.house.stats(&stream_id(stream), self.now).unwrap()
    }

    /// Whether the seat of a page is known to be given up; a page without one has a seat of another house.
    pub(crate) fn is_freed(&mut self, page: &str) -> bool {
        let seat = match self.hand(page) {
            Hand::Seat(seat) => seat,
            Hand::Empty | Hand::Garbage => self.fresh_id(),
        };
        self.house.is_freed(&stream_of(page), seat, self.now)
    }

    /// Seats, line and turns of stream `one`, in words.
    pub(crate) fn counts(&mut self) -> String {
        self.counts_of("one")
    }

    pub(crate) fn counts_of(&mut self, stream: &str) -> String {
        let stats = self.stats(stream);
        format!("seats {}, queued {}, turns {}", stats.seats, stats.queued, stats.turns)
    }

    fn hand(&self, page: &str) -> Hand {
        self.hands.get(page).copied().unwrap_or(Hand::Empty)
    }

    pub(crate) fn fresh_id(&mut self) -> SeatId {
        self.ids += 1;
        seat_id(self.ids)
    }
}

/// Seconds, for tests that read like the spec.
pub(crate) const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn stream_id(id: &str) -> StreamId {
    StreamId::parse(id).unwrap()
}

pub(crate) fn nonce_of(byte: u8) -> NonceHash {
    NonceHash([byte; 16])
}

fn stream_of(page: &str) -> StreamId {
    stream_id(page.split_once('/').map_or("one", |(stream, _)| stream))
}

pub(crate) fn settings_of(name: &str, viewer_cap: u32, queue_max: u32) -> StreamSettings {
    StreamSettings { name: name.into(), viewer_cap, queue_max, public: true, region: None, estimate: false }
}

fn seat_in(answer: &Answer) -> Option<(SeatId, Option<Lost>)> {
    match answer {
        Answer::In { seat, lost } | Answer::Wait { seat, lost, .. } => Some((*seat, *lost)),
        Answer::Offer { seat, .. } => Some((*seat, None)),
        Answer::Full { .. } | Answer::Refused(_) => None,
    }
}
