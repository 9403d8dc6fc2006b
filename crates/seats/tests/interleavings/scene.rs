//! One state of the checked world: a house, three pages, and what the last act broke.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use tidegate_seats::{
    Answer, Ask, Asker, Beat, EntryRecord, House, KickTarget, Now, SeatId, SeatSettings, StandingRecord, StreamId,
    StreamRecord, StreamSettings, StreamStats, Swept,
};

use crate::ids::seat_id;
use crate::rows::Rows;

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Ask(usize),
    Join(usize),
    Beat(usize),
    Leave(usize),
    Kick(usize),
    /// The page closes without a word, and the next visit knows nothing of it.
    Forget(usize),
    SetCap(u32),
    /// The process dies and starts again on its rows.
    Restart,
    /// Three seconds pass, and the store ticks.
    Step,
}

#[derive(Clone)]
pub(crate) struct Scene {
    house: House,
    rows: Rows,
    now: Now,
    pub(crate) pages: [Page; 3],
    ids: u64,
    /// The promise that the last act broke.
    pub(crate) broken: Option<&'static str>,
    picture: Vec<String>,
}

/// What a page remembers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Page {
    pub(crate) seat: Option<SeatId>,
    position: Option<u32>,
    /// Steps since it was last heard, as far as they matter.
    pub(crate) silent: u8,
}

impl Scene {
    pub(crate) fn open(viewer_cap: u32, queue_max: u32) -> Self {
        let rows = Rows::new(100, 0);
        let now = Now { at: opening(), unix_s: OPENS };
        let mut house = House::restore(rows.record(), times(), now);
        let record = StreamRecord {
            id: stream(),
            settings: settings(viewer_cap, queue_max),
            created_at: OPENS,
            ended_at: None,
            ingest_token_at: None,
            peak: 0,
        };
        house.open_stream(record, now).unwrap();
        let (pages, picture) = ([Page::default(); 3], Vec::new());
        let mut scene = Self { house, rows, now, pages, ids: 0, broken: None, picture };
        scene.keep();
        scene.picture = scene.draw();
        scene
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages.len()
    }

    pub(crate) fn holds_a_seat_id(&self, page: usize) -> bool {
        self.pages[page].seat.is_some()
    }

    /// Whether anybody stands so.
    pub(crate) fn shows(&self, standing: StandingRecord) -> bool {
        self.entries().any(|entry| entry.standing == standing)
    }

    pub(crate) fn line_is_full(&self) -> bool {
        self.stats().queued == self.stats().queue_max
    }

    pub(crate) fn somebody_is_gone(&self) -> bool {
        (0..self.pages.len()).any(|page| self.pages[page].seat.is_some() && self.entry(page).is_none())
    }

    /// The scene after one act, with what the act broke.
    pub(crate) fn after(&self, act: Act) -> Self {
        let mut next = self.clone();
        next.act(act);
        next.picture = next.draw();
        next.broken = next.broken.or(next.breaks_a_promise(self, act));
        next
    }

    pub(crate) fn act(&mut self, act: Act) {
        self.hear(act);
        self.keep();
    }

    fn hear(&mut self, act: Act) {
        match act {
            Act::Ask(page) => self.ask(page, false),
            Act::Join(page) => self.ask(page, true),
            Act::Beat(page) => {
                let seat = self.pages[page].seat.unwrap();
                self.house.handle_beat(&stream(), Beat { seat, proof: None, hidden: None, hls: None }, self.now);
                self.pages[page].silent = 0;
            }
            Act::Leave(page) => {
                let seat = std::mem::take(&mut self.pages[page]).seat.unwrap();
                self.house.handle_leave(&stream(), seat, self.now);
            }
            Act::Kick(page) => {
                let seat = std::mem::take(&mut self.pages[page]).seat.unwrap();
                self.house.handle_kick(&stream(), KickTarget::Seat(seat), self.now);
            }
            Act::Forget(page) => self.pages[page] = Page::default(),
            Act::SetCap(cap) => {
                let queue_max = self.stats().queue_max;
                self.house.change_stream(&stream(), settings(cap, queue_max), self.now).unwrap();
            }
            Act::Restart => {
                self.house = House::restore(self.rows.record(), times(), self.now);
                self.pages.iter_mut().for_each(|page| page.silent = 0);
            }
            Act::Step => {
                self.now.at += STEP;
                self.now.unix_s += STEP.as_secs();
                while self.house.handle_timeout(self.now) == Swept::More {}
                for page in &mut self.pages {
                    page.silent = (page.silent + 1).min(SEAT_STEPS);
                }
            }
        }
    }

    fn ask(&mut self, page: usize, join: bool) {
        self.ids += 1;
        let Page { seat, position: last, .. } = self.pages[page];
        let ask = Ask {
            asker: Asker::Page,
            seat: seat.map(Ok),
            proof: None,
            nonce: None,
            viewer: None,
            join,
            hidden: false,
            hls: false,
            fresh: seat_id(self.ids),
            token_until: self.now.unix_s + 120,
        };
        let answer = self.house.handle_ask(&stream(), ask, self.now);
        let (seat, position) = match answer {
            Answer::In { seat, .. } | Answer::Offer { seat, .. } => (Some(seat), None),
            Answer::Wait { seat, position, lost, .. } => {
                let position = position.0.get();
                if lost.is_none() && last.is_some_and(|last| position > last) {
                    self.broken = Some("S3: a position rose");
                }
                (Some(seat), Some(position))
            }
            Answer::Full { .. } | Answer::Refused(_) => (None, None),
        };
        self.pages[page] = Page { seat, position, silent: 0 };
    }

    /// Keeps the rows, and forgets of pages what makes no difference any more.
    fn keep(&mut self) {
        self.rows.apply(self.house.take_changes());
        for page in &mut self.pages {
            if !self.rows.entries.values().any(|entry| page.seat == Some(entry.seat)) {
                *page = Page { seat: page.seat, position: None, silent: 0 };
            }
        }
    }

    /// Entries in order of coming, with what their page was told and when they would end by silence; pages without a
    /// living entry are alike. Pages are interchangeable, so they have no names here.
    fn draw(&self) -> Vec<String> {
        let mut picture = vec![format!("cap {}", self.stats().cap)];
        let ends = self.ends_by_silence();
        for entry in self.entries() {
            let page = self.pages.iter().find(|page| page.seat == Some(entry.seat));
            let told = page.map(|page| (page.position, page.silent));
            let steps = ends.iter().take_while(|alive| alive.contains(&entry.seat)).count();
            picture.push(format!("{:?} {told:?} {steps}", entry.standing));
        }
        let stale = self.pages.iter().filter(|page| page.seat.is_some()).count();
        picture.push(format!("{stale} hold a seat id"));
        picture
    }

    /// Who would still be there after each step of silence: the deadlines, as far as anybody can see them.
    fn ends_by_silence(&self) -> Vec<Vec<SeatId>> {
        let mut silence = self.clone();
        let mut ends = Vec::new();
        for _ in 0..=PLACE_STEPS {
            silence.act(Act::Step);
            ends.push(silence.entries().map(|entry| entry.seat).collect());
        }
        ends
    }

    pub(crate) fn waits(&self, page: usize) -> bool {
        self.entry(page).is_some_and(|entry| entry.standing != StandingRecord::Seated)
    }

    pub(crate) fn is_seated(&self, page: usize) -> bool {
        self.entry(page).is_some_and(|entry| entry.standing == StandingRecord::Seated)
    }

    fn entry(&self, page: usize) -> Option<&EntryRecord> {
        self.entries().find(|entry| Some(entry.seat) == self.pages[page].seat)
    }

    /// In order of coming.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &EntryRecord> {
        self.rows.entries.values()
    }

    pub(crate) fn stats(&self) -> StreamStats {
        self.house.stats(&stream(), self.now).unwrap()
    }
}

/// Two scenes that look the same go on the same way.
impl PartialEq for Scene {
    fn eq(&self, other: &Self) -> bool {
        (&self.picture, self.broken) == (&other.picture, other.broken)
    }
}

impl Hash for Scene {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.picture, self.broken).hash(state);
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:?}", self.picture, self.broken)
    }
}

fn stream() -> StreamId {
    StreamId::parse("stream").unwrap()
}

fn settings(viewer_cap: u32, queue_max: u32) -> StreamSettings {
    StreamSettings { name: String::new(), viewer_cap, queue_max, public: true, region: None, estimate: false }
}

/// Every time is a whole number of steps.
fn times() -> SeatSettings {
    SeatSettings {
        seat_silence: STEP * u32::from(SEAT_STEPS),
        place_silence: STEP * PLACE_STEPS,
        offer: STEP * OFFER_STEPS,
        ..SeatSettings::default()
    }
}

/// All scenes share one clock's beginning.
fn opening() -> Instant {
    static OPENING: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *OPENING.get_or_init(Instant::now)
}

const OPENS: u64 = 1_800_000_000;
/// As long as may pass without a tick (D2).
const STEP: Duration = Duration::from_secs(3);
pub(crate) const SEAT_STEPS: u8 = 2;
/// No shorter than three retries of 2.2 s, which would lengthen it.
pub(crate) const PLACE_STEPS: u32 = 3;
pub(crate) const OFFER_STEPS: u32 = 2;
