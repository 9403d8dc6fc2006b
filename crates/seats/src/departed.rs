//! Departures still remembered: a dead seat id stays dead, and its page is told why (S8, T5).

use std::collections::{BTreeSet, HashMap};

use foldhash::quality::RandomState;

use crate::deadlines::Tick;
use crate::entries::StreamNo;
use crate::{Departure, SeatId};

/// What is remembered of a house's departures.
#[derive(Clone, Debug)]
pub(crate) struct Departed {
    /// Per stream: an id kicked where it never was hides nothing of where it was. In shards by the seat's first byte,
    /// for a table of a million would be copied whole within one sweep.
    seats: Vec<HashMap<(StreamNo, SeatId), Memory, RandomState>>,
    /// Left and expired, by when they are forgotten.
    faded: BTreeSet<(Tick, StreamNo, SeatId)>,
    /// Kicked: never forgotten early.
    kicked: BTreeSet<(Tick, StreamNo, SeatId)>,
    viewers: HashMap<(StreamNo, String), Tick, RandomState>,
    viewers_by_end: BTreeSet<(Tick, StreamNo, String)>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    why: Departure,
    until: Tick,
}

impl Default for Departed {
    fn default() -> Self {
        Self {
            seats: vec![HashMap::default(); SHARDS],
            faded: BTreeSet::new(),
            kicked: BTreeSet::new(),
            viewers: HashMap::default(),
            viewers_by_end: BTreeSet::new(),
        }
    }
}

impl Departed {
    /// Remembers a departure; beyond `at_most` the ones nearest to being forgotten go, but never a kick.
    pub(crate) fn remember(&mut self, stream: StreamNo, seat: SeatId, why: Departure, until: Tick, at_most: usize) {
        self.forget_seat(stream, seat);
        self.shard_mut(seat).insert((stream, seat), Memory { why, until });
        self.order_of(why).insert((until, stream, seat));
        while self.faded.len() > at_most {
            let Some((_, stream, seat)) = self.faded.pop_first() else { break };
            self.shard_mut(seat).remove(&(stream, seat));
        }
    }

    pub(crate) fn why(&self, stream: StreamNo, seat: SeatId, now: Tick) -> Option<(Departure, Tick)> {
        let memory = self.seats[shard_of(seat)].get(&(stream, seat))?;
        (now < memory.until).then_some((memory.why, memory.until))
    }

    pub(crate) fn block_viewer(&mut self, stream: StreamNo, viewer: &str, until: Tick) {
        if let Some(before) = self.viewers.insert((stream, viewer.to_owned()), until) {
            self.viewers_by_end.remove(&(before, stream, viewer.to_owned()));
        }
        self.viewers_by_end.insert((until, stream, viewer.to_owned()));
    }

    pub(crate) fn viewer_blocked(&self, stream: StreamNo, viewer: &str, now: Tick) -> Option<Tick> {
        self.viewers.get(&(stream, viewer.to_owned())).copied().filter(|until| now < *until)
    }

    /// Forgets what is over, at most so many; whether all of it is forgotten.
    pub(crate) fn forget_until(&mut self, now: Tick, at_most: usize) -> bool {
        for _ in 0..at_most {
            let over = |set: &BTreeSet<(Tick, StreamNo, SeatId)>| set.first().is_some_and(|(until, ..)| *until <= now);
            let seat = if over(&self.faded) {
                self.faded.pop_first()
            } else if over(&self.kicked) {
                self.kicked.pop_first()
            } else {
                None
            };
            if let Some((_, stream, seat)) = seat {
                self.shard_mut(seat).remove(&(stream, seat));
            } else if self.viewers_by_end.first().is_some_and(|(until, ..)| *until <= now) {
                let Some((_, stream, viewer)) = self.viewers_by_end.pop_first() else { return true };
                self.viewers.remove(&(stream, viewer));
            } else {
                return true;
            }
        }
        false
    }

    fn forget_seat(&mut self, stream: StreamNo, seat: SeatId) {
        if let Some(memory) = self.shard_mut(seat).remove(&(stream, seat)) {
            self.order_of(memory.why).remove(&(memory.until, stream, seat));
        }
    }

    fn shard_mut(&mut self, seat: SeatId) -> &mut HashMap<(StreamNo, SeatId), Memory, RandomState> {
        &mut self.seats[shard_of(seat)]
    }

    fn order_of(&mut self, why: Departure) -> &mut BTreeSet<(Tick, StreamNo, SeatId)> {
        match why {
            Departure::Kicked => &mut self.kicked,
            Departure::Left | Departure::Expired => &mut self.faded,
        }
    }
}

const fn shard_of(seat: SeatId) -> usize {
    seat.bytes()[0] as usize % SHARDS
}

const SHARDS: usize = 32;
