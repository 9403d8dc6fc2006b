//! The body of every refusal: RFC 9457 `application/problem+json` (S25).

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use crate::play::{Lost, State};
use crate::{Code, Media, Reply};

/// A refusal. Rule S25.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// One sentence, the same for every problem of this code.
    #[schema(value_type = String)]
    pub title: &'static str,
    /// The HTTP status again.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// Which problem it is, for programs.
    pub code: Code,
    /// What is wrong with this request, and what to do.
    #[schema(value_type = String)]
    pub detail: Cow<'static, str>,
    /// The field of the body that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
    /// `full`, where the answer also means that there is no seat for now (S13).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub state: Option<State>,
    /// The place that is kept meanwhile (S15).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub seat: Option<String>,
    /// What became of the seat that the ask named (S8).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lost: Option<Lost>,
    /// When to come back; also in `Retry-After`, rounded up to seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after_ms: Option<u64>,
}

impl Problem {
    /// Makes a problem of a code and a sentence about this request.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            title: code.title(),
            status: code.status(),
            code,
            detail: detail.into(),
            field: None,
            state: None,
            seat: None,
            lost: None,
            retry_after_ms: None,
        }
    }

    /// A field of the body that is not what it should be; the detail begins with its name.
    #[must_use]
    pub fn of_field(code: Code, field: &str, what: impl std::fmt::Display) -> Self {
        Self { field: Some(field.to_owned()), ..Self::new(code, format!("{field}: {what}")) }
    }

    /// Says when to come back.
    #[must_use]
    pub fn retry(self, after: Duration) -> Self {
        debug_assert!(self.code.carries_retry(), "the table says that {} has no retry", self.code.as_str());
        Self { retry_after_ms: Some(whole_ms(after)), ..self }
    }
}

impl Reply for Problem {
    fn status(&self) -> u16 {
        self.status
    }

    fn label(&self) -> &'static str {
        self.code.as_str()
    }

    fn media(&self) -> Media {
        Media::Problem
    }

    fn retry_after_ms(&self) -> Option<u64> {
        self.retry_after_ms
    }
}

/// Milliseconds, rounded up: nobody is told to come back before the time.
pub(crate) fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Seconds, rounded up.
pub(crate) fn whole_s(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
