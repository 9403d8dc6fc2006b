//! Finding a slot by the hash of what its entry is named by.

use hashbrown::HashTable;

use crate::entries::Slot;

/// Slots by hash. It grows a shard at a time: one table of millions would move all of them within one ask.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    shards: Vec<HashTable<Slot>>,
}

impl Default for Index {
    fn default() -> Self {
        Self { shards: vec![HashTable::new(); SHARDS] }
    }
}

impl Index {
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(Slot) -> bool) -> Option<Slot> {
        self.shards[shard_of(hash)].find(hash, |slot| is_it(*slot)).copied()
    }

    /// Adds a slot that is not in it; `hash_of` says the others' hashes.
    pub(crate) fn insert(&mut self, hash: u64, slot: Slot, hash_of: impl Fn(Slot) -> u64) {
        self.shards[shard_of(hash)].insert_unique(hash, slot, |slot| hash_of(*slot));
    }

    pub(crate) fn remove(&mut self, hash: u64, slot: Slot) {
        if let Ok(found) = self.shards[shard_of(hash)].find_entry(hash, |other| *other == slot) {
            found.remove();
        }
    }
}

/// Of the bits that a table itself looks at last.
const fn shard_of(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

const SHARDS: usize = 32;
