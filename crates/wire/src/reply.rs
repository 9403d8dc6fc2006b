//! What every answer knows about itself.

use serde::Serialize;

/// The media type of an answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`.
    Json,
    /// `application/problem+json` (RFC 9457).
    Problem,
}

impl Media {
    /// The value of `Content-Type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Problem => "application/problem+json",
        }
    }
}

/// A body that says its own status, media type and retry time.
pub trait Reply: Serialize {
    /// The HTTP status.
    fn status(&self) -> u16;

    /// What it is called where answers are counted: every variant of an answer is one label.
    fn label(&self) -> &'static str {
        "ok"
    }

    /// The media type.
    fn media(&self) -> Media {
        Media::Json
    }

    /// When to come back; also goes out as `Retry-After`.
    fn retry_after_ms(&self) -> Option<u64> {
        None
    }
}

/// The value of `Retry-After`: whole seconds, rounded up so that nobody comes back too early (S25).
#[must_use]
pub const fn retry_after_s(retry_after_ms: u64) -> u64 {
    retry_after_ms.div_ceil(1000)
}
