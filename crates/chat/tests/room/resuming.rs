//! Any schedule of batches, reads, losses and returns: nothing twice, nothing missing (C8).

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidegate_chat::event::{Event, Kind};
use tidegate_chat::room::{EventId, Read, Ring, RingLimits, Start};

use crate::made::messages;
use crate::ring::EPOCH;

#[derive(Clone, Debug)]
enum Step {
    /// So many events at once.
    Push(u64),
    /// The viewer reads so many pieces.
    Read(usize),
    /// The connection breaks within the frames of the last piece read, and the viewer comes back.
    Break(usize),
    /// Time passes, in seconds.
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..300u64).prop_map(Step::Push),
        4 => (1..20usize).prop_map(Step::Read),
        2 => (0..400usize).prop_map(Step::Break),
        1 => (1..90u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..120)
}

/// A viewer as it sees itself: the resume point, and the numbers of the rows that it got, `None` for a gap.
#[derive(Default)]
struct Viewer {
    last: Option<EventId>,
    got: Vec<Option<u64>>,
}

impl Viewer {
    /// Takes the first so many whole frames of a piece; the rest is lost with the connection.
    fn take(&mut self, piece: &[u8], frames: usize) {
        let text = std::str::from_utf8(piece).unwrap();
        for frame in text.split_terminator("\n\n").take(frames) {
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            self.last = Some(EventId::parse(field("id: ")).unwrap());
            let event: Event = serde_json::from_str(field("data: ")).unwrap();
            self.got.push(match event.kind {
                Kind::Gap(_) => None,
                _ => Some(event.id.unwrap()[1..].parse().unwrap()),
            });
        }
    }

    fn start(&self) -> Start {
        self.last.map_or(Start::Newest, Start::After)
    }

    /// Rows in order, none twice, none missing except at a gap, and no gap for nothing.
    fn check(&self) {
        let (mut before, mut gap) = (None, false);
        for got in &self.got {
            let Some(number) = *got else {
                gap = true;
                continue;
            };
            let next = before.map(|before| before + 1);
            let fits = next.is_none_or(|next| if gap { number > next } else { number == next });
            assert!(fits, "{number} after {before:?}, gap: {gap}");
            (before, gap) = (Some(number), false);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn c8_resuming_anywhere_gives_nothing_twice_and_misses_nothing(steps in steps()) {
        let limits = RingLimits { events: 700, ..RingLimits::default() };
        let (mut ring, mut now) = (Ring::new(EPOCH, limits), Instant::now());
        let mut cursor = ring.enter(Start::Newest, now);
        let (mut viewer, mut made) = (Viewer::default(), 0);
        for step in steps {
            match step {
                Step::Push(events) => {
                    ring.push(&messages(made..made + events, 0), now);
                    made += events;
                }
                Step::Read(pieces) => {
                    for _ in 0..pieces {
                        if let Read::Frames(piece) = ring.read(&mut cursor) {
                            viewer.take(&piece, usize::MAX);
                        }
                    }
                }
                Step::Break(frames) => {
                    if let Read::Frames(piece) = ring.read(&mut cursor) {
                        viewer.take(&piece, frames);
                    }
                    cursor = ring.enter(viewer.start(), now);
                }
                Step::Pass(seconds) => now += Duration::from_secs(seconds),
            }
        }
        while let Read::Frames(piece) = ring.read(&mut cursor) {
            viewer.take(&piece, usize::MAX);
        }
        viewer.check();
        prop_assert!(viewer.got.is_empty() || viewer.last == Some(ring.newest()));
    }
}
