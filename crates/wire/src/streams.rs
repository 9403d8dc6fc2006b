//! A tenant's streams: `/v1/streams` (S9, S24, S25). Unknown fields are refused.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::json::{self, Body};
use crate::text::{Cap, Count, check_name, check_region};
use crate::{Problem, Reply};

/// What a new stream is to be (S25).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamRequest {
    /// A label for people.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// Seats.
    #[schema(value_type = u32, minimum = 1, maximum = 1_000_000)]
    pub viewer_cap: Cap,
    /// Places in line. Default 0: without a seat, straight to `full`.
    #[schema(value_type = Option<u32>, maximum = 1_000_000)]
    pub queue_max: Option<Count>,
    /// Whether pages may ask for themselves (S17). Default true.
    pub public: Option<bool>,
    /// Where its viewers mostly are; orders relays.
    #[schema(min_length = 1, max_length = 40, pattern = "^[A-Za-z0-9._-]+$")]
    pub region: Option<String>,
    /// Whether answers carry a measured wait (S26). Default false.
    pub estimate: Option<bool>,
}

/// What is to change on a stream, live or not (S9); what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamChange {
    /// A label for people.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Seats; lowering it unseats nobody (S10).
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 1_000_000)]
    pub viewer_cap: Option<Cap>,
    /// Places in line; lowering it takes nobody's place (S10).
    #[schema(value_type = Option<u32>, maximum = 1_000_000)]
    pub queue_max: Option<Count>,
    /// Whether pages may ask for themselves (S17).
    pub public: Option<bool>,
    /// Where its viewers mostly are; `null` takes it away.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 40, pattern = "^[A-Za-z0-9._-]+$")]
    pub region: Option<Option<String>>,
    /// Whether answers carry a measured wait (S26).
    pub estimate: Option<bool>,
}

/// A body without fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Tells an absent field from one that is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// Reads the body of `POST /v1/streams`.
///
/// # Errors
/// A 400 problem that names the field, and the nearest known one for a typo.
pub fn parse_stream(body: &[u8]) -> Result<StreamRequest, Problem> {
    json::read(body)
}

/// Reads the body of `PATCH /v1/streams/{id}`.
///
/// # Errors
/// A 400 problem that names the field, and the nearest known one for a typo.
pub fn parse_change(body: &[u8]) -> Result<StreamChange, Problem> {
    json::read(body)
}

/// Reads the body of a call that takes no fields.
///
/// # Errors
/// A 400 problem that names the field.
pub fn parse_nothing(body: &[u8]) -> Result<Nothing, Problem> {
    json::read(body)
}

impl Body for StreamRequest {
    fn check(&self) -> Result<(), Problem> {
        check_name("name", &self.name)?;
        check_region(self.region.as_deref())
    }
}

impl Body for StreamChange {
    fn check(&self) -> Result<(), Problem> {
        if let Some(name) = &self.name {
            check_name("name", name)?;
        }
        check_region(self.region.as_ref().and_then(Option::as_deref))
    }
}

impl Body for Nothing {
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// A stream (S25).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stream {
    /// Its name in every call.
    pub id: String,
    /// A label for people.
    pub name: String,
    /// Seats.
    pub viewer_cap: u32,
    /// Places in line.
    pub queue_max: u32,
    /// Whether pages may ask for themselves (S17).
    pub public: bool,
    /// Where its viewers mostly are.
    pub region: Option<String>,
    /// Whether answers carry a measured wait (S26).
    pub estimate: bool,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds; null while it has not ended.
    pub ended_at: Option<u64>,
    /// Unix seconds of the last publisher's token (S24).
    pub ingest_token_at: Option<u64>,
    /// Most seats at once since creation (S22).
    pub peak: u32,
}

/// `201`: a stream was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct Created(pub Stream);

/// A tenant's streams, by creation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Streams {
    /// The streams.
    pub streams: Vec<Stream>,
}

/// `201`: a publisher's token (S24).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct IngestToken {
    /// Lets its holder publish this stream.
    pub token: String,
    /// How long it lives.
    pub token_expires_s: u64,
    /// Unix seconds: now.
    pub ingest_token_at: Option<u64>,
}

impl Reply for Stream {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for Created {
    fn status(&self) -> u16 {
        201
    }
}

impl Reply for Streams {
    fn status(&self) -> u16 {
        200
    }
}

impl Reply for IngestToken {
    fn status(&self) -> u16 {
        201
    }
}
