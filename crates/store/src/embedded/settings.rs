//! What an operator may set for the embedded store.

use tidegate_seats::SeatSettings;

/// The embedded store's settings; the defaults are the spec's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedSettings {
    /// Times of seats, places and offers.
    pub seats: SeatSettings,
    /// Σ(`viewer_cap` + `queue_max`) over all streams that have not ended is at most this. Rule S14, 20,000.
    pub max_places: u64,
    /// `seats.db` grows to at most this many bytes; a change that needs more finds the store away (D2).
    /// `None`: as far as the disk goes. The write-ahead log beside it is not counted.
    pub file_max_bytes: Option<u64>,
}

impl Default for EmbeddedSettings {
    fn default() -> Self {
        Self { seats: SeatSettings::default(), max_places: 20_000, file_max_bytes: None }
    }
}
