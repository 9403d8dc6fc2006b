//! The store's one reading of the two clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use tidegate_seats::Now;

/// This moment. The monotonic half is tokio's, so that a test may stop and move it.
pub(super) fn now() -> Now {
    Now { at: tokio::time::Instant::now().into_std(), unix_s: unix_s() }
}

/// Seconds since 1970; 0 for a clock set before that.
pub(super) fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
