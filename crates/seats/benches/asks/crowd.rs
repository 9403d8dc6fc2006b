//! A stream and its numbered viewers, who say one thing at a time while virtual time passes.

use std::time::{Duration, Instant};

use tidegate_seats::{
    Answer, Ask, Asker, Beat, BeatAnswer, House, HouseRecord, NonceHash, Now, SeatId, SeatSettings, StreamId,
    StreamRecord, StreamSettings, Swept, TenantId, TenantLimits,
};

pub(crate) struct Crowd {
    house: House,
    stream: StreamId,
    viewers: u32,
    opened: Instant,
    passed: Duration,
    /// How much time passes with each call.
    per_call: Duration,
    next_tick: Duration,
    calls: u32,
}

impl Crowd {
    /// A line and seats for so many viewers.
    pub(crate) fn new(viewers: u32, viewer_cap: u32) -> Self {
        let opened = Instant::now();
        let record = HouseRecord {
            tenant: TenantId::parse("bench").unwrap(),
            limits: TenantLimits { viewer_cap: u32::MAX },
            birth: 0,
            streams: Vec::new(),
            entries: Vec::new(),
            departed: Vec::new(),
            kicked_viewers: Vec::new(),
        };
        let settings = StreamSettings {
            name: String::new(),
            viewer_cap,
            queue_max: viewers,
            public: true,
            region: None,
            estimate: false,
        };
        let stream = StreamId::parse("bench").unwrap();
        let now = Now { at: opened, unix_s: OPENS };
        let mut house = House::restore(record, SeatSettings::default(), now);
        let record = StreamRecord {
            id: stream.clone(),
            settings,
            created_at: OPENS,
            ended_at: None,
            ingest_token_at: None,
            peak: 0,
        };
        house.open_stream(record, now).unwrap();
        let per_call = Duration::from_secs(5) / viewers;
        Self { house, stream, viewers, opened, passed: Duration::ZERO, per_call, next_tick: Duration::ZERO, calls: 0 }
    }

    /// Each of the viewers says something once in this time.
    pub(crate) fn polls_every(&mut self, time: Duration) {
        self.per_call = time / self.viewers;
    }

    pub(crate) fn fills(&mut self, viewers: u32) {
        for viewer in 0..viewers {
            self.comes(viewer);
        }
    }

    pub(crate) fn comes(&mut self, viewer: u32) {
        let answer = self.ask(viewer, None, false);
        assert!(matches!(answer, Answer::In { .. } | Answer::Wait { .. }), "{answer:?}");
    }

    pub(crate) fn asks(&mut self, viewer: u32) {
        let answer = self.ask(viewer, Some(viewer), false);
        assert!(matches!(answer, Answer::Wait { lost: None, .. }), "{answer:?}");
    }

    pub(crate) fn is_offered(&mut self, viewer: u32) {
        let answer = self.ask(viewer, Some(viewer), false);
        assert!(matches!(answer, Answer::Offer { .. }), "{answer:?}");
    }

    pub(crate) fn joins(&mut self, viewer: u32) {
        let answer = self.ask(viewer, Some(viewer), true);
        assert!(matches!(answer, Answer::In { lost: None, .. }), "{answer:?}");
    }

    pub(crate) fn beats(&mut self, viewer: u32) {
        let now = self.time_passes();
        let beat = Beat { seat: seat_of(viewer), proof: None, hidden: None, hls: None };
        assert!(matches!(self.house.handle_beat(&self.stream, beat, now), BeatAnswer::Kept { .. }));
    }

    pub(crate) fn leaves(&mut self, viewer: u32) {
        let now = self.time_passes();
        self.house.handle_leave(&self.stream, seat_of(viewer), now);
    }

    /// A second passes, and the store ticks as often as it must.
    pub(crate) fn second_passes(&mut self, mut each: impl FnMut(Duration)) {
        self.passed += Duration::from_secs(1);
        let now = self.now();
        let mut left = Swept::More;
        while left == Swept::More {
            let started = Instant::now();
            left = self.house.handle_timeout(now);
            each(started.elapsed());
            drop(self.house.take_changes());
        }
    }

    pub(crate) fn queued(&mut self) -> u32 {
        self.second_passes(|_| {});
        self.house.stats(&self.stream, self.now()).unwrap().queued
    }

    fn ask(&mut self, viewer: u32, seat: Option<u32>, join: bool) -> Answer {
        let now = self.time_passes();
        let ask = Ask {
            asker: Asker::Page,
            seat: seat.map(|viewer| Ok(seat_of(viewer))),
            proof: None,
            nonce: Some(NonceHash(*seat_of(viewer ^ 0x5555_5555).bytes())),
            viewer: None,
            join,
            hidden: false,
            hls: false,
            fresh: seat_of(viewer),
            token_until: now.unix_s + 120,
        };
        self.house.handle_ask(&self.stream, ask, now)
    }

    /// Moves the clock on, and ticks each second as a store does. Changes go where a store would write them.
    fn time_passes(&mut self) -> Now {
        self.passed += self.per_call;
        self.calls += 1;
        if self.calls.is_multiple_of(256) {
            drop(self.house.take_changes());
        }
        let now = self.now();
        if self.passed >= self.next_tick {
            self.next_tick = self.passed + Duration::from_secs(1);
            while self.house.handle_timeout(now) == Swept::More {}
        }
        now
    }

    fn now(&self) -> Now {
        Now { at: self.opened + self.passed, unix_s: OPENS + self.passed.as_secs() }
    }
}

fn seat_of(viewer: u32) -> SeatId {
    let spread = (u128::from(viewer) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    SeatId::from_random(spread.to_le_bytes())
}

const OPENS: u64 = 1_800_000_000;
