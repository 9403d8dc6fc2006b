//! Whether promises were kept, as far as it can be proved from outside.
//!
//! The server decides somewhere between the sending of a call and the coming of its answer, and this side knows
//! only these two moments (on one clock for all viewers). So everything here is a bound that holds wherever in
//! between the decision fell; what cannot be proved is not counted.
//!
//! - *In* is proved from the coming of the `201` until the leave is sent, or, without one, until 20 s (hidden 60 s)
//!   after the sending of the last call that kept the seat: before that the server may not end it (S18).
//! - *Earlier* is proved when one's first answer came before the other's first ask was sent.
//! - *Lost without cause* is proved when the answer that says so came before the silence could have been too long.
//!
//! The times are the spec's defaults; a server set to shorter ones is judged by the longer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::Instant;

use crate::load::book::histogram;
use crate::load::told::Told;

/// A promise of the product that an outside view can see broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Promise {
    /// S3: a position grew while its owner kept asking.
    PositionRose,
    /// S1: a seat that was kept was gone.
    SeatLost,
    /// S3: a place that was kept was gone.
    PlaceLost,
    /// S5: an offer was gone before its time.
    OfferLost,
    /// S7: a later one got an offer or seat while an earlier one waited without.
    OrderBroken,
    /// S6: more were in than there are seats.
    OverCap,
    /// Whatever a client sends, never a 5xx.
    ServerError,
}

impl Promise {
    /// All of them, in the order of the summary.
    pub(crate) const ALL: [Self; 7] = [
        Self::PositionRose,
        Self::SeatLost,
        Self::PlaceLost,
        Self::OfferLost,
        Self::OrderBroken,
        Self::OverCap,
        Self::ServerError,
    ];

    /// Its key in the JSON summary.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::PositionRose => "positions_risen",
            Self::SeatLost => "seats_lost",
            Self::PlaceLost => "places_lost",
            Self::OfferLost => "offers_lost",
            Self::OrderBroken => "order_broken",
            Self::OverCap => "over_cap",
            Self::ServerError => "server_errors",
        }
    }
}

/// What is known from outside about one seat id.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) seat: String,
    standing: Standing,
    /// The server has known it from this moment at the earliest, and from the other at the latest.
    came_after: Instant,
    came_by: Instant,
    /// Before this moment the server may not end it for its silence.
    kept_until: Instant,
    /// The answer before was lost, so this may not be the first telling of an offer.
    missed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Standing {
    New,
    Waiting {
        position: u32,
    },
    /// `lapses`: its owner will let it lapse, so its seat is counted as freed then.
    Offered {
        until: Instant,
        lapses: bool,
    },
    Seated {
        since: Instant,
        kept_at: Instant,
    },
}

/// One ask, as noted before it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) viewer: u32,
    /// The first ask that could have made the entry was sent after this.
    pub(crate) first: Instant,
    pub(crate) hidden: bool,
    latest_granted: Option<Instant>,
}

/// The two moments around a server's decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) sent: Instant,
    pub(crate) got: Instant,
}

/// Keeps what every viewer was told, and compares.
pub(crate) struct Judge {
    /// Of those who were given a seat or an offer: the latest moment after which one came.
    latest_granted: Option<Instant>,
    /// A lowered cap withdraws untold offers (S10), after which order proves nothing.
    order_counts: bool,
    /// From when to when each seat was certainly held.
    held: Vec<(Instant, Instant)>,
    /// When seats were freed that nobody was told of yet.
    freed: BinaryHeap<Reverse<Instant>>,
    /// Milliseconds from a freed seat to the telling of its offer.
    pub(crate) offer_told: Histogram<u64>,
    broken: BTreeMap<Promise, Broken>,
}

#[derive(Default)]
struct Broken {
    times: u64,
    examples: Vec<String>,
}

impl Judge {
    pub(crate) fn new() -> Self {
        Self {
            latest_granted: None,
            order_counts: true,
            held: Vec::new(),
            freed: BinaryHeap::new(),
            offer_told: histogram(LONGEST_TO_OFFER),
            broken: BTreeMap::new(),
        }
    }

    /// Notes an ask that is about to be sent. `first` is when the first one of its nonce or seat was.
    pub(crate) const fn asking(&self, viewer: u32, first: Instant, hidden: bool) -> Asked {
        Asked { viewer, first, hidden, latest_granted: self.latest_granted }
    }

    /// Compares the answer to an ask with what was known, and returns what is known now.
    pub(crate) fn ask_answered(&mut self, known: Option<Entry>, ask: &Asked, told: &Told, span: Span) -> Option<Entry> {
        match told {
            Told::In { seat, .. } => Some(self.seated(known, ask, seat, span)),
            Told::Wait { seat, position, .. } => Some(self.waits(known, ask, seat, *position, span)),
            Told::Offer { seat, left, .. } => Some(self.offered(known, ask, seat, *left, span)),
            Told::Full { .. } => {
                self.gone(known, ask.viewer, span);
                None
            }
            Told::Closed | Told::Gone => {
                self.closed(known);
                None
            }
            Told::Problem { .. } | Told::Kept { .. } | Told::Renewed { .. } | Told::Done => known,
        }
    }

    /// A heartbeat kept the seat.
    pub(crate) fn beat_kept(&mut self, entry: &mut Entry, hidden: bool, span: Span) {
        if let Standing::Seated { kept_at, .. } = &mut entry.standing {
            *kept_at = span.sent;
            entry.kept_until = span.sent + seat_silence(hidden);
        }
    }

    /// No answer came to a call sent after `begun`. If the server took it, its silence counts from there.
    pub(crate) fn unanswered(&mut self, entry: &mut Entry, hidden: bool, begun: Instant) {
        let silence = match entry.standing {
            Standing::Seated { .. } => seat_silence(hidden),
            Standing::New | Standing::Waiting { .. } | Standing::Offered { .. } => place_silence(hidden),
        };
        entry.kept_until = entry.kept_until.min(begun + silence);
        entry.missed = true;
    }

    /// The server said that the entry is gone.
    pub(crate) fn gone(&mut self, known: Option<Entry>, viewer: u32, span: Span) {
        let Some(entry) = known else { return };
        let (promise, until, what) = match entry.standing {
            Standing::Seated { .. } => (Promise::SeatLost, entry.kept_until, "seat"),
            Standing::New | Standing::Waiting { .. } => (Promise::PlaceLost, entry.kept_until, "place"),
            Standing::Offered { until, .. } => (Promise::OfferLost, until.min(entry.kept_until), "offer"),
        };
        if span.got < until {
            let early = (until - span.got).as_millis();
            self.note(promise, || format!("viewer {viewer}: its {what} was gone {early} ms early"));
        }
        self.closed(Some(entry));
    }

    /// The viewer leaves with a call that is about to be sent. Returns when its seat, if it had one, is free should
    /// the call be lost.
    #[must_use]
    pub(crate) fn left(&mut self, known: Option<Entry>, now: Instant) -> Option<Instant> {
        let entry = known?;
        match entry.standing {
            Standing::Seated { since, .. } => {
                self.held.push((since, now.min(entry.kept_until)));
                Some(entry.kept_until)
            }
            Standing::Offered { lapses: false, until } => Some(until),
            Standing::Offered { lapses: true, .. } | Standing::New | Standing::Waiting { .. } => None,
        }
    }

    /// A seat is free from this moment on.
    pub(crate) fn freed(&mut self, at: Instant) {
        self.freed.push(Reverse(at));
    }

    /// The viewer goes without a word.
    pub(crate) fn crashed(&mut self, known: Option<Entry>) {
        let Some(entry) = known else { return };
        match entry.standing {
            Standing::Seated { since, .. } => {
                self.held.push((since, entry.kept_until));
                self.freed.push(Reverse(entry.kept_until));
            }
            Standing::Offered { lapses: false, until } => self.freed.push(Reverse(until)),
            Standing::Offered { lapses: true, .. } | Standing::New | Standing::Waiting { .. } => {}
        }
    }

    /// The viewer lets its offer lapse: the next in line is due then.
    pub(crate) fn will_lapse(&mut self, entry: &mut Entry) {
        if let Standing::Offered { until, lapses } = &mut entry.standing {
            *lapses = true;
            self.freed.push(Reverse(*until));
        }
    }

    /// A lowered cap was seen.
    pub(crate) const fn cap_lowered(&mut self) {
        self.order_counts = false;
    }

    /// Counts a broken promise; the first few are told in words.
    pub(crate) fn note(&mut self, promise: Promise, say: impl FnOnce() -> String) {
        let broken = self.broken.entry(promise).or_default();
        broken.times += 1;
        if broken.examples.len() < EXAMPLES_MAX {
            broken.examples.push(say());
        }
    }

    /// How often a promise was seen broken.
    pub(crate) fn times_broken(&self, promise: Promise) -> u64 {
        self.broken.get(&promise).map_or(0, |broken| broken.times)
    }

    /// The first few broken ones, in words.
    pub(crate) fn examples(&self) -> impl Iterator<Item = &str> {
        self.broken.values().flat_map(|broken| broken.examples.iter().map(String::as_str))
    }

    /// The most seats that were certainly held at one instant.
    pub(crate) fn most_in(&self) -> u32 {
        let mut steps: Vec<(Instant, i32)> =
            self.held.iter().filter(|(from, to)| from < to).flat_map(|&(from, to)| [(from, 1), (to, -1)]).collect();
        // At one instant the goings count before the comings.
        steps.sort_unstable();
        let levels = steps.iter().scan(0, |level, (_, step)| {
            *level += step;
            Some(*level)
        });
        levels.max().unwrap_or(0).unsigned_abs()
    }

    fn seated(&mut self, known: Option<Entry>, ask: &Asked, seat: &str, span: Span) -> Entry {
        let mut entry = self.same_or_new(known, ask, seat, span);
        let since = match entry.standing {
            Standing::Seated { since, .. } => since,
            Standing::New | Standing::Waiting { .. } => {
                self.granted(&entry, span);
                span.got
            }
            Standing::Offered { .. } => span.got,
        };
        entry.standing = Standing::Seated { since, kept_at: since.max(span.sent) };
        entry.kept_until = span.sent + seat_silence(ask.hidden);
        entry.missed = false;
        entry
    }

    fn waits(&mut self, known: Option<Entry>, ask: &Asked, seat: &str, position: u32, span: Span) -> Entry {
        let mut entry = self.same_or_new(known, ask, seat, span);
        let viewer = ask.viewer;
        match entry.standing {
            Standing::Waiting { position: before } if position > before => {
                self.note(Promise::PositionRose, || format!("viewer {viewer}: position {before} became {position}"));
            }
            Standing::Offered { until, .. } if span.got < until.min(entry.kept_until) => {
                self.note(Promise::OfferLost, || format!("viewer {viewer}: an open offer became position {position}"));
            }
            Standing::Seated { .. } => {
                self.note(Promise::SeatLost, || format!("viewer {viewer}: its seat became position {position}"));
            }
            Standing::New | Standing::Waiting { .. } | Standing::Offered { .. } => {}
        }
        if self.order_counts && ask.latest_granted > Some(entry.came_by) {
            self.note(Promise::OrderBroken, || {
                format!("viewer {viewer}: passed by a later one at position {position}")
            });
        }
        entry.standing = Standing::Waiting { position };
        entry.kept_until = span.sent + place_silence(ask.hidden);
        entry.missed = false;
        entry
    }

    fn offered(&mut self, known: Option<Entry>, ask: &Asked, seat: &str, left: Duration, span: Span) -> Entry {
        let mut entry = self.same_or_new(known, ask, seat, span);
        // Whole seconds are told: at the first telling all of them, later perhaps one that has begun.
        let until = span.sent + if entry.missed { left.saturating_sub(Duration::from_secs(1)) } else { left };
        match entry.standing {
            Standing::Offered { .. } => {}
            Standing::New | Standing::Waiting { .. } => {
                self.granted(&entry, span);
                entry.standing = Standing::Offered { until, lapses: false };
            }
            Standing::Seated { .. } => {
                let viewer = ask.viewer;
                self.note(Promise::SeatLost, || format!("viewer {viewer}: its seat became an offer"));
                entry.standing = Standing::Offered { until, lapses: false };
            }
        }
        entry.kept_until = span.sent + place_silence(ask.hidden);
        entry.missed = false;
        entry
    }

    /// The entry that was known, if the answer names it; else that one is gone and this one new (S8).
    fn same_or_new(&mut self, known: Option<Entry>, ask: &Asked, seat: &str, span: Span) -> Entry {
        match known {
            Some(entry) if entry.seat == seat => entry,
            other => {
                // Its seat was named in this very ask, so the new entry came with it and not before.
                let came_after = if other.is_some() { span.sent } else { ask.first };
                self.gone(other, ask.viewer, span);
                Entry {
                    seat: seat.to_owned(),
                    standing: Standing::New,
                    came_after,
                    came_by: span.got,
                    kept_until: span.sent,
                    missed: false,
                }
            }
        }
    }

    /// A seat or an offer was told to somebody who had none. The seat that was freed first is taken to be the one.
    fn granted(&mut self, entry: &Entry, span: Span) {
        self.latest_granted = self.latest_granted.max(Some(entry.came_after));
        let Some(Reverse(at)) = self.freed.peek().copied().filter(|Reverse(at)| *at <= span.got) else { return };
        self.freed.pop();
        // A newcomer who is seated at once waited for nothing.
        if matches!(entry.standing, Standing::Waiting { .. }) {
            let waited = (span.got - at).as_millis();
            self.offer_told.saturating_record(u64::try_from(waited).unwrap_or(u64::MAX));
        }
    }

    /// The entry ended for a reason that is not the seat's own, or was judged already: nothing is proved past the
    /// last call that kept it.
    fn closed(&mut self, known: Option<Entry>) {
        if let Some(Entry { standing: Standing::Seated { since, kept_at }, .. }) = known {
            self.held.push((since, kept_at));
        }
    }
}

const fn seat_silence(hidden: bool) -> Duration {
    Duration::from_secs(if hidden { 60 } else { 20 })
}

const fn place_silence(hidden: bool) -> Duration {
    Duration::from_secs(if hidden { 75 } else { 15 })
}

/// Milliseconds: an hour.
const LONGEST_TO_OFFER: u64 = 3_600_000;

/// So many of each broken promise are told in words.
const EXAMPLES_MAX: usize = 3;

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
