//! Reads one response for signs of throttling: status, headers, and the beginning of the body.
//!
//! Everything here takes foreign bytes and answers with a value; what cannot be read says nothing (G19).

pub mod body;
pub mod budget_headers;
pub mod ietf;
pub mod number;
pub mod rate_headers;
pub mod retry_after;

use std::time::{Duration, SystemTime};

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use http::{StatusCode, Uri};

use self::body::BodyStyle;
use self::rate_headers::{Families, HeaderFamily, Rates};
use self::retry_after::{RetryAfter, ServerClock};

/// The head of a response, and when it came by the wall clock (for dates in it; no deadline depends on that).
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The wall clock at its receipt.
    pub wall: SystemTime,
}

/// How much of a limit is used, from none to all, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// `used` of `limit`: below none is none, over all is all; of no limit it is `None`.
    #[must_use]
    pub fn of(used: i128, limit: i128) -> Option<Self> {
        if limit <= 0 {
            return None;
        }
        let millionths = used.clamp(0, limit).saturating_mul(1_000_000) / limit;
        u32::try_from(millionths).ok().map(Self)
    }

    /// Whole percent.
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        Self(percent * 10_000)
    }

    /// The share in millionths.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0
    }
}

/// What a response's head says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadSigns {
    /// How long to stay away (G16).
    pub retry_after: Option<RetryAfter>,
    /// Rate limits (G13, G15).
    pub rates: Rates,
    /// The used part of the budget (G14).
    pub budget: Option<Share>,
    /// A 429 about everything, where 429s are about one operation.
    pub global: bool,
    /// A redirect to a captcha page (G11c).
    pub captcha: bool,
}

impl HeadSigns {
    /// Reads a head. `max` clamps every delay (`max_cooldown`).
    #[must_use]
    pub fn read(head: Head<'_>, families: Families, max: Duration) -> Self {
        let Head { status, headers, wall } = head;
        // A look at each name costs less than looking for a score of names that are seldom there.
        if !status.is_redirection() && !headers.keys().any(|name| may_tell(name.as_str())) {
            return Self { global: rate_headers::is_global(headers, families), ..Self::default() };
        }
        let clock = ServerClock { headers, wall };
        let millis = families.has(HeaderFamily::RetryAfterMs);
        Self {
            retry_after: RetryAfter::from_headers(headers, millis, clock, max),
            rates: rate_headers::read(headers, families, clock),
            budget: families.has(HeaderFamily::XBudget).then(|| budget_headers::read(headers)).flatten(),
            global: rate_headers::is_global(headers, families),
            captcha: status.is_redirection() && headers.get(LOCATION).is_some_and(|to| is_captcha(to.as_bytes())),
        }
    }

    /// The delay that the server gives: what it asks for, else the reset of what is exhausted (G21).
    #[must_use]
    pub fn server_delay(&self, max: Duration) -> Option<RetryAfter> {
        self.retry_after.or_else(|| RetryAfter::clamped(self.rates.reset?, max))
    }
}

/// Whether a body may tell anything in this style: JSON and HTML can, pictures cannot (G19).
///
/// A body of 500 and above says nothing about rates (G10), and the page of a proxy on the way even less.
#[must_use]
pub fn body_may_tell(style: BodyStyle, head: Head<'_>) -> bool {
    let statuses = match style {
        BodyStyle::Off => return false,
        BodyStyle::Google => 200..500,
        BodyStyle::Message => 400..500,
    };
    statuses.contains(&head.status.as_u16()) && head.headers.get(CONTENT_TYPE).is_none_or(is_text)
}

/// Whether a header may be one of those that tell of limits: all of them begin so.
fn may_tell(name: &str) -> bool {
    name.starts_with("x-") || name.starts_with("rate") || name.starts_with("retry-after")
}

fn is_text(kind: &HeaderValue) -> bool {
    let kind = kind.as_bytes().to_ascii_lowercase();
    [&b"json"[..], b"html", b"text/plain"].iter().any(|word| kind.windows(word.len()).any(|part| part == *word))
}

/// Google's captcha lives under `/sorry/` of its own host and is reached by a redirect.
fn is_captcha(location: &[u8]) -> bool {
    Uri::try_from(location).is_ok_and(|to| to.path().starts_with("/sorry/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g11c_a_redirect_to_the_captcha_page_is_told_from_other_redirects() {
        for to in ["https://www.google.com/sorry/index?continue=x", "/sorry/index"] {
            assert!(is_captcha(to.as_bytes()), "{to}");
        }
        for to in
            ["https://consent.youtube.com/m?continue=/sorry/", "/sorry", "/watch?v=/sorry/", "", "http://[", "\u{1}"]
        {
            assert!(!is_captcha(to.as_bytes()), "{to}");
        }
    }

    #[test]
    fn g13_shares_are_exact_at_their_thresholds() {
        assert_eq!(Share::of(95, 100), Some(Share::percent(95)));
        assert!(Share::of(949_999, 1_000_000) < Some(Share::percent(95)));
        assert_eq!(Share::of(7, 5), Some(Share::percent(100)));
        assert_eq!(Share::of(-7, 5), Some(Share::percent(0)));
        assert_eq!(Share::of(i128::MAX, i128::MAX).map(|_| ()), Some(()));
        assert_eq!(Share::of(1, 0), None);
        assert_eq!(Share::of(1, -5), None);
    }
}
