//! Exact positions in a waiting line of any length (S3, S6, S7).
//!
//! Whoever comes draws the line's next ticket. Tickets lie in blocks of [`BLOCK`], where one bit each says whether its
//! holder still waits. A rank is one search over the blocks, one walk of a Fenwick tree and one count of bits: it is
//! O(log n), and reads nothing but 200 KiB for a line of a million. Places never move when somebody ahead leaves, so a
//! rank can only fall.

use crate::entries::Slot;

/// A place's number in its line, in order of coming; never drawn twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// One stream's line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Which [`BLOCK`] tickets each block is for, ascending; beside the blocks, so that a search reads little memory.
    numbers: Vec<u64>,
    /// Some may be empty until the next repacking.
    blocks: Vec<Block>,
    counts: Fenwick,
    /// Blocks that are not empty.
    in_use: usize,
    len: u32,
    next: Ticket,
}

/// Those of [`BLOCK`] tickets whose holders still wait.
#[derive(Clone, Debug, Default)]
struct Block {
    waiting: [u64; WORDS],
    /// One for each bit that is set, in the same order.
    slots: Vec<Slot>,
}

impl Line {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Adds a place at the back.
    pub(crate) fn push_back(&mut self, slot: Slot) -> Ticket {
        let ticket = self.next;
        self.next.0 += 1;
        if self.numbers.last() != Some(&ticket.block()) {
            self.push_block(ticket.block(), Block::default());
        }
        let last = self.blocks.len() - 1;
        self.in_use += usize::from(self.blocks[last].slots.is_empty());
        self.blocks[last].push(ticket, slot);
        self.counts.add(last, 1);
        self.len += 1;
        ticket
    }

    /// Takes a place out; `false` when nobody waits with that ticket.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> bool {
        let Some((block, rank)) = self.locate(ticket) else { return false };
        self.blocks[block].remove(ticket, rank);
        self.in_use -= usize::from(self.blocks[block].slots.is_empty());
        self.counts.subtract(block, 1);
        self.len -= 1;
        if self.blocks.len() > SPARE_BLOCKS + 2 * self.in_use {
            self.drop_empty_blocks();
        }
        true
    }

    /// How many places are ahead of this one; `None` when nobody waits with that ticket.
    pub(crate) fn ahead_of(&self, ticket: Ticket) -> Option<u32> {
        let (block, rank) = self.locate(ticket)?;
        Some(self.counts.sum_before(block) + rank)
    }

    /// The place with so many ahead of it.
    pub(crate) fn nth(&self, ahead: u32) -> Option<Slot> {
        let (block, rest) = self.counts.find(ahead)?;
        self.blocks[block].slots.get(rest as usize).copied()
    }

    /// All places, from the head.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.blocks.iter().flat_map(|block| block.slots.iter().copied())
    }

    /// The block of a ticket whose holder waits, and how many of that block are ahead of it.
    fn locate(&self, ticket: Ticket) -> Option<(usize, u32)> {
        let block = self.numbers.binary_search(&ticket.block()).ok()?;
        Some((block, self.blocks[block].rank(ticket)?))
    }

    fn push_block(&mut self, number: u64, block: Block) {
        self.counts.push(block.len());
        self.numbers.push(number);
        self.blocks.push(block);
    }

    /// Memory follows the living: at O(1) a departure, for as many blocks were filled as are dropped here.
    fn drop_empty_blocks(&mut self) {
        self.counts = Fenwick::default();
        let numbers = std::mem::take(&mut self.numbers);
        let blocks = std::mem::take(&mut self.blocks);
        for (number, block) in numbers.into_iter().zip(blocks).filter(|(_, block)| !block.slots.is_empty()) {
            self.push_block(number, block);
        }
    }
}

impl Block {
    fn len(&self) -> u32 {
        self.waiting.iter().map(|word| word.count_ones()).sum()
    }

    fn push(&mut self, ticket: Ticket, slot: Slot) {
        let (word, bit) = ticket.place_in_block();
        self.waiting[word] |= bit;
        self.slots.push(slot);
    }

    fn remove(&mut self, ticket: Ticket, rank: u32) {
        let (word, bit) = ticket.place_in_block();
        self.waiting[word] &= !bit;
        self.slots.remove(rank as usize);
        if self.slots.len() < self.slots.capacity() / 4 {
            self.slots.shrink_to(self.slots.capacity() / 2);
        }
    }

    /// How many of this block are ahead of a ticket's holder, if that still waits.
    fn rank(&self, ticket: Ticket) -> Option<u32> {
        let (word, bit) = ticket.place_in_block();
        let ahead: u32 = self.waiting[..word].iter().map(|word| word.count_ones()).sum();
        let ahead_in_word = (self.waiting[word] & (bit - 1)).count_ones();
        (self.waiting[word] & bit != 0).then_some(ahead + ahead_in_word)
    }
}

impl Ticket {
    const fn block(self) -> u64 {
        self.0 / BLOCK
    }

    /// Which word of its block, and which bit of that word.
    const fn place_in_block(self) -> (usize, u64) {
        ((self.0 % BLOCK / 64) as usize, 1 << (self.0 % 64))
    }
}

/// Prefix sums over a growing row of counts.
#[derive(Clone, Debug, Default)]
struct Fenwick {
    /// `tree[i]` covers the counts of the `lowbit(i + 1)` blocks that end at `i`.
    tree: Vec<u32>,
}

impl Fenwick {
    fn push(&mut self, count: u32) {
        let index = self.tree.len() + 1;
        let covered = index - lowbit(index);
        let total = count + self.sum_before(index - 1) - self.sum_before(covered);
        self.tree.push(total);
    }

    fn add(&mut self, block: usize, count: u32) {
        self.walk_up(block, |node| *node += count);
    }

    fn subtract(&mut self, block: usize, count: u32) {
        self.walk_up(block, |node| *node -= count);
    }

    fn walk_up(&mut self, block: usize, mut change: impl FnMut(&mut u32)) {
        let mut index = block + 1;
        while let Some(node) = self.tree.get_mut(index - 1) {
            change(node);
            index += lowbit(index);
        }
    }

    fn sum_before(&self, block: usize) -> u32 {
        let (mut index, mut sum) = (block, 0);
        while index > 0 {
            sum += self.tree[index - 1];
            index -= lowbit(index);
        }
        sum
    }

    /// The block that holds the place with so many ahead, and how many of them are in that block.
    fn find(&self, ahead: u32) -> Option<(usize, u32)> {
        let (mut block, mut rest) = (0, ahead);
        let mut step = self.tree.len().checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if let Some(count) = self.tree.get(block + step - 1).filter(|count| **count <= rest) {
                block += step;
                rest -= *count;
            }
            step /= 2;
        }
        (block < self.tree.len()).then_some((block, rest))
    }
}

const fn lowbit(index: usize) -> usize {
    index & index.wrapping_neg()
}

/// Tickets in one block: small enough that taking one out moves at most 2 KiB.
const BLOCK: u64 = 512;
/// Words of bits in one block.
const WORDS: usize = BLOCK as usize / 64;
/// Empty blocks that a short line may have before they are dropped.
const SPARE_BLOCKS: usize = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn s3_every_rank_is_exact_whoever_leaves(steps in proptest::collection::vec((0u8..10, any::<prop::sample::Index>()), 1..6_000)) {
            let mut line = Line::default();
            let mut naive: Vec<(Ticket, Slot)> = Vec::new();
            for (number, (step, pick)) in steps.into_iter().enumerate() {
                if step < 6 || naive.is_empty() {
                    let slot = Slot(number as u32);
                    naive.push((line.push_back(slot), slot));
                } else {
                    let (gone, _) = naive.remove(pick.index(naive.len()));
                    prop_assert!(line.remove(gone));
                    prop_assert!(!line.remove(gone));
                    prop_assert_eq!(line.ahead_of(gone), None);
                }
            }
            prop_assert_eq!(line.len() as usize, naive.len());
            prop_assert_eq!(line.iter().collect::<Vec<_>>(), naive.iter().map(|(_, slot)| *slot).collect::<Vec<_>>());
            for (ahead, (ticket, slot)) in naive.iter().enumerate() {
                prop_assert_eq!(line.ahead_of(*ticket), Some(ahead as u32));
                prop_assert_eq!(line.nth(ahead as u32), Some(*slot));
            }
            prop_assert_eq!(line.nth(line.len()), None);
        }
    }

    #[test]
    fn a_line_that_shrank_keeps_no_room_for_those_who_left() {
        let mut line = Line::default();
        let tickets: Vec<Ticket> = (0..100_000).map(|number| line.push_back(Slot(number))).collect();
        for number in (0..100_000).filter(|number| number % 10_000 != 0) {
            assert!(line.remove(tickets[number]));
        }
        assert_eq!(line.len(), 10);
        assert!(line.blocks.len() <= SPARE_BLOCKS + 2 * 10);
        assert!(line.blocks.iter().all(|block| block.slots.capacity() <= 8));
        assert_eq!(line.ahead_of(tickets[90_000]), Some(9));
    }

    #[test]
    fn a_line_that_emptied_goes_on() {
        let mut line = Line::default();
        let gone: Vec<Ticket> = (0..10_000).map(|number| line.push_back(Slot(number))).collect();
        assert!(gone.into_iter().all(|ticket| line.remove(ticket)));
        assert!(line.blocks.len() <= SPARE_BLOCKS);
        let tickets = [7, 8].map(|number| line.push_back(Slot(number)));
        assert_eq!(tickets.map(|ticket| line.ahead_of(ticket)), [Some(0), Some(1)]);
        assert_eq!(line.nth(1), Some(Slot(8)));
    }
}
