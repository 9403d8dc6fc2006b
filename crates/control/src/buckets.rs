//! How often page calls may come: one bucket for each address and for each live seat (S16).

use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use tidegate_seats::SeatId;

use crate::addresses::AddressKey;

type Limiter<K, S, C> = RateLimiter<K, DashMapStateStore<K, S>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// The buckets of this process.
pub(crate) struct Buckets<C: Clock = DefaultClock> {
    clock: C,
    addresses: Limiter<AddressSlot, std::hash::RandomState, C>,
    /// Seat ids are made here and random, so a fast hash is safe; only live ones get a bucket, which bounds them.
    seats: Limiter<SeatId, foldhash::fast::RandomState, C>,
    addresses_max: usize,
    /// No fewer than the address buckets there are: those at the last sweep and every draw since.
    addresses_bound: AtomicUsize,
    slots: std::hash::RandomState,
}

/// Where an address's calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AddressSlot {
    /// In its own bucket.
    Own(AddressKey),
    /// In one of [`SHARED_SLOTS`], while there are too many addresses for each to have its own.
    Shared(u16),
}

/// How long until the next call is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany(pub(crate) Duration);

impl Buckets {
    pub(crate) fn new(burst: NonZeroU32, refill_ms: NonZeroU32, addresses_max: usize) -> Self {
        Self::with_clock(burst, refill_ms, addresses_max, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Buckets<C> {
    fn with_clock(burst: NonZeroU32, refill_ms: NonZeroU32, addresses_max: usize, clock: C) -> Self {
        let refill = Duration::from_millis(refill_ms.get().into());
        let quota = Quota::with_period(refill).expect("at least a millisecond").allow_burst(burst);
        Self {
            addresses: RateLimiter::dashmap_with_clock_and_hasher(quota, clock.clone(), std::hash::RandomState::new()),
            seats: RateLimiter::dashmap_with_clock_and_hasher(
                quota,
                clock.clone(),
                foldhash::fast::RandomState::default(),
            ),
            clock,
            addresses_max,
            addresses_bound: AtomicUsize::new(0),
            slots: std::hash::RandomState::new(),
        }
    }

    /// Takes one call from an address's bucket.
    pub(crate) fn draw_address(&self, address: IpAddr) -> Result<(), TooMany> {
        let slot = self.slot(AddressKey::from(address));
        self.addresses.check_key(&slot).map_err(|no| TooMany(no.wait_time_from(self.clock.now())))
    }

    /// Takes one call from a live seat's or place's own bucket: neighbours behind one address do not cost it its
    /// place (S1).
    pub(crate) fn draw_seat(&self, seat: SeatId) -> Result<(), TooMany> {
        self.seats.check_key(&seat).map_err(|no| TooMany(no.wait_time_from(self.clock.now())))
    }

    /// Forgets buckets that are full again. Call it every few seconds.
    pub(crate) fn sweep(&self) {
        self.seats.retain_recent();
        self.addresses.retain_recent();
        self.addresses_bound.store(self.addresses.len(), Ordering::Relaxed);
    }

    /// Address and seat buckets held now.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.addresses.len(), self.seats.len())
    }

    /// Counting locks the map piece by piece, so it is done once when the bound is reached, not for every draw.
    fn recount(&self) -> usize {
        let held = self.addresses.len();
        if held < self.addresses_max {
            self.addresses_bound.store(held, Ordering::Relaxed);
        }
        held
    }

    /// Shutting out all newcomers would be what a flood of addresses wants, so they share buckets instead: one of
    /// them meets a flooded bucket by the chance of one in [`SHARED_SLOTS`] per flooding address.
    fn slot(&self, key: AddressKey) -> AddressSlot {
        let bound = self.addresses_bound.fetch_add(1, Ordering::Relaxed);
        if bound < self.addresses_max || (bound == self.addresses_max && self.recount() < self.addresses_max) {
            return AddressSlot::Own(key);
        }
        let slot = self.slots.hash_one(key) % u64::from(SHARED_SLOTS);
        AddressSlot::Shared(u16::try_from(slot).expect("less than SHARED_SLOTS"))
    }
}

/// Buckets for the addresses that are too many. Rule S16; each costs about 100 bytes.
const SHARED_SLOTS: u16 = 4096;

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn buckets(addresses_max: usize) -> (Buckets<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let number = |n| NonZeroU32::new(n).expect("not 0");
        (Buckets::with_clock(number(20), number(500), addresses_max, clock.clone()), clock)
    }

    fn v4(d: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, d])
    }

    #[test]
    fn s16_an_address_has_a_burst_of_20_and_then_2_a_second() {
        let (buckets, clock) = buckets(1000);
        for call in 1..=20 {
            assert_eq!(buckets.draw_address(v4(1)), Ok(()), "call {call}");
        }
        assert_eq!(buckets.draw_address(v4(1)), Err(TooMany(Duration::from_millis(500))));
        assert_eq!(buckets.draw_address(v4(2)), Ok(()));
        clock.advance(Duration::from_millis(499));
        assert_eq!(buckets.draw_address(v4(1)), Err(TooMany(Duration::from_millis(1))));
        clock.advance(Duration::from_millis(1));
        assert_eq!(buckets.draw_address(v4(1)), Ok(()));
        assert!(buckets.draw_address(v4(1)).is_err());
        clock.advance(Duration::from_secs(10));
        for call in 1..=20 {
            assert_eq!(buckets.draw_address(v4(1)), Ok(()), "call {call}");
        }
        assert!(buckets.draw_address(v4(1)).is_err());
    }

    #[test]
    fn s16_a_seat_has_a_bucket_of_its_own_of_the_same_size() {
        let (buckets, _clock) = buckets(1000);
        let seat = |n| SeatId::from_random([n; 16]);
        for _ in 0..20 {
            assert_eq!(buckets.draw_seat(seat(1)), Ok(()));
        }
        assert_eq!(buckets.draw_seat(seat(1)), Err(TooMany(Duration::from_millis(500))));
        assert_eq!(buckets.draw_seat(seat(2)), Ok(()));
    }

    #[test]
    fn s16_many_calls_of_few_addresses_are_not_taken_for_many_addresses() {
        let (buckets, _clock) = buckets(50);
        for _ in 0..1000 {
            let _drawn_or_not = buckets.draw_address(v4(1));
        }
        assert_eq!(buckets.slot(AddressKey::from(v4(2))), AddressSlot::Own(AddressKey::from(v4(2))));
    }

    #[test]
    fn s16_buckets_that_are_full_again_are_forgotten() {
        let (buckets, clock) = buckets(1000);
        for d in 0..100 {
            assert_eq!(buckets.draw_address(v4(d)), Ok(()));
        }
        assert_eq!(buckets.held(), (100, 0));
        clock.advance(Duration::from_secs(11));
        buckets.sweep();
        assert_eq!(buckets.held(), (0, 0));
    }

    #[test]
    fn s16_a_flood_of_addresses_does_not_grow_memory_nor_shut_newcomers_out() {
        let (buckets, clock) = buckets(1000);
        let address = |n: u32| IpAddr::from(n.to_be_bytes());
        for n in 0..50_000 {
            let _drawn_or_not = buckets.draw_address(address(n));
        }
        assert!(buckets.held().0 <= 1000 + usize::from(SHARED_SLOTS), "{}", buckets.held().0);
        let admitted = (1_000_000..1_001_000).filter(|&n| buckets.draw_address(address(n)).is_ok()).count();
        assert!(admitted > 900, "{admitted} of 1000 newcomers");
        // An address that had its own bucket when the flood came is in a shared one meanwhile, and back after it.
        clock.advance(Duration::from_secs(11));
        buckets.sweep();
        assert_eq!(buckets.held().0, 0);
    }
}
