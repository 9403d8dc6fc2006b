//! What is answered. A refusal is an answer, not an error.

use std::time::Duration;

use crate::{Position, SeatId};

/// How long to stay away before asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetryAfter(pub Duration);

/// Why the seat id that came with an ask names nothing any more (S8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// It went silent for too long, or let an offer lapse.
    Expired,
    /// It left.
    Left,
    /// It was never given here, or was gone long ago.
    Unknown,
}

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Seated (S2, S8).
    In {
        /// The seat.
        seat: SeatId,
        /// Set when the ask named a seat that is gone.
        lost: Option<Lost>,
    },
    /// In line (S3).
    Wait {
        /// The place's seat id.
        seat: SeatId,
        /// Exact and 1-based.
        position: Position,
        /// When to ask again: spread per seat, longer further back.
        retry: RetryAfter,
        /// Set when the ask named a seat that is gone.
        lost: Option<Lost>,
    },
    /// A freed seat is held for this place (S5).
    Offer {
        /// The place's seat id.
        seat: SeatId,
        /// What is left of the offer.
        left: Duration,
        /// When to ask again.
        retry: RetryAfter,
    },
    /// No seat and no place (S4); nothing was stored.
    Full {
        /// When to ask again.
        retry: RetryAfter,
        /// Set when the ask named a seat that is gone.
        lost: Option<Lost>,
    },
    /// Refused for a reason other than a full line.
    Refused(Refusal),
}

/// Why an ask was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No such stream.
    StreamNotFound,
    /// The stream has ended.
    StreamEnded,
    /// The stream is not public: its seats come from the tenant's backend (S17).
    ServerAdmission,
    /// The seat id or viewer name was kicked; the time until the block ends (S8).
    Kicked(RetryAfter),
    /// The tenant's seats over all its streams are all taken (S13).
    TenantViewerCap(RetryAfter),
    /// The tenant's spend cap is reached (S15); a kept place is named.
    SpendCapReached {
        /// The place that is kept meanwhile.
        seat: Option<SeatId>,
    },
}

/// The answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeatAnswer {
    /// Kept; the next one is due in this time (5 s visible, 20 s hidden).
    Kept {
        /// How long to wait before the next heartbeat.
        next: Duration,
    },
    /// Not a seated seat (any more).
    Gone,
    /// It was kicked.
    Kicked,
    /// The stream has ended, and the seat with it.
    StreamEnded,
    /// No such stream.
    StreamNotFound,
}

/// The answer to a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewalAnswer {
    /// The seat is seated: sign a new token for it.
    Granted,
    /// Not a seated seat (any more).
    Gone,
    /// It was kicked.
    Kicked,
    /// The stream has ended, and the seat with it.
    StreamEnded,
    /// No such stream.
    StreamNotFound,
}

/// The answer to a kick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KickAnswer {
    /// Done; the entry that ended, if there was one.
    Kicked {
        /// The seat whose sessions the relays must end (T6).
        seat: Option<SeatId>,
    },
    /// No such stream.
    StreamNotFound,
}
