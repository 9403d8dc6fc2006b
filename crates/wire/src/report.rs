//! What a relay and its control tell each other each second (E2, E3, E12). One type for both ends.
//!
//! Ages instead of times, so that no two machines' clocks are compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Body};
use crate::{Code, Problem, Reply};

/// A relay's report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// The relay's name, its own in the fleet.
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$")]
    pub relay: String,
    /// Where it stands, such as `eu-west`.
    #[schema(max_length = 64)]
    pub region: String,
    /// Where viewers open WebTransport sessions.
    #[schema(max_length = 512)]
    pub public_url: String,
    /// Where its LL-HLS is; empty where it has none.
    #[schema(max_length = 512)]
    pub hls_url: String,
    /// The hash of a certificate that it made itself, in hex; in development only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9a-f]{64}$")]
    pub cert_sha256: Option<String>,
    /// How busy it was in the last second, 0 to 1 (E5).
    #[schema(minimum = 0, maximum = 1)]
    pub busy: f64,
    /// How late its timers fired (E5).
    pub lag_ms: u32,
    /// Whether it is saturated (E6).
    pub state: RelayState,
    /// It refuses newcomers for its load (E12); a saturated one that only observes does not (E13).
    pub full: bool,
    /// Counts up by one with each report.
    pub version: u64,
    /// The report whose answer it had last, and since which `sessions` and `ended` are the changes; null when
    /// `sessions` are all there are.
    pub since: Option<u64>,
    /// Sessions that were opened, went silent or were heard again.
    pub sessions: Vec<Session>,
    /// Names of the tokens whose sessions have ended.
    #[serde(default)]
    pub ended: Vec<String>,
    /// Names of the relays that it has connected to (E16).
    #[serde(default)]
    pub linked: Vec<String>,
}

/// Whether a relay has room for newcomers (E6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RelayState {
    /// It has.
    Open,
    /// It has none.
    Saturated,
}

/// What the holder of a token does at a relay (E1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionRole {
    /// Watches.
    Viewer,
    /// Publishes.
    Publisher,
    /// Carries broadcasts to another relay.
    Peer,
}

/// A session at a relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Its token's name.
    pub jti: String,
    /// Its seat; for publishers and peers a name of their own.
    pub seat: String,
    /// Its stream.
    pub stream: String,
    /// Whose it is.
    pub tenant: String,
    /// What its holder does.
    pub role: SessionRole,
    /// How long it has been open.
    pub since_ms: u64,
    /// How long nothing has come from its client.
    pub heard_ms: u64,
    /// It watches over LL-HLS (E17).
    #[serde(default)]
    pub hls: bool,
}

/// `200`: what the relay is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Orders {
    /// Names of tokens: their sessions end now, and they open none any more (E2, T6).
    pub close: Vec<String>,
    /// How many sessions of each tenant the relay may have open (E3).
    pub shares: BTreeMap<String, u32>,
    /// Changes with the keys that verify tokens; fetch them anew when it does (T1).
    pub keys_version: String,
    /// The control's store is away: accept tokens that have ended since (E4).
    pub store_away: bool,
    /// Reports are missing: bring all sessions next time.
    pub resend: bool,
    /// Relays to connect to, besides those it named as linked (E16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Peer>,
}

/// Another relay of the fleet, and how to connect to it (E16).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Peer {
    /// Its name.
    pub relay: String,
    /// Where it takes sessions.
    pub url: String,
    /// The hash of a certificate that it made itself, in hex; in development only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cert_sha256: Option<String>,
    /// A peer's token.
    pub token: String,
    /// How long that is good.
    pub token_expires_s: u64,
}

impl Reply for Orders {
    fn status(&self) -> u16 {
        200
    }
}

/// Reads a report.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_report(body: &[u8]) -> Result<Report, Problem> {
    json::read(body)
}

impl Body for Report {
    fn check(&self) -> Result<(), Problem> {
        let wrong = |field, what: &str| Err(Problem::of_field(Code::BadRequest, field, what));
        let named = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !(1..=64).contains(&self.relay.len()) || !named(&self.relay) {
            return wrong("relay", "1 to 64 letters, digits, '-', '_' and '.'");
        }
        if self.region.len() > 64 {
            return wrong("region", "at most 64 bytes");
        }
        for (field, url) in [("public_url", &self.public_url), ("hls_url", &self.hls_url)] {
            if url.len() > 512 {
                return wrong(field, "at most 512 bytes");
            }
        }
        let is_hash = |hash: &String| hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !self.cert_sha256.as_ref().is_none_or(is_hash) {
            return wrong("cert_sha256", "64 hex digits");
        }
        if !(0.0..=1.0).contains(&self.busy) {
            return wrong("busy", "a share from 0 to 1");
        }
        Ok(())
    }
}
