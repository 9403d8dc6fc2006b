//! A tenant's view of one stream's seats: kick, heartbeats of many, counts, the list (S18, S21, S22).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Body};
use crate::text::check_name;
use crate::{Code, Problem, Reply};

/// Seats that one call may keep (S18).
pub const HEARTBEATS_MAX: usize = 1000;

/// Whom to kick: exactly one of the two (S21).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KickRequest {
    /// The entry of this seat id.
    pub seat: Option<String>,
    /// The entry of this viewer name, and the name itself for as long as the block lasts (S8).
    #[schema(min_length = 1, max_length = 200)]
    pub viewer: Option<String>,
}

/// Seats to keep (S18).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatsRequest {
    /// Their ids, at most 1,000.
    #[schema(max_items = 1000)]
    pub seats: Vec<String>,
}

/// Reads the body of `kick`.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_kick(body: &[u8]) -> Result<KickRequest, Problem> {
    json::read(body)
}

/// Reads the body of a backend's `hb`.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_heartbeats(body: &[u8]) -> Result<HeartbeatsRequest, Problem> {
    json::read(body)
}

impl Body for KickRequest {
    fn check(&self) -> Result<(), Problem> {
        match (&self.seat, &self.viewer) {
            (Some(_), None) => Ok(()),
            (None, Some(viewer)) => check_name("viewer", viewer),
            (Some(_), Some(_)) => {
                Err(Problem::of_field(Code::BadRequest, "viewer", "name `seat` or `viewer`, not both"))
            }
            (None, None) => Err(Problem::of_field(Code::BadRequest, "seat", "name a `seat` or a `viewer`")),
        }
    }
}

impl Body for HeartbeatsRequest {
    fn check(&self) -> Result<(), Problem> {
        if self.seats.len() <= HEARTBEATS_MAX {
            return Ok(());
        }
        Err(Problem::of_field(Code::BadRequest, "seats", format!("at most {HEARTBEATS_MAX} at once")))
    }
}

/// `200`: who was kicked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Kicked {
    /// The seat that ended; null when there was none, and the name is blocked all the same.
    pub seat: Option<String>,
}

/// `200`: an answer for each seat, in the order asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Heartbeats {
    /// The answers.
    pub seats: Vec<Heartbeat>,
}

/// One seat's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Heartbeat {
    /// The seat as it was named.
    pub seat: String,
    /// 200 when it is kept; else the status that the code has.
    pub status: u16,
    /// When its next heartbeat is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_ms: Option<u64>,
    /// Why it was not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub code: Option<Code>,
}

impl Heartbeat {
    /// The seat is kept.
    #[must_use]
    pub fn kept(seat: String, next: std::time::Duration) -> Self {
        Self { seat, status: 200, next_ms: Some(crate::problem::whole_ms(next)), code: None }
    }

    /// It is not, for this reason.
    #[must_use]
    pub fn lost(seat: String, code: Code) -> Self {
        Self { seat, status: code.status(), next_ms: None, code: Some(code) }
    }
}

/// The counts of one stream (S22).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stats {
    /// Who is there.
    pub viewers: Viewers,
    /// Seats whose last token has not ended.
    pub seats_with_tokens: u32,
    /// Offers and holds open, told or not.
    pub turns: u32,
    /// Unix seconds of the last publisher's token.
    pub ingest_token_at: Option<u64>,
}

/// Seats and places, now and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Viewers {
    /// Seats there are.
    pub cap: u32,
    /// Seats watched over LL-HLS.
    pub hls: u32,
    /// Most seats at once since creation.
    pub peak: u32,
    /// Places there are.
    pub queue_max: u32,
    /// Places taken.
    pub queued: u32,
    /// Seats taken.
    pub seats: u32,
}

/// A page of a stream's seats, in order of arrival (S21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SeatList {
    /// The seats.
    pub seats: Vec<Seat>,
    /// `cursor` of the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// One seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Seat {
    /// The seat id.
    pub id: String,
    /// The backend's name for the viewer.
    pub viewer: Option<String>,
    /// Unix seconds since it is seated.
    pub since: u64,
    /// The tab is hidden.
    pub hidden: bool,
    /// Watched over LL-HLS.
    pub hls: bool,
}

impl Reply for Kicked {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for Heartbeats {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for Stats {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for SeatList {
    fn status(&self) -> u16 {
        200
    }
}
