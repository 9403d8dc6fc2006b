//! What pages are told.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use crate::Reply;
use crate::problem::{whole_ms, whole_s};

/// What became of a seat id that names nothing any more (S8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    /// It went silent for too long, or let an offer lapse.
    Expired,
    /// It left.
    Left,
    /// It was never given here, or was gone long ago.
    Unknown,
}

/// Where the viewer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No seat and no place for now.
    Full,
}

/// A relay that the viewer may use (S27, E14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Relay {
    /// Its name.
    pub id: String,
    /// Where its WebTransport sessions are opened.
    pub url: String,
    /// Where its LL-HLS is.
    pub hls_url: String,
    /// Where it stands.
    pub region: String,
    /// Hash of its self-made certificate; in development only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cert_sha256: Option<String>,
    /// It takes no newcomers for now.
    pub full: bool,
}

/// A measured wait (S26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WaitEstimate {
    /// Seconds, at the quick end.
    pub low: u32,
    /// Seconds, at the slow end.
    pub high: u32,
}

/// `201`: the viewer has a seat (S2, S8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Seated {
    /// Seated.
    In {
        /// The seat id.
        seat: String,
        /// Opens one session at a relay.
        token: String,
        /// How long the token lives.
        token_expires_s: u64,
        /// How often to say that the viewer is still there.
        heartbeat_s: u64,
        /// Relays to try, in this order.
        relays: Vec<Relay>,
        /// What became of the seat that the ask named.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        lost: Option<Lost>,
    },
}

/// `409`: no seat yet (S3, S4, S5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum NotYet {
    /// In line.
    Wait {
        /// The place's seat id: ask again with it.
        seat: String,
        /// Exact and 1-based.
        position: u32,
        /// When to ask again.
        retry_after_ms: u64,
        /// The measured wait, where the stream's owner wants it told.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        wait_s: Option<WaitEstimate>,
        /// What became of the seat that the ask named.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        lost: Option<Lost>,
    },
    /// A seat is held for this place; `join` takes it.
    Offer {
        /// The place's seat id.
        seat: String,
        /// Whole seconds left, rounded up.
        offer_s: u64,
        /// When to ask again.
        retry_after_ms: u64,
    },
    /// No seat and no place; nothing was stored.
    Full {
        /// When to ask again.
        retry_s: u64,
        /// When to ask again.
        retry_after_ms: u64,
        /// What became of the seat that the ask named.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        lost: Option<Lost>,
    },
}

impl NotYet {
    /// A place in line.
    #[must_use]
    pub fn wait(seat: String, position: u32, retry: Duration, lost: Option<Lost>) -> Self {
        Self::Wait { seat, position, retry_after_ms: whole_ms(retry), wait_s: None, lost }
    }

    /// An offer; its seconds are rounded up, so that the first telling says the whole time.
    #[must_use]
    pub fn offer(seat: String, left: Duration, retry: Duration) -> Self {
        Self::Offer { seat, offer_s: whole_s(left), retry_after_ms: whole_ms(retry) }
    }

    /// Neither seat nor place.
    #[must_use]
    pub fn full(retry: Duration, lost: Option<Lost>) -> Self {
        Self::Full { retry_s: whole_s(retry), retry_after_ms: whole_ms(retry), lost }
    }
}

/// The answer to an ask that was not refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Admission {
    /// There is a seat.
    Seated(Seated),
    /// There is none yet.
    NotYet(NotYet),
}

/// `200`: a new token (S20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Renewed {
    /// Opens one session at a relay.
    pub token: String,
    /// How long the token lives.
    pub token_expires_s: u64,
    /// Relays to try, in this order.
    pub relays: Vec<Relay>,
}

/// `200`: the seat is kept (S18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Kept {
    /// When the next heartbeat is due: 5000 visible, 20000 hidden.
    pub next_ms: u64,
}

impl Kept {
    /// Kept, with the next heartbeat due in `next`.
    #[must_use]
    pub fn until(next: Duration) -> Self {
        Self { next_ms: whole_ms(next) }
    }
}

impl Reply for Seated {
    fn status(&self) -> u16 {
        201
    }

    fn label(&self) -> &'static str {
        "in"
    }
}

impl Reply for NotYet {
    fn status(&self) -> u16 {
        409
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Wait { .. } => "wait",
            Self::Offer { .. } => "offer",
            Self::Full { .. } => "full",
        }
    }

    fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Wait { retry_after_ms, .. }
            | Self::Offer { retry_after_ms, .. }
            | Self::Full { retry_after_ms, .. } => Some(*retry_after_ms),
        }
    }
}

impl Reply for Admission {
    fn status(&self) -> u16 {
        match self {
            Self::Seated(seated) => seated.status(),
            Self::NotYet(not_yet) => not_yet.status(),
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Seated(seated) => seated.label(),
            Self::NotYet(not_yet) => not_yet.label(),
        }
    }

    fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Seated(_) => None,
            Self::NotYet(not_yet) => not_yet.retry_after_ms(),
        }
    }
}

impl Reply for Renewed {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for Kept {
    fn status(&self) -> u16 {
        200
    }
}
