//! The seats that this process saw leave, for the time when the store can not say so (T5, S20).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_seats::SeatId;

/// Seats that left here, each until its last token has ended.
#[derive(Default)]
pub(crate) struct Departures {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    seats: HashMap<SeatId, u64, foldhash::fast::RandomState>,
    swept: u64,
}

impl Departures {
    /// Remembers that a seat left; `until` is when its last token ends, Unix seconds.
    pub(crate) fn remember(&self, seat: SeatId, until: u64, now: u64) {
        let mut kept = self.kept();
        // Looking through all of them once a second is enough, and no flood of leavers can ask for more.
        if kept.seats.len() >= REMEMBERED_MAX && kept.swept < now {
            kept.sweep(now);
        }
        // Still full: a seat that is not remembered here may come back until its heartbeat stops (T5), and only
        // while the store is away.
        if kept.seats.len() < REMEMBERED_MAX {
            kept.seats.insert(seat, until);
        }
    }

    /// Whether a seat is known to have left.
    pub(crate) fn knows(&self, seat: SeatId) -> bool {
        self.kept().seats.contains_key(&seat)
    }

    /// Forgets those whose tokens have ended. Not while the store is away: an outage excuses a token's end (S20).
    pub(crate) fn sweep(&self, now: u64) {
        self.kept().sweep(now);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing here leaves the map half changed, so a panic elsewhere in a holder spoils nothing.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn sweep(&mut self, now: u64) {
        self.seats.retain(|_, until| *until > now);
        self.swept = now;
    }
}

/// Seats remembered at most, about 4 MiB.
const REMEMBERED_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t5_a_departure_is_remembered_until_its_last_token_ended_and_in_bounded_memory() {
        let departures = Departures::default();
        let seat = |n: u32| {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&n.to_be_bytes());
            SeatId::from_random(bytes)
        };
        departures.remember(seat(1), 120, 0);
        departures.sweep(119);
        assert!(departures.knows(seat(1)));
        departures.sweep(120);
        assert!(!departures.knows(seat(1)));
        for n in 0..110_000 {
            departures.remember(seat(n), 320, 200);
        }
        assert_eq!(departures.kept().seats.len(), REMEMBERED_MAX);
        // Those that are due make room.
        departures.remember(seat(110_000), 441, 321);
        assert_eq!(departures.kept().seats.len(), 1);
    }
}
