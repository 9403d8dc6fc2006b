//! When to ask again (S3, S4, S5).

use std::time::Duration;

use crate::{Position, RetryAfter, SeatId};

/// A place's next ask: later further back, so that a long line costs little, and spread by seat, so that a line
/// does not poll in step.
pub(crate) fn of_a_place(position: Position, seat: SeatId) -> RetryAfter {
    let further_back = u64::from(position.0.get().saturating_sub(NEAR_THE_HEAD));
    let level_ms = (RETRY_MS + RETRY_PER_PLACE_MS * further_back).min(RETRY_FAR_BACK_MS);
    let [high, low, ..] = *seat.bytes();
    let spread = u64::from(u16::from_be_bytes([high, low])) % (2 * SPREAD_PERMILLE + 1);
    RetryAfter(Duration::from_millis(level_ms * (1_000 - SPREAD_PERMILLE + spread) / 1_000))
}

/// An ask of a told offer, exactly. Rule S5.
pub(crate) const OF_AN_OFFER: RetryAfter = RetryAfter(Duration::from_millis(RETRY_MS));
/// A full line, exactly: the player adds its own jitter. Rule S4.
pub(crate) const OF_A_FULL_LINE: RetryAfter = RetryAfter(Duration::from_secs(30));
/// A tenant at its cap. Rule S13; as a full line.
pub(crate) const OF_A_FULL_TENANT: RetryAfter = OF_A_FULL_LINE;
/// A place lapses after at least so many of its own retries. Rule S3.
pub(crate) const LAPSE_IN_RETRIES: u64 = 3;

/// What a place near the head waits between asks. Rule S3.
const RETRY_MS: u64 = 2_000;
/// How many places from the head ask at the short level. Rule S3.
const NEAR_THE_HEAD: u32 = 100;
/// Added for each place further back, so that the far level is reached at place 4,100.
const RETRY_PER_PLACE_MS: u64 = 2;
/// What a place far back waits between asks. Rule S3.
const RETRY_FAR_BACK_MS: u64 = 10_000;
/// A tenth, to both sides. Rule S3.
const SPREAD_PERMILLE: u64 = 100;
