//! What may happen to a house, and how often.

use proptest::prelude::*;

/// One thing that happens. Pages, streams and names are numbers, so that any list of commands makes sense and a
/// failing one shrinks to a short story.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    Ask {
        page: u8,
        says: Says,
    },
    Beat {
        page: u8,
        hidden: Option<bool>,
        hls: Option<bool>,
        proof: bool,
    },
    Renew {
        page: u8,
        proof: bool,
    },
    Leave {
        page: u8,
    },
    KickSeat {
        page: u8,
    },
    KickViewer {
        stream: u8,
        viewer: u8,
    },
    /// The page forgets its seat, as a fresh visit does.
    Forget {
        page: u8,
    },
    /// Time passes, with or without a tick at its end.
    Pass {
        ms: u64,
        tick: bool,
    },
    Change {
        stream: u8,
        viewer_cap: u32,
        queue_max: u32,
        public: bool,
    },
    Limit {
        viewer_cap: u32,
    },
    SpendCapped(bool),
    End {
        stream: u8,
    },
    Delete {
        stream: u8,
    },
    NoteIngestToken {
        stream: u8,
    },
    Restart,
    LoseMemory,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Says {
    pub(crate) seat: Names,
    /// To the next stream instead of the page's own.
    pub(crate) astray: bool,
    pub(crate) join: bool,
    pub(crate) hidden: bool,
    pub(crate) hls: bool,
    pub(crate) backend: bool,
    pub(crate) nonce: Option<u8>,
    pub(crate) viewer: Option<u8>,
    pub(crate) proof: bool,
}

/// Which seat id an ask carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names {
    Own,
    Nothing,
    Garbage,
    OfPage(u8),
}

/// How a house begins.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) tenant_cap: u32,
    /// `viewer_cap` and `queue_max` of each stream.
    pub(crate) streams: Vec<(u32, u32)>,
    /// Short times let a story of a few dozen commands see every deadline; the spec's own are tried as well.
    pub(crate) short_times: bool,
}

pub(crate) fn opening() -> impl Strategy<Value = Opening> {
    // Few seats over all: the tenant's cap is often the one that binds.
    (1..6_u32, prop::collection::vec((0..4_u32, 0..5_u32), 1..=3), prop::bool::weighted(0.8)).prop_map(
        |(tenant_cap, streams, short_times)| {
            let streams = streams.into_iter().map(|(cap, line)| (cap.min(tenant_cap), line)).collect();
            Opening { tenant_cap, streams, short_times }
        },
    )
}

pub(crate) fn story() -> impl Strategy<Value = Vec<Command>> {
    // The number of pages is drawn first: a story of two pages meets itself more often than one of twelve.
    (1..=12_u8).prop_flat_map(|pages| prop::collection::vec(command(pages), 1..80))
}

fn command(pages: u8) -> impl Strategy<Value = Command> {
    let page = 0..pages;
    prop_oneof![
        40 => (page.clone(), says(pages)).prop_map(|(page, says)| Command::Ask { page, says }),
        14 => (1..=100_u64).prop_map(|dice| Command::Pass { ms: (1 + dice % 12) * 250, tick: dice > 12 }),
        8 => (page.clone(), 0..18_u8).prop_map(|(page, says)| Command::Beat {
            page,
            hidden: perhaps(says % 3),
            hls: perhaps(says / 3 % 3),
            proof: says >= 9,
        }),
        3 => (page.clone(), any::<bool>()).prop_map(|(page, proof)| Command::Renew { page, proof }),
        8 => page.clone().prop_map(|page| Command::Leave { page }),
        3 => page.clone().prop_map(|page| Command::KickSeat { page }),
        2 => (0..3_u8, 0..3_u8).prop_map(|(stream, viewer)| Command::KickViewer { stream, viewer }),
        3 => page.prop_map(|page| Command::Forget { page }),
        4 => (0..3_u8, 0..125_u32).prop_map(|(stream, dice)| Command::Change {
            stream,
            viewer_cap: dice % 5,
            queue_max: dice / 5 % 5,
            public: dice / 25 < 4,
        }),
        3 => (0..6_u32).prop_map(|viewer_cap| Command::Limit { viewer_cap }),
        4 => (0..5_u8).prop_map(|dice| Command::SpendCapped(dice >= 3)),
        1 => (0..3_u8, 0..6_u8).prop_map(|(stream, dice)| match dice {
            0 => Command::End { stream },
            1 => Command::Delete { stream },
            _ => Command::NoteIngestToken { stream },
        }),
        1 => (3_100..70_000_u64, any::<bool>()).prop_map(|(ms, tick)| Command::Pass { ms, tick }),
        2 => Just(Command::Restart),
        1 => Just(Command::LoseMemory),
    ]
}

fn perhaps(dice: u8) -> Option<bool> {
    [None, Some(false), Some(true)][usize::from(dice)]
}

/// One number holds all that an ask says: drawing each word by itself would take longer than the engine's work.
/// It shrinks towards zero, the plain ask.
fn says(pages: u8) -> impl Strategy<Value = Says> {
    any::<u32>().prop_map(move |bits| {
        let eighths = |word: u32| u8::try_from(bits >> (3 * word) & 7).unwrap();
        let page = eighths(9) % pages;
        Says {
            seat: match eighths(8) {
                0..=5 => Names::Own,
                6 => Names::Nothing,
                _ if eighths(7) < 4 => Names::Garbage,
                _ => Names::OfPage(page),
            },
            astray: eighths(6) == 7 && eighths(9) >= 6,
            join: eighths(0) >= 5,
            hidden: eighths(1) >= 6,
            hls: eighths(2) >= 6,
            backend: eighths(3) >= 6,
            nonce: eighths(4).checked_sub(5),
            viewer: eighths(5).checked_sub(6),
            proof: eighths(6) >= 5,
        }
    })
}
