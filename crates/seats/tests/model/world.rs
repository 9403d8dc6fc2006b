//! One house twice: the engine and the reference hear the same, and must say and hold the same.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tidegate_seats::{
    Answer, Ask, Asker, Beat, House, KickTarget, NonceHash, Now, Position, Proof, Renewal, RetryAfter, SeatId,
    SeatSettings, StreamId, StreamRecord, StreamSettings, Swept, TenantLimits,
};

use crate::command::{Command, Names, Opening, Says};
use crate::ids::seat_id;
use crate::invariants::{self, Before};
use crate::reference::{NEAR_RETRY, Reference};
use crate::rows::Rows;

pub(crate) struct World {
    house: House,
    pub(crate) reference: Reference,
    rows: Rows,
    pub(crate) now: Now,
    opened: Instant,
    streams: Vec<StreamId>,
    pages: BTreeMap<u8, Page>,
    /// The last position told to each seat, and when it was told.
    pub(crate) told: BTreeMap<SeatId, Position>,
    ids: u64,
}

/// What a page remembers: its seat, and its last token.
#[derive(Clone, Copy)]
struct Page {
    seat: SeatId,
    token: Option<Proof>,
}

impl World {
    pub(crate) fn open(opening: &Opening) -> Self {
        let now = Now { at: Instant::now(), unix_s: OPENS };
        let birth = OPENS - 1;
        let settings = if opening.short_times { short_times() } else { SeatSettings::default() };
        let rows = Rows::new(opening.tenant_cap, birth);
        let mut world = Self {
            house: House::restore(rows.record(), settings.clone(), now),
            reference: Reference::new(opening.tenant_cap, birth, settings, now),
            rows,
            now,
            opened: now.at,
            streams: Vec::new(),
            pages: BTreeMap::new(),
            told: BTreeMap::new(),
            ids: 0,
        };
        for (number, (viewer_cap, queue_max)) in opening.streams.iter().enumerate() {
            world.open_stream(number, *viewer_cap, *queue_max);
        }
        world
    }

    fn open_stream(&mut self, number: usize, viewer_cap: u32, queue_max: u32) {
        let id = StreamId::parse(&format!("stream-{number}")).unwrap();
        let record = StreamRecord {
            id: id.clone(),
            settings: settings(viewer_cap, queue_max, true),
            created_at: self.now.unix_s,
            ended_at: None,
            ingest_token_at: None,
            peak: 0,
        };
        assert_eq!(self.house.open_stream(record.clone(), self.now), self.reference.open(record, self.now));
        self.streams.push(id);
        self.compare();
    }

    /// Runs one command on both; panics where they differ or a promise is broken.
    pub(crate) fn run(&mut self, command: Command) {
        let before = Before::of(self);
        self.act(command);
        self.compare();
        invariants::hold(self, &before, command);
    }

    fn act(&mut self, command: Command) {
        let now = self.now;
        match command {
            Command::Ask { page, says } => self.ask(page, says),
            Command::Beat { page, hidden, hls, proof } => {
                let Some(Page { seat, token }) = self.pages.get(&page).copied() else { return };
                let beat = Beat { seat, proof: token.filter(|_| proof), hidden, hls };
                let stream = self.stream_of(page);
                assert_eq!(
                    self.house.handle_beat(&stream, beat.clone(), now),
                    self.reference.beat(&stream, &beat, now)
                );
            }
            Command::Renew { page, proof } => self.renew(page, proof),
            Command::Leave { page } => {
                let Some(Page { seat, .. }) = self.pages.get(&page).copied() else { return };
                let stream = self.stream_of(page);
                self.house.handle_leave(&stream, seat, now);
                self.reference.leave(&stream, seat, now);
            }
            Command::KickSeat { page } => {
                let Some(Page { seat, .. }) = self.pages.get(&page).copied() else { return };
                self.kick(&self.stream_of(page), KickTarget::Seat(seat));
            }
            Command::KickViewer { stream, viewer } => self.kick(&self.stream(stream), KickTarget::Viewer(name(viewer))),
            Command::Forget { page } => drop(self.pages.remove(&page)),
            Command::Pass { ms, tick } => self.pass(ms, tick),
            Command::Change { stream, viewer_cap, queue_max, public } => {
                let (stream, settings) = (self.stream(stream), settings(viewer_cap, queue_max, public));
                let changed = self.house.change_stream(&stream, settings.clone(), now);
                assert_eq!(changed, self.reference.change(&stream, settings, now));
            }
            Command::Limit { viewer_cap } => {
                self.house.set_limits(TenantLimits { viewer_cap }, now);
                self.reference.limit(viewer_cap, now);
            }
            Command::SpendCapped(capped) => {
                self.house.set_spend_capped(capped, now);
                self.reference.set_spend_capped(capped, now);
            }
            Command::End { stream } => {
                let stream = self.stream(stream);
                assert_eq!(self.house.end_stream(&stream, now), self.reference.end(&stream, now));
            }
            Command::Delete { stream } => {
                let stream = self.stream(stream);
                assert_eq!(self.house.delete_stream(&stream, now), self.reference.delete(&stream, now));
            }
            Command::NoteIngestToken { stream } => {
                let stream = self.stream(stream);
                let noted = self.house.note_ingest_token(&stream, now);
                assert_eq!(noted, self.reference.note_ingest_token(&stream, now));
            }
            Command::Restart => self.restart(),
            Command::LoseMemory => {
                self.rows.apply(self.house.take_changes());
                self.rows.birth = now.unix_s;
                self.rows.entries.clear();
                self.rows.departed.clear();
                self.rows.kicked_viewers.clear();
                self.told.clear();
                self.reference.lose_memory(now);
                self.house = House::restore(self.rows.record(), self.reference.settings.clone(), now);
            }
        }
    }

    fn ask(&mut self, page: u8, says: Says) {
        let stream = self.stream(if says.astray { page + 1 } else { page });
        let own = self.pages.get(&page).copied();
        let seat = match says.seat {
            Names::Own => own.map(|page| Ok(page.seat)),
            Names::Nothing => None,
            Names::Garbage => Some(Err(())),
            Names::OfPage(other) => self.pages.get(&other).map(|page| Ok(page.seat)),
        };
        self.ids += 1;
        let ask = Ask {
            asker: if says.backend { Asker::Backend } else { Asker::Page },
            seat,
            proof: own.and_then(|page| page.token).filter(|_| says.proof && !says.astray),
            nonce: says.nonce.map(|nonce| NonceHash([nonce; 16])),
            viewer: says.viewer.map(name),
            join: says.join,
            hidden: says.hidden,
            hls: says.hls,
            fresh: seat_id(self.ids),
            token_until: self.now.unix_s + TOKEN_S,
        };
        let expected = self.reference.ask(&stream, &ask, self.now);
        let answer = self.house.handle_ask(&stream, ask, self.now);
        assert_eq!(without_the_spread(&answer), expected, "the answer to {says:?}");
        self.remember_the_answer(page, says.astray, &answer);
    }

    fn remember_the_answer(&mut self, page: u8, astray: bool, answer: &Answer) {
        let token = |seat| Proof { seat, issued_at: self.now.unix_s, expires_at: self.now.unix_s + TOKEN_S };
        let (seat, token) = match answer {
            Answer::In { seat, .. } => (*seat, Some(token(*seat))),
            Answer::Wait { seat, position, .. } => {
                if let Some(last) = self.told.insert(*seat, *position) {
                    assert!(*position <= last, "S3: a position rose from {last:?} to {position:?}");
                }
                (*seat, None)
            }
            Answer::Offer { seat, .. } => (*seat, None),
            Answer::Full { .. } | Answer::Refused(_) => return,
        };
        // A token is verified as this stream's before the engine sees it, so a page keeps none of another stream.
        self.pages.insert(page, Page { seat, token: token.filter(|_| !astray) });
    }

    fn renew(&mut self, page: u8, proof: bool) {
        let Some(Page { seat, token }) = self.pages.get(&page).copied() else { return };
        let renewal = Renewal { seat, proof: token.filter(|_| proof), token_until: self.now.unix_s + TOKEN_S };
        let stream = self.stream_of(page);
        let answer = self.house.handle_renewal(&stream, renewal.clone(), self.now);
        assert_eq!(answer, self.reference.renew(&stream, &renewal, self.now));
    }

    fn kick(&mut self, stream: &StreamId, target: KickTarget<'_>) {
        let kicked = self.house.handle_kick(stream, target.clone(), self.now);
        assert_eq!(kicked, self.reference.kick(stream, &target, self.now));
    }

    fn pass(&mut self, ms: u64, tick: bool) {
        self.now.at += Duration::from_millis(ms);
        self.now.unix_s = OPENS + (self.now.at - self.opened).as_secs();
        if tick {
            while self.house.handle_timeout(self.now) == Swept::More {}
            self.reference.tick(self.now);
        }
    }

    fn restart(&mut self) {
        self.rows.apply(self.house.take_changes());
        self.house = House::restore(self.rows.record(), self.reference.settings.clone(), self.now);
        let capped = self.reference.spend_capped;
        self.reference.restart(self.now);
        // The spend is counted elsewhere and told again at once.
        self.house.set_spend_capped(capped, self.now);
        self.reference.set_spend_capped(capped, self.now);
    }

    /// Everything that can be read from both, and the rows that the changes left behind.
    fn compare(&mut self) {
        self.rows.apply(self.house.take_changes());
        assert!(self.rows.entries.values().eq(&self.reference.rows()), "the rows: {:#?}", self.rows.entries);
        assert_eq!(self.house.seats_used(), self.reference.used_by_tenant());
        let mut streams: Vec<_> = self.house.streams().cloned().collect();
        streams.sort_by(|one, other| one.id.cmp(&other.id));
        assert_eq!(streams, self.reference.streams);
        for stream in &self.streams {
            assert_eq!(self.house.stats(stream, self.now), self.reference.stats(stream, self.now), "stats of {stream}");
            assert_eq!(self.house.seats(stream, None, usize::MAX), self.reference.seats(stream));
            for page in self.pages.values() {
                let found = self.house.find(stream, Some(page.seat), None, self.now);
                let expected = self.reference.find(stream, Some(page.seat), None, self.now);
                assert_eq!(found, expected.then_some(page.seat), "find");
            }
        }
        self.compare_deadlines();
    }

    fn compare_deadlines(&self) {
        let Some(earliest) = self.reference.earliest_deadline() else { return };
        let next = self.house.poll_timeout().expect("somebody has a deadline");
        assert!(next <= earliest, "poll_timeout is late by {:?}", next - earliest);
    }

    fn stream(&self, number: u8) -> StreamId {
        self.streams[usize::from(number) % self.streams.len()].clone()
    }

    fn stream_of(&self, page: u8) -> StreamId {
        self.stream(page)
    }
}

/// An answer with the level of its retry, whose spread is the engine's own choice within S3's tenth.
fn without_the_spread(answer: &Answer) -> Answer {
    match answer {
        Answer::Wait { seat, position, retry: RetryAfter(retry), lost } => {
            let (low, high) = (NEAR_RETRY.0.mul_f64(0.9), NEAR_RETRY.0.mul_f64(1.1));
            assert!((low..=high).contains(retry), "S3: a retry of {retry:?}");
            Answer::Wait { seat: *seat, position: *position, retry: NEAR_RETRY, lost: *lost }
        }
        Answer::In { .. } | Answer::Offer { .. } | Answer::Full { .. } | Answer::Refused(_) => answer.clone(),
    }
}

fn short_times() -> SeatSettings {
    let s = Duration::from_secs;
    SeatSettings {
        seat_silence: s(6),
        seat_silence_hidden: s(13),
        // No shorter than three retries of 2.2 s, which would lengthen it.
        place_silence: s(7),
        place_silence_hidden: s(12),
        offer: s(4),
        kick_block: s(15),
        departure_memory: s(15),
        departures_max: 1_000,
    }
}

fn settings(viewer_cap: u32, queue_max: u32, public: bool) -> StreamSettings {
    StreamSettings { name: String::new(), viewer_cap, queue_max, public, region: None, estimate: false }
}

fn name(number: u8) -> &'static str {
    ["ann", "bob", "cem"][usize::from(number) % 3]
}

const OPENS: u64 = 1_800_000_000;
/// The life of a token here: long enough to be still good after a loss of memory, short enough to end in a story.
const TOKEN_S: u64 = 12;
