//! What viewers and backends say.

use crate::{NonceHash, SeatId};

/// Who speaks: the page itself, or the tenant's backend with its secret key (S17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// `POST /v1/play/{id}/admit`.
    Page,
    /// `POST /v1/streams/{id}/viewer-tokens`.
    Backend,
}

/// A signed token that the caller has already verified as this stream's and this seat's viewer token (T5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The seat that the token names.
    pub seat: SeatId,
    /// When the token was issued, Unix seconds. It restores a lost seat only if that is before the store's birth.
    pub issued_at: u64,
    /// When the token ends, Unix seconds.
    pub expires_at: u64,
}

/// One ask for a seat.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// Who asks.
    pub asker: Asker,
    /// What an earlier answer gave. `Err(())` is text that has no seat id's shape: a newcomer, as if unknown (S8).
    pub seat: Option<Result<SeatId, ()>>,
    /// A verified token, for T5.
    pub proof: Option<Proof>,
    /// The page's own random value, hashed; ignored beside `seat`.
    pub nonce: Option<NonceHash>,
    /// An opaque name, from backends only: the same viewer twice is one seat.
    pub viewer: Option<&'a str>,
    /// Take an open offer (S5).
    pub join: bool,
    /// The tab is hidden, so its timers are slow (S3, S18).
    pub hidden: bool,
    /// The seat is watched over LL-HLS.
    pub hls: bool,
    /// A fresh random id, used only if the answer makes a new entry.
    pub fresh: SeatId,
    /// When the token that goes out with an `In` will end, Unix seconds (S22 `seats_with_tokens`).
    pub token_until: u64,
}

/// One heartbeat of a seat (S18).
#[derive(Clone, Debug)]
pub struct Beat {
    /// Whose.
    pub seat: SeatId,
    /// A verified token, for T5.
    pub proof: Option<Proof>,
    /// `None` leaves what was said last.
    pub hidden: Option<bool>,
    /// `None` leaves what was said last.
    pub hls: Option<bool>,
}

/// A request for a new token of a seated seat (S20).
#[derive(Clone, Debug)]
pub struct Renewal {
    /// Whose.
    pub seat: SeatId,
    /// The presented token, verified.
    pub proof: Option<Proof>,
    /// When the new token will end, Unix seconds.
    pub token_until: u64,
}

/// Whom to kick (S21).
#[derive(Clone, Debug)]
pub enum KickTarget<'a> {
    /// The entry of this seat id.
    Seat(SeatId),
    /// The entry of this viewer name, and the name itself for as long as the block lasts.
    Viewer(&'a str),
}
