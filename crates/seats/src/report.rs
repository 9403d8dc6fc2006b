//! What a tenant may read about its streams.

use crate::{Arrival, SeatId};

/// S22: the counts of one stream at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamStats {
    /// Seats there are.
    pub cap: u32,
    /// Places there are.
    pub queue_max: u32,
    /// Seats taken.
    pub seats: u32,
    /// Of these, watched over LL-HLS.
    pub hls: u32,
    /// Places taken, untold offers and holds included (S6).
    pub queued: u32,
    /// Offers and holds open, told or not.
    pub turns: u32,
    /// Most seats at once since creation.
    pub peak: u32,
    /// Seats whose last token has not ended.
    pub seats_with_tokens: u32,
}

/// S21: one row of the list of seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatListing {
    /// Order of coming; the cursor of the next page.
    pub arrival: Arrival,
    /// The seat id.
    pub seat: SeatId,
    /// The backend's name for the viewer.
    pub viewer: Option<String>,
    /// Unix seconds since it is seated.
    pub since: u64,
    /// The tab is hidden.
    pub hidden: bool,
    /// Watched over LL-HLS.
    pub hls: bool,
}

/// What a bounded sweep left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// Nothing that is due by now is left.
    Done,
    /// The bound was reached; call again.
    More,
}
