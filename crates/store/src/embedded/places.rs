//! S14: the deployment's places, a counter of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts Σ(`viewer_cap` + `queue_max`) over the streams that have not ended, and bounds it.
#[derive(Debug)]
pub(super) struct Places {
    count: Mutex<Count>,
}

#[derive(Debug)]
struct Count {
    used: u64,
    max: u64,
}

/// Places set aside for a change that may still fail; they go back unless [`kept`](Reserved::keep).
#[derive(Debug)]
#[must_use = "places go back when this is dropped"]
pub(super) struct Reserved<'a> {
    places: &'a Places,
    n: u64,
}

/// There are not enough places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRoom {
    pub(super) asked: u64,
    pub(super) free: u64,
    pub(super) max: u64,
}

impl Places {
    pub(super) const fn new(used: u64, max: u64) -> Self {
        Self { count: Mutex::new(Count { used, max }) }
    }

    /// Sets `n` more places aside, or says how many there are. None at all always fits, even over the bound.
    pub(super) fn reserve(&self, n: u64) -> Result<Reserved<'_>, NoRoom> {
        let mut count = self.count();
        let free = count.max.saturating_sub(count.used);
        if n > free && n > 0 {
            return Err(NoRoom { asked: n, free, max: count.max });
        }
        count.used += n;
        Ok(Reserved { places: self, n })
    }

    /// Gives back what a stream had.
    pub(super) fn release(&self, n: u64) {
        let mut count = self.count();
        debug_assert!(n <= count.used, "S14: more places given back than taken");
        count.used = count.used.saturating_sub(n);
    }

    /// Moves the bound; what is taken stays taken.
    pub(super) fn set_max(&self, max: u64) {
        self.count().max = max;
    }

    /// Places taken.
    pub(super) fn used(&self) -> u64 {
        self.count().used
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved<'_> {
    /// The change was made: the places are the stream's now.
    pub(super) fn keep(mut self) {
        self.n = 0;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if self.n > 0 {
            self.places.release(self.n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s14_places_are_reserved_kept_and_released() {
        let places = Places::new(0, 100);
        places.reserve(60).expect("60 of 100").keep();
        assert_eq!(places.used(), 60);
        assert_eq!(places.reserve(41).err(), Some(NoRoom { asked: 41, free: 40, max: 100 }));
        places.reserve(40).expect("the last 40").keep();
        places.release(60);
        assert_eq!(places.used(), 40);
    }

    #[test]
    fn s14_a_reservation_that_is_not_kept_goes_back() {
        let places = Places::new(0, 10);
        let reserved = places.reserve(10).expect("all of it");
        assert_eq!(places.reserve(1).err(), Some(NoRoom { asked: 1, free: 0, max: 10 }));
        drop(reserved);
        assert_eq!(places.used(), 0);
    }

    #[test]
    fn s14_a_lowered_bound_takes_nothing_away() {
        let places = Places::new(50, 100);
        places.set_max(20);
        assert_eq!(places.used(), 50);
        assert_eq!(places.reserve(1).err(), Some(NoRoom { asked: 1, free: 0, max: 20 }));
        places.reserve(0).expect("a change that needs no more always fits").keep();
    }

    #[test]
    fn s14_a_sum_that_does_not_fit_a_number_is_no_room() {
        let places = Places::new(1, u64::MAX);
        assert!(places.reserve(u64::MAX).is_err());
    }
}
