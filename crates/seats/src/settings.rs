//! The times and bounds that an operator may move; the defaults are the spec's.

use std::time::Duration;

/// Times of seats, places and offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatSettings {
    /// A visible tab's seat ends after this much silence. Rule S18, 20 s.
    pub seat_silence: Duration,
    /// A hidden tab's seat ends after this much silence. Rule S18, 60 s.
    pub seat_silence_hidden: Duration,
    /// A place not asked for during this time leaves the line (or 3 × its last retry, if longer). Rule S3, 15 s.
    pub place_silence: Duration,
    /// The same when its last ask said `hidden`. Rule S3, 75 s.
    pub place_silence_hidden: Duration,
    /// An offer is held this long from its telling. Rule S5, 10 s.
    pub offer: Duration,
    /// A kicked seat id or viewer name is refused this long. Rule S8, 600 s.
    pub kick_block: Duration,
    /// A departure is remembered this long at least; never less than a token's life. Rule T5.
    pub departure_memory: Duration,
    /// Departures remembered at most; the oldest that are not kicks go first. Bounds memory.
    pub departures_max: usize,
}

impl Default for SeatSettings {
    fn default() -> Self {
        Self {
            seat_silence: Duration::from_secs(20),
            seat_silence_hidden: Duration::from_secs(60),
            place_silence: Duration::from_secs(15),
            place_silence_hidden: Duration::from_secs(75),
            offer: Duration::from_secs(10),
            kick_block: Duration::from_secs(600),
            departure_memory: Duration::from_secs(600),
            departures_max: 1_000_000,
        }
    }
}

/// Why a stream's settings were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsRefusal {
    /// S12: the stream's cap is over its tenant's.
    #[error("viewer_cap: at most {limit}, this tenant's viewer cap")]
    OverTenantCap {
        /// The tenant's cap.
        limit: u32,
    },
    /// No such stream.
    #[error("no such stream")]
    StreamNotFound,
    /// An ended stream cannot be changed.
    #[error("the stream has ended")]
    StreamEnded,
}
