//! When the store is away, since when, and when its clients come back (D2, S20).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::RngExt;
use tidegate_store::StoreAway;
use tidegate_token::VerifyAt;
use tidegate_wire::{Code, Problem};
use tracing::{info, warn};

/// What this process has seen of the store's absence.
#[derive(Default)]
pub(crate) struct Outage {
    /// Unix seconds; 0 while the store is there.
    began: AtomicU64,
}

impl Outage {
    /// Notes what a call or the regular look found.
    pub(crate) fn note(&self, writable: Result<(), StoreAway>, now: u64) {
        match writable {
            Err(_away) => {
                if self.began.compare_exchange(0, now.max(1), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                    warn!("the store is away; new seats are refused until it is back");
                }
            }
            Ok(()) => {
                if self.began.swap(0, Ordering::Relaxed) != 0 {
                    info!("the store is back");
                }
            }
        }
    }

    /// Whether the store was away when it was last asked.
    pub(crate) fn is_on(&self) -> bool {
        self.began.load(Ordering::Relaxed) != 0
    }

    /// How a presented token is to be judged now: the outage excuses an end since it began.
    pub(crate) fn verify_at(&self, now: u64) -> VerifyAt {
        match self.began.load(Ordering::Relaxed) {
            0 => VerifyAt::Now(now),
            began => VerifyAt::Outage { began, now },
        }
    }
}

/// The refusal while the store is away. Every client gets its own time within `spread_ms`, so that ten thousand do
/// not come back in one step (known fault).
pub(crate) fn store_away(away: StoreAway, spread_ms: u64) -> Problem {
    let spread = Duration::from_millis(rand::rng().random_range(0..=spread_ms));
    Problem::new(Code::StoreUnavailable, "nothing was changed; whoever has a seat keeps it").retry(away.retry + spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAY: StoreAway = StoreAway { retry: Duration::from_secs(2) };

    #[test]
    fn s20_a_token_that_ended_since_the_outage_began_is_excused() {
        let outage = Outage::default();
        assert_eq!(outage.verify_at(50), VerifyAt::Now(50));
        outage.note(Err(AWAY), 100);
        outage.note(Err(AWAY), 150);
        assert_eq!(outage.verify_at(160), VerifyAt::Outage { began: 100, now: 160 });
        outage.note(Ok(()), 200);
        assert!(!outage.is_on());
        assert_eq!(outage.verify_at(201), VerifyAt::Now(201));
    }

    #[test]
    fn d2_ten_thousand_clients_do_not_come_back_in_step() {
        let mut per_100_ms = [0_u32; 51];
        for _ in 0..10_000 {
            let after = store_away(AWAY, 5000).retry_after_ms.unwrap();
            assert!((2000..=7000).contains(&after), "{after}");
            per_100_ms[usize::try_from((after - 2000) / 100).unwrap()] += 1;
        }
        // 200 in each 100 ms on average; a step would be thousands in one.
        assert!(per_100_ms.iter().all(|&count| count < 300), "{per_100_ms:?}");
    }
}
