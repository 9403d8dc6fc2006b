//! Every viewer's entry, found by seat id, by nonce and by viewer name.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::quality::RandomState;

use crate::deadlines::Tick;
use crate::index::Index;
use crate::line::Ticket;
use crate::{Arrival, EntryRecord, NonceHash, SeatId, StandingRecord, StreamId, TurnKind};

/// Where an entry lives in memory while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

/// A stream's number within its house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StreamNo(pub(crate) u32);

/// One viewer of one stream. Eighty-eight bytes: millions of them wait.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) seat: SeatId,
    pub(crate) nonce: Option<NonceHash>,
    pub(crate) arrival: Arrival,
    pub(crate) stream: StreamNo,
    pub(crate) place: Place,
    /// Its number in its line; says nothing unless it waits.
    pub(crate) ticket: Ticket,
    /// When its silence, or its offer, ends it.
    pub(crate) due: Tick,
    /// The earliest alarm set for it; never later than `due`.
    pub(crate) alarm: Tick,
    /// Unix seconds since it stands where it stands; u32 lasts until 2106.
    pub(crate) since: u32,
    /// Unix seconds at which its last token ends; 0 before its first.
    pub(crate) token_until: u32,
    pub(crate) hidden: bool,
    pub(crate) hls: bool,
}

/// Where an entry stands.
///
/// ```text
///   Waiting ──(told)──▶ Offered ──(join)──▶ Seated
///      └────(hold, or join before the telling)──▲
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In line; `turn` is what is kept for it and not told yet, `retry_ms` what it was last told to wait.
    Waiting { turn: Option<TurnKind>, retry_ms: u32 },
    /// Told of an offer, which ends at `due`.
    Offered,
    /// Told of an offer whose seconds stand still (S15).
    OfferedFrozen { left_ms: u32 },
    /// Watching.
    Seated,
}

impl Entry {
    pub(crate) fn record(&self, stream: StreamId, viewer: Option<&str>) -> EntryRecord {
        EntryRecord {
            arrival: self.arrival,
            stream,
            seat: self.seat,
            nonce: self.nonce,
            viewer: viewer.map(str::to_owned),
            standing: match self.place {
                Place::Waiting { turn, .. } => StandingRecord::Waiting { turn },
                Place::Offered | Place::OfferedFrozen { .. } => StandingRecord::Offered,
                Place::Seated => StandingRecord::Seated,
            },
            since: u64::from(self.since),
            hidden: self.hidden,
            hls: self.hls,
            token_until: u64::from(self.token_until),
        }
    }
}

/// All entries of a house.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// Blocks of a fixed size, so that growth never copies or doubles millions of entries.
    blocks: Vec<Vec<Option<Entry>>>,
    free: Vec<Slot>,
    by_seat: Index,
    by_nonce: Index,
    by_viewer: HashMap<(StreamNo, Arc<str>), Slot, RandomState>,
    /// Few entries have a name, so it is kept beside them.
    viewers: HashMap<Slot, Arc<str>, RandomState>,
    hashing: RandomState,
}

impl Entries {
    pub(crate) fn get(&self, slot: Slot) -> &Entry {
        self.try_get(slot).expect("a slot in a line, a set of seats or an index names a living entry")
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut Entry {
        let (block, index) = Self::address(slot);
        self.blocks
            .get_mut(block)
            .and_then(|block| block.get_mut(index)?.as_mut())
            .expect("a slot in a line, a set of seats or an index names a living entry")
    }

    pub(crate) fn try_get(&self, slot: Slot) -> Option<&Entry> {
        let (block, index) = Self::address(slot);
        self.blocks.get(block)?.get(index)?.as_ref()
    }

    pub(crate) fn insert(&mut self, entry: Entry, viewer: Option<&str>) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| self.next_new_slot());
        let (seat, nonce, stream) = (entry.seat, entry.nonce, entry.stream);
        let (block, index) = Self::address(slot);
        match self.blocks[block].get_mut(index) {
            Some(place) => *place = Some(entry),
            None => self.blocks[block].push(Some(entry)),
        }
        let Self { blocks, by_seat, by_nonce, hashing, .. } = self;
        let at = |slot: Slot| {
            let (block, index) = Self::address(slot);
            blocks[block][index].as_ref().expect("an indexed slot names a living entry")
        };
        by_seat.insert(hashing.hash_one(seat), slot, |slot| hashing.hash_one(at(slot).seat));
        if let Some(nonce) = nonce {
            by_nonce.insert(hashing.hash_one(nonce), slot, |slot| hashing.hash_one(at(slot).nonce.unwrap_or(nonce)));
        }
        if let Some(viewer) = viewer {
            let viewer: Arc<str> = viewer.into();
            self.by_viewer.insert((stream, viewer.clone()), slot);
            self.viewers.insert(slot, viewer);
        }
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Entry {
        let (block, index) = Self::address(slot);
        let entry = self.blocks[block][index].take().expect("only a living entry is removed");
        self.by_seat.remove(self.hashing.hash_one(entry.seat), slot);
        if let Some(nonce) = entry.nonce {
            self.by_nonce.remove(self.hashing.hash_one(nonce), slot);
        }
        if let Some(viewer) = self.viewers.remove(&slot) {
            self.by_viewer.remove(&(entry.stream, viewer));
        }
        self.free.push(slot);
        entry
    }

    pub(crate) fn by_seat(&self, stream: StreamNo, seat: SeatId) -> Option<Slot> {
        self.named(seat).filter(|slot| self.get(*slot).stream == stream)
    }

    /// Whether a seat id is in use in any stream.
    pub(crate) fn knows_seat(&self, seat: SeatId) -> bool {
        self.named(seat).is_some()
    }

    fn named(&self, seat: SeatId) -> Option<Slot> {
        self.by_seat.find(self.hashing.hash_one(seat), |slot| self.get(slot).seat == seat)
    }

    pub(crate) fn by_nonce(&self, stream: StreamNo, nonce: NonceHash) -> Option<Slot> {
        let is_it = |slot: Slot| self.get(slot).nonce == Some(nonce) && self.get(slot).stream == stream;
        self.by_nonce.find(self.hashing.hash_one(nonce), is_it)
    }

    pub(crate) fn by_viewer(&self, stream: StreamNo, viewer: &str) -> Option<Slot> {
        self.by_viewer.get(&(stream, viewer.into())).copied()
    }

    pub(crate) fn viewer(&self, slot: Slot) -> Option<&str> {
        self.viewers.get(&slot).map(AsRef::as_ref)
    }

    fn next_new_slot(&mut self) -> Slot {
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            self.blocks.push(Vec::with_capacity(if self.blocks.is_empty() { 0 } else { BLOCK }));
        }
        let block = self.blocks.len() - 1;
        Slot(
            u32::try_from(block * BLOCK + self.blocks[block].len())
                .expect("a house of 4 billion entries does not fit in memory"),
        )
    }

    const fn address(slot: Slot) -> (usize, usize) {
        (slot.0 as usize / BLOCK, slot.0 as usize % BLOCK)
    }
}

/// Entries in one block.
const BLOCK: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_eighty_eight_bytes() {
        assert_eq!(size_of::<Option<Entry>>(), 88);
    }
}
