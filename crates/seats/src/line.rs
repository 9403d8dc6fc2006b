//! Exact positions in a waiting line of any length (S3, S6, S7).
//!
//! Places stand in order of coming, in chunks of at most [`CHUNK`]; a Fenwick tree counts the places of each
//! chunk. A rank is one search over the chunks, one walk of the tree and one search in a chunk: O(log n). Places
//! never move when somebody ahead leaves, so a rank can only fall.

use crate::Arrival;
use crate::entries::Slot;

/// One stream's line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Ascending by `base`; some may be empty until the next repacking.
    chunks: Vec<Chunk>,
    counts: Fenwick,
    len: u32,
}

#[derive(Clone, Debug)]
struct Chunk {
    base: u64,
    /// Ascending by offset from `base`: eight bytes a place.
    places: Vec<(u32, Slot)>,
}

impl Line {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Adds a place at the back; `arrival` must be later than all before.
    pub(crate) fn push_back(&mut self, arrival: Arrival, slot: Slot) {
        let offset = match self.chunks.last() {
            Some(last) if last.places.len() < CHUNK => u32::try_from(arrival.0 - last.base).ok(),
            _ => None,
        };
        let offset = offset.unwrap_or_else(|| {
            self.chunks.push(Chunk { base: arrival.0, places: Vec::new() });
            self.counts.push(0);
            0
        });
        let last = self.chunks.len() - 1;
        self.chunks[last].places.push((offset, slot));
        self.counts.add(last, 1);
        self.len += 1;
    }

    /// Takes a place out; `false` when there is none of that arrival.
    pub(crate) fn remove(&mut self, arrival: Arrival) -> bool {
        let Some((chunk, index)) = self.locate(arrival) else { return false };
        self.chunks[chunk].places.remove(index);
        self.counts.subtract(chunk, 1);
        self.len -= 1;
        if self.chunks.len() > SPARE_CHUNKS + 2 * (self.len as usize).div_ceil(CHUNK) {
            self.repack();
        }
        true
    }

    /// How many places are ahead of this one; `None` when there is none of that arrival.
    pub(crate) fn ahead_of(&self, arrival: Arrival) -> Option<u32> {
        let (chunk, index) = self.locate(arrival)?;
        // A chunk holds at most CHUNK places.
        Some(self.counts.sum_before(chunk) + index as u32)
    }

    /// The place with so many ahead of it.
    pub(crate) fn nth(&self, ahead: u32) -> Option<Slot> {
        let (chunk, rest) = self.counts.find(ahead)?;
        self.chunks[chunk].places.get(rest as usize).map(|(_, slot)| *slot)
    }

    /// All places, from the head.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.chunks.iter().flat_map(|chunk| chunk.places.iter().map(|(_, slot)| *slot))
    }

    fn locate(&self, arrival: Arrival) -> Option<(usize, usize)> {
        let chunk = self.chunks.partition_point(|chunk| chunk.base <= arrival.0).checked_sub(1)?;
        let offset = u32::try_from(arrival.0 - self.chunks[chunk].base).ok()?;
        let index = self.chunks[chunk].places.binary_search_by_key(&offset, |(offset, _)| *offset).ok()?;
        Some((chunk, index))
    }

    /// Fills the chunks again once half their room is holes: memory follows the living, at O(1) a departure.
    fn repack(&mut self) {
        let sparse = std::mem::take(self);
        for chunk in sparse.chunks {
            for (offset, slot) in chunk.places {
                self.push_back(Arrival(chunk.base + u64::from(offset)), slot);
            }
        }
    }
}

/// Prefix sums over a growing row of counts.
#[derive(Clone, Debug, Default)]
struct Fenwick {
    /// `tree[i]` covers the counts of the `lowbit(i + 1)` chunks that end at `i`.
    tree: Vec<u32>,
}

impl Fenwick {
    fn push(&mut self, count: u32) {
        let index = self.tree.len() + 1;
        let covered = index - lowbit(index);
        let total = count + self.sum_before(index - 1) - self.sum_before(covered);
        self.tree.push(total);
    }

    fn add(&mut self, chunk: usize, count: u32) {
        self.walk_up(chunk, |node| *node += count);
    }

    fn subtract(&mut self, chunk: usize, count: u32) {
        self.walk_up(chunk, |node| *node -= count);
    }

    fn walk_up(&mut self, chunk: usize, mut change: impl FnMut(&mut u32)) {
        let mut index = chunk + 1;
        while let Some(node) = self.tree.get_mut(index - 1) {
            change(node);
            index += lowbit(index);
        }
    }

    fn sum_before(&self, chunk: usize) -> u32 {
        let (mut index, mut sum) = (chunk, 0);
        while index > 0 {
            sum += self.tree[index - 1];
            index -= lowbit(index);
        }
        sum
    }

    /// The chunk that holds the place with so many ahead, and how many of them are in that chunk.
    fn find(&self, ahead: u32) -> Option<(usize, u32)> {
        let (mut chunk, mut rest) = (0, ahead);
        let mut step = self.tree.len().checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if let Some(count) = self.tree.get(chunk + step - 1).filter(|count| **count <= rest) {
                chunk += step;
                rest -= *count;
            }
            step /= 2;
        }
        (chunk < self.tree.len()).then_some((chunk, rest))
    }
}

const fn lowbit(index: usize) -> usize {
    index & index.wrapping_neg()
}

/// Places in one chunk: small enough that taking one out moves at most 2 KiB.
const CHUNK: usize = 256;
/// Chunks that a short line may have beyond its need before it is repacked.
const SPARE_CHUNKS: usize = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn s3_every_rank_is_exact_whoever_leaves(steps in proptest::collection::vec((0u8..10, any::<prop::sample::Index>()), 1..3_000)) {
            let mut line = Line::default();
            let mut naive: Vec<(Arrival, Slot)> = Vec::new();
            for (number, (step, pick)) in steps.into_iter().enumerate() {
                let arrival = Arrival(number as u64 * 7);
                if step < 6 || naive.is_empty() {
                    line.push_back(arrival, Slot(number as u32));
                    naive.push((arrival, Slot(number as u32)));
                } else {
                    let (gone, _) = naive.remove(pick.index(naive.len()));
                    prop_assert!(line.remove(gone));
                    prop_assert!(!line.remove(gone));
                    prop_assert_eq!(line.ahead_of(gone), None);
                }
            }
            prop_assert_eq!(line.len() as usize, naive.len());
            prop_assert_eq!(line.iter().collect::<Vec<_>>(), naive.iter().map(|(_, slot)| *slot).collect::<Vec<_>>());
            for (ahead, (arrival, slot)) in naive.iter().enumerate() {
                prop_assert_eq!(line.ahead_of(*arrival), Some(ahead as u32));
                prop_assert_eq!(line.nth(ahead as u32), Some(*slot));
            }
            prop_assert_eq!(line.nth(line.len()), None);
        }
    }

    #[test]
    fn a_line_that_shrank_keeps_no_room_for_those_who_left() {
        let mut line = Line::default();
        for number in 0..100_000 {
            line.push_back(Arrival(number), Slot(number as u32));
        }
        for number in (0..100_000).filter(|number| number % 1_000 != 0) {
            assert!(line.remove(Arrival(number)));
        }
        assert_eq!(line.len(), 100);
        assert!(line.chunks.len() <= SPARE_CHUNKS + 2);
        assert_eq!(line.ahead_of(Arrival(99_000)), Some(99));
    }

    #[test]
    fn arrivals_far_apart_start_a_new_chunk() {
        let mut line = Line::default();
        for arrival in [1, 2, u64::from(u32::MAX) + 2, u64::MAX] {
            line.push_back(Arrival(arrival), Slot(0));
        }
        assert_eq!(line.ahead_of(Arrival(u64::MAX)), Some(3));
        assert_eq!(line.ahead_of(Arrival(u64::from(u32::MAX) + 2)), Some(2));
    }
}
