//! The page's own calls: `POST /v1/play/{id}/admit`, `token`, `hb`, `leave`. Unknown fields are ignored (S25).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Body};
use crate::problem::{whole_ms, whole_s};
use crate::text::{check_name, check_token};
use crate::{Code, Problem, Reply};

/// What a page says when it asks for a seat; all of it optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct AdmitRequest {
    /// The seat id that an earlier answer gave.
    #[schema(max_length = 22)]
    pub seat: Option<String>,
    /// The last token of that seat; restores the seat if the store lost its memory (T5).
    #[schema(max_length = 4096)]
    pub token: Option<String>,
    /// Take an open offer (S5).
    pub join: Option<bool>,
    /// The tab is hidden, so its timers are slow (S3, S18).
    pub hidden: Option<bool>,
    /// The seat is watched over LL-HLS.
    pub hls: Option<bool>,
    /// Where the viewer is; orders the relays of the answer (E14).
    #[schema(max_length = 200)]
    pub region: Option<String>,
    /// The page's own random value: an ask repeated because its answer was lost finds the same entry.
    /// Ignored beside `seat`.
    #[schema(min_length = 16, max_length = 200)]
    pub nonce: Option<String>,
}

/// What a tenant's backend says when it asks for a seat for a viewer; all of it optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewerTokenRequest {
    /// The seat id that an earlier answer gave.
    #[schema(max_length = 22)]
    pub seat: Option<String>,
    /// The last token of that seat; restores the seat if the store lost its memory (T5).
    #[schema(max_length = 4096)]
    pub token: Option<String>,
    /// Take an open offer (S5).
    pub join: Option<bool>,
    /// The tab is hidden, so its timers are slow (S3, S18).
    pub hidden: Option<bool>,
    /// The seat is watched over LL-HLS.
    pub hls: Option<bool>,
    /// Where the viewer is; orders the relays of the answer (E14).
    #[schema(max_length = 200)]
    pub region: Option<String>,
    /// The page's own random value: an ask repeated because its answer was lost finds the same entry.
    /// Ignored beside `seat`.
    #[schema(min_length = 16, max_length = 200)]
    pub nonce: Option<String>,
    /// An opaque name of the viewer: the same viewer twice is one seat.
    #[schema(min_length = 1, max_length = 200)]
    pub viewer: Option<String>,
}

/// Asks for a new token of a seated seat (S20).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct TokenRequest {
    /// The seat.
    pub seat: Option<String>,
    /// Its last token; needed when the store lost its memory or is away (T5, S20).
    #[schema(max_length = 4096)]
    pub token: Option<String>,
}

/// Keeps a seat (S18).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct HeartbeatRequest {
    /// The seat.
    pub seat: Option<String>,
    /// Whether the tab is hidden now; left as it was when absent.
    pub hidden: Option<bool>,
    /// Whether it is watched over LL-HLS now; left as it was when absent.
    pub hls: Option<bool>,
    /// Its last token; restores the seat if the store lost its memory (T5).
    #[schema(max_length = 4096)]
    pub token: Option<String>,
}

/// Gives up a seat or place (S19).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct LeaveRequest {
    /// The seat or place.
    pub seat: Option<String>,
}

/// Reads the body of `admit`.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_admit(body: &[u8]) -> Result<AdmitRequest, Problem> {
    json::read(body)
}

/// Reads the body of `viewer-tokens`; unknown fields are refused.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_viewer_token(body: &[u8]) -> Result<ViewerTokenRequest, Problem> {
    json::read(body)
}

/// Reads the body of `token`.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_token(body: &[u8]) -> Result<TokenRequest, Problem> {
    json::read(body)
}

/// Reads the body of `hb`.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_heartbeat(body: &[u8]) -> Result<HeartbeatRequest, Problem> {
    json::read(body)
}

/// Reads the body of `leave`.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_leave(body: &[u8]) -> Result<LeaveRequest, Problem> {
    json::read(body)
}

impl From<ViewerTokenRequest> for AdmitRequest {
    fn from(ask: ViewerTokenRequest) -> Self {
        let ViewerTokenRequest { seat, token, join, hidden, hls, region, nonce, viewer: _ } = ask;
        Self { seat, token, join, hidden, hls, region, nonce }
    }
}

impl Body for AdmitRequest {
    fn check(&self) -> Result<(), Problem> {
        check_token(self.token.as_deref())?;
        check_hint(self.region.as_deref())?;
        check_nonce(self.seat.as_deref(), self.nonce.as_deref())
    }
}

impl Body for ViewerTokenRequest {
    fn check(&self) -> Result<(), Problem> {
        check_token(self.token.as_deref())?;
        check_hint(self.region.as_deref())?;
        if let Some(viewer) = &self.viewer {
            check_name("viewer", viewer)?;
        }
        check_nonce(self.seat.as_deref(), self.nonce.as_deref())
    }
}

impl Body for TokenRequest {
    fn check(&self) -> Result<(), Problem> {
        check_token(self.token.as_deref())
    }
}

impl Body for HeartbeatRequest {
    fn check(&self) -> Result<(), Problem> {
        check_token(self.token.as_deref())
    }
}

impl Body for LeaveRequest {
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// A viewer's region only orders a list, so its shape is free; its length is not.
fn check_hint(region: Option<&str>) -> Result<(), Problem> {
    if region.is_none_or(|region| region.len() <= 200) {
        return Ok(());
    }
    Err(Problem::of_field(Code::BadRequest, "region", "at most 200 bytes"))
}

fn check_nonce(seat: Option<&str>, nonce: Option<&str>) -> Result<(), Problem> {
    let fits = |nonce: &str| (16..=200).contains(&nonce.chars().count());
    if seat.is_some() || nonce.is_none_or(fits) {
        return Ok(());
    }
    Err(Problem::of_field(Code::BadNonce, "nonce", "16 to 200 characters, random for every page load"))
}

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
