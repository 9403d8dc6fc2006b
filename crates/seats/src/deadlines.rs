//! Who is due next.
//!
//! An entry's deadline moves with every word its viewer says, so moving it must cost nothing: an alarm stays where
//! it was set, and when it goes off the entry is asked for its real deadline. Each entry has one live alarm, never
//! later than its deadline; an alarm of an entry that is gone, or was set anew, is dropped when it goes off.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::{Duration, Instant};

use crate::entries::Slot;

/// Milliseconds of monotonic time since the house began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(pub(crate) u64);

impl Tick {
    pub(crate) const NEVER: Self = Self(u64::MAX);

    pub(crate) fn since(origin: Instant, at: Instant) -> Self {
        Self(millis(at.saturating_duration_since(origin)))
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(millis(time)))
    }

    pub(crate) fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The alarms of a house, earliest first.
///
/// Most alarms lie a minute ahead, and nobody asks for their order yet: they wait unsorted in buckets, and only the
/// bucket whose time has come is put in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    /// Those of the earliest bucket; empty only if there are no alarms at all.
    near: BinaryHeap<Reverse<(Tick, Slot)>>,
    /// Which bucket `near` is of; alarms of an earlier one go there too.
    near_bucket: u64,
    /// Later ones, as milliseconds within their bucket.
    far: BTreeMap<u64, Vec<(u32, Slot)>>,
}

impl Deadlines {
    pub(crate) fn set(&mut self, at: Tick, slot: Slot) {
        let bucket = at.0 / BUCKET_MS;
        if self.near.is_empty() {
            self.near_bucket = bucket;
        }
        if bucket <= self.near_bucket {
            self.near.push(Reverse((at, slot)));
        } else {
            self.far.entry(bucket).or_default().push(((at.0 % BUCKET_MS) as u32, slot));
        }
    }

    /// Takes the next alarm that has gone off by now.
    pub(crate) fn pop_due(&mut self, now: Tick) -> Option<(Tick, Slot)> {
        if self.next()? > now {
            return None;
        }
        let Reverse(alarm) = self.near.pop()?;
        if self.near.is_empty() {
            self.sort_the_next_bucket();
        }
        Some(alarm)
    }

    pub(crate) fn next(&self) -> Option<Tick> {
        self.near.peek().map(|Reverse((at, _))| *at)
    }

    fn sort_the_next_bucket(&mut self) {
        let Some((bucket, alarms)) = self.far.pop_first() else { return };
        self.near_bucket = bucket;
        self.near =
            alarms.into_iter().map(|(ms, slot)| Reverse((Tick(bucket * BUCKET_MS + u64::from(ms)), slot))).collect();
    }
}

/// How much time one bucket is for.
const BUCKET_MS: u64 = 256;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn alarms_go_off_in_order_and_none_is_lost(steps in proptest::collection::vec((any::<bool>(), 0_u64..3_000), 1..400)) {
            let (mut deadlines, mut naive, mut now) = (Deadlines::default(), Vec::new(), 0);
            for (number, (sets, ms)) in steps.into_iter().enumerate() {
                if sets {
                    deadlines.set(Tick(ms), Slot(number as u32));
                    naive.push((Tick(ms), Slot(number as u32)));
                    naive.sort_unstable();
                } else {
                    now = now.max(ms);
                    while let Some(alarm) = deadlines.pop_due(Tick(now)) {
                        prop_assert_eq!(alarm, naive.remove(0));
                    }
                }
                prop_assert_eq!(deadlines.next(), naive.first().map(|(at, _)| *at));
                prop_assert!(sets || deadlines.next().is_none_or(|at| at > Tick(now)));
            }
        }
    }
}
