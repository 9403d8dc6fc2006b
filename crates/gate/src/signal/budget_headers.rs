//! Stream's `x-budget-*` headers: database milliseconds used of a sliding minute's allowance (G14).

use http::header::{HeaderMap, HeaderName};

use super::Share;
use super::number::Decimal;

/// Reads the used part of the budget; `None` without usable headers, which says nothing and clears nothing.
///
/// The larger of used ÷ limit and 1 − remaining ÷ limit, at most 1: `used` may exceed `limit`, and `remaining`
/// may be below zero.
#[must_use]
pub fn read(headers: &HeaderMap) -> Option<Share> {
    let number = |name| headers.get(name).and_then(|value| Decimal::parse(value.as_bytes())).map(Decimal::millionths);
    let limit = number(&LIMIT)?;
    let used = number(&USED).and_then(|used| Share::of(used, limit));
    let gone = number(&REMAINING).and_then(|left| Share::of(limit.saturating_sub(left), limit));
    used.max(gone)
}

static USED: HeaderName = HeaderName::from_static("x-budget-used-ms");
static LIMIT: HeaderName = HeaderName::from_static("x-budget-limit-ms");
static REMAINING: HeaderName = HeaderName::from_static("x-budget-remaining-ms");
