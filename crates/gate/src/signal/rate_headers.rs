//! What a response says about its rate limits, in each family of headers that is in use (G13, G15).

use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, HeaderName};
use serde::Deserialize;

use super::number::{Decimal, parse_duration};
use super::retry_after::{ServerClock, parse_date};
use super::{Share, ietf};

/// A family of rate-limit headers that an upstream may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum HeaderFamily {
    /// `X-RateLimit-Limit`, `-Remaining`, `-Reset`, also spelt `X-Rate-Limit-…`.
    #[serde(rename = "x-ratelimit")]
    XRateLimit,
    /// The IETF's `RateLimit` and `RateLimit-Policy`, and the three `RateLimit-…` fields of its older drafts.
    #[serde(rename = "ietf")]
    Ietf,
    /// `retry-after-ms`.
    #[serde(rename = "retry-after-ms")]
    RetryAfterMs,
    /// `x-ratelimit-limit-requests`, `x-ratelimit-reset-tokens` and their like, with durations such as `6m0s`.
    #[serde(rename = "openai")]
    OpenAi,
    /// Discord's buckets: `X-RateLimit-Reset-After`, `-Bucket`, `-Scope`, `-Global`.
    #[serde(rename = "discord")]
    Discord,
    /// `X-Shopify-Shop-Api-Call-Limit: 32/40`.
    #[serde(rename = "shopify")]
    Shopify,
    /// Stream's `X-Budget-Used-Ms`, `-Limit-Ms`, `-Remaining-Ms` (G14).
    #[serde(rename = "x-budget")]
    XBudget,
}

/// The families that an upstream sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Families(u8);

impl Families {
    /// Whether a family is among them.
    #[must_use]
    pub fn has(self, family: HeaderFamily) -> bool {
        self.0 & (1 << family as u8) != 0
    }
}

impl FromIterator<HeaderFamily> for Families {
    fn from_iter<T: IntoIterator<Item = HeaderFamily>>(families: T) -> Self {
        Self(families.into_iter().fold(0, |set, family| set | 1 << family as u8))
    }
}

/// One limit as a response tells it; what it leaves out is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Calls (or tokens) per window.
    pub limit: Option<u64>,
    /// What is left of them.
    pub remaining: Option<u64>,
    /// Time until the window ends, from the receipt of the response.
    pub reset: Option<Duration>,
}

impl Rate {
    /// The used part of the limit, when both numbers are known.
    #[must_use]
    pub fn used(&self) -> Option<Share> {
        let (limit, remaining) = (self.limit?, self.remaining?);
        Share::of(i128::from(limit.saturating_sub(remaining)), i128::from(limit))
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.remaining == Some(0)
    }

    /// Whether it says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The limits of one response, condensed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The limit that is used up most.
    pub tightest: Option<Rate>,
    /// When the last of the exhausted limits is whole again. A limit with something left is not waited for.
    pub reset: Option<Duration>,
}

impl Rates {
    /// Takes in one more limit.
    pub(super) fn add(&mut self, rate: Rate) {
        if rate.is_empty() {
            return;
        }
        if rate.remaining.is_none_or(|left| left == 0) {
            self.reset = self.reset.max(rate.reset);
        }
        let tighter = self.tightest.is_none_or(|known| rate.used() > known.used());
        if tighter {
            self.tightest = Some(rate);
        }
    }
}

/// Reads all limits of the families that an upstream sends.
#[must_use]
pub fn read(headers: &HeaderMap, families: Families, clock: ServerClock<'_>) -> Rates {
    let mut rates = Rates::default();
    if families.has(HeaderFamily::XRateLimit) {
        for names in [&X_RATELIMIT, &X_RATE_LIMIT] {
            rates.add(read_three(headers, names, clock));
        }
    }
    if families.has(HeaderFamily::Discord) {
        let mut rate = read_three(headers, &X_RATELIMIT, clock);
        // A delta needs no clock, so it wins over the epoch beside it.
        rate.reset = first(headers, &X_RATELIMIT_RESET_AFTER).and_then(parse_duration).or(rate.reset);
        rates.add(rate);
    }
    if families.has(HeaderFamily::OpenAi) {
        for names in [&OPENAI_REQUESTS, &OPENAI_TOKENS] {
            rates.add(read_three(headers, names, clock));
        }
    }
    if families.has(HeaderFamily::Shopify) {
        rates.add(first(headers, &SHOPIFY).and_then(parse_used_of_limit).unwrap_or_default());
    }
    if families.has(HeaderFamily::Ietf) {
        rates.add(read_three(headers, &RATELIMIT_DRAFT_6, clock));
        ietf::read(headers, &mut rates);
    }
    rates
}

/// Whether a 429 is about everything rather than the called operation: Discord says so in a header, and a 429
/// that names no bucket came from the wall in front of its API.
#[must_use]
pub fn is_global(headers: &HeaderMap, families: Families) -> bool {
    if !families.has(HeaderFamily::Discord) {
        return false;
    }
    let says = |name, word: &str| first(headers, name).is_some_and(|v| v.eq_ignore_ascii_case(word.as_bytes()));
    says(&X_RATELIMIT_GLOBAL, "true")
        || says(&X_RATELIMIT_SCOPE, "global")
        || !(headers.contains_key(&X_RATELIMIT_BUCKET) || headers.contains_key(&X_RATELIMIT_SCOPE))
}

/// Reads a reset: a delta in seconds, an epoch in seconds, milliseconds or microseconds, told apart by size, a
/// duration with units, or an HTTP date. Zero and the past are none.
#[must_use]
pub fn parse_reset(value: &[u8], server_now: SystemTime) -> Option<Duration> {
    let Some(number) = Decimal::parse(value) else {
        let date = || parse_date(value)?.duration_since(server_now).ok().filter(|left| !left.is_zero());
        return parse_duration(value).or_else(date);
    };
    let per_second = match number.count() {
        0..EPOCH_S => return number.seconds(),
        EPOCH_S..EPOCH_MS => 1,
        EPOCH_MS..EPOCH_US => 1000,
        EPOCH_US.. => 1_000_000,
    };
    let at_micros = u64::try_from(number.millionths() / per_second).ok()?;
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(at_micros))?;
    at.duration_since(server_now).ok().filter(|left| !left.is_zero())
}

/// Reads `32/40`: used of limit.
#[must_use]
pub fn parse_used_of_limit(value: &[u8]) -> Option<Rate> {
    let mut parts = value.splitn(2, |&byte| byte == b'/');
    let used = Decimal::parse(parts.next()?)?.count();
    let limit = Decimal::parse(parts.next()?)?.count();
    Some(Rate { limit: Some(limit), remaining: Some(limit.saturating_sub(used)), reset: None })
}

/// Reads a count, of which some services send a list with parameters: `100, 100;w=60`. The first is in force.
#[must_use]
pub fn parse_count(value: &[u8]) -> Option<u64> {
    let first = value.split(|byte| matches!(byte, b',' | b';')).next()?;
    Decimal::parse(first).map(Decimal::count)
}

/// The names of a limit's three headers.
struct Names {
    limit: HeaderName,
    remaining: HeaderName,
    reset: HeaderName,
}

fn read_three(headers: &HeaderMap, names: &Names, clock: ServerClock<'_>) -> Rate {
    Rate {
        limit: first(headers, &names.limit).and_then(parse_count),
        remaining: first(headers, &names.remaining).and_then(parse_count),
        reset: first(headers, &names.reset).and_then(|value| parse_reset(value, clock.now())),
    }
}

fn first<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    headers.get(name).map(|value| value.as_bytes().trim_ascii())
}

static X_RATELIMIT: Names = Names {
    limit: HeaderName::from_static("x-ratelimit-limit"),
    remaining: HeaderName::from_static("x-ratelimit-remaining"),
    reset: HeaderName::from_static("x-ratelimit-reset"),
};
static X_RATE_LIMIT: Names = Names {
    limit: HeaderName::from_static("x-rate-limit-limit"),
    remaining: HeaderName::from_static("x-rate-limit-remaining"),
    reset: HeaderName::from_static("x-rate-limit-reset"),
};
static RATELIMIT_DRAFT_6: Names = Names {
    limit: HeaderName::from_static("ratelimit-limit"),
    remaining: HeaderName::from_static("ratelimit-remaining"),
    reset: HeaderName::from_static("ratelimit-reset"),
};
static OPENAI_REQUESTS: Names = Names {
    limit: HeaderName::from_static("x-ratelimit-limit-requests"),
    remaining: HeaderName::from_static("x-ratelimit-remaining-requests"),
    reset: HeaderName::from_static("x-ratelimit-reset-requests"),
};
static OPENAI_TOKENS: Names = Names {
    limit: HeaderName::from_static("x-ratelimit-limit-tokens"),
    remaining: HeaderName::from_static("x-ratelimit-remaining-tokens"),
    reset: HeaderName::from_static("x-ratelimit-reset-tokens"),
};
static X_RATELIMIT_RESET_AFTER: HeaderName = HeaderName::from_static("x-ratelimit-reset-after");
static X_RATELIMIT_BUCKET: HeaderName = HeaderName::from_static("x-ratelimit-bucket");
static X_RATELIMIT_SCOPE: HeaderName = HeaderName::from_static("x-ratelimit-scope");
static X_RATELIMIT_GLOBAL: HeaderName = HeaderName::from_static("x-ratelimit-global");
static SHOPIFY: HeaderName = HeaderName::from_static("x-shopify-shop-api-call-limit");

/// From here on a number is an epoch in seconds (the year 2001); a delta of 31 years is none.
const EPOCH_S: u64 = 1_000_000_000;
/// From here on an epoch is in milliseconds: in seconds it would be the year 5138.
const EPOCH_MS: u64 = 100_000_000_000;
/// From here on an epoch is in microseconds.
const EPOCH_US: u64 = 100_000_000_000_000;
