//! What pages, and backends for them, say.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::json::{self, Body};
use crate::text::{check_name, check_token};
use crate::{Code, Problem};

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
