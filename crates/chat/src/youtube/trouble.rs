//! What went wrong with an answer, by the gate's rules (G9 to G11c).

use std::time::Duration;

use serde_json::Value;

use super::fetched::{Fetched, MAX_BODY_BYTES};
use super::lenient::read_json;
use super::url::Address;
use super::walk::{at, list_at, text_at, whole_at};

/// Why an answer holds no chat. The messages are for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The upstream wants fewer calls, from everybody behind this address (G9, G10, G11c).
    #[error("YouTube limits our calls ({by}); the room waits")]
    Throttled {
        /// How it said so.
        by: Throttle,
        /// What the body says of waiting. A `Retry-After` header, which the gate reads, goes before it.
        retry_after: Option<Duration>,
    },
    /// The token is no longer good, or never was: get a new one from the page (G11).
    #[error("YouTube no longer takes this continuation; the room starts again from the page")]
    Expired,
    /// 403 PERMISSION_DENIED: the video is private now, or it is a throttle. Which of them, the gate knows: it is the
    /// video if others succeeded just now (G11b).
    #[error("YouTube refuses this video: it may be private now")]
    Denied,
    /// The video or channel is not there (G11b).
    #[error("there is no such video or channel on YouTube")]
    Gone,
    /// The page asks for consent: send the cookie that answers it, and ask once more.
    #[error("YouTube asks for consent before it shows the page")]
    Consent,
    /// The same host has it under another address.
    #[error("YouTube has the page elsewhere, at {path}")]
    Moved {
        /// Path and query.
        path: String,
    },
    /// 401: the call's own headers are refused.
    #[error("YouTube wants a signed-in visitor")]
    SignIn,
    /// The upstream fails for the moment.
    #[error("YouTube fails for the moment (HTTP {status})")]
    Unavailable {
        /// The HTTP status.
        status: u16,
    },
    /// Cut off or mangled on the way: the same call may succeed.
    #[error("YouTube's answer is cut off or no JSON")]
    Garbled,
    /// Over the size that is read.
    #[error("YouTube's answer is larger than {MAX_BODY_BYTES} bytes")]
    TooLarge,
    /// Well-formed, and not what this version reads. An update may be needed.
    #[error("YouTube's answer has changed: {what}")]
    Changed {
        /// What was missing or in its place.
        what: &'static str,
    },
}

/// How the upstream said that it wants fewer calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Throttle {
    /// By status: 429, or 403 without a word of why.
    #[error("HTTP {0}")]
    Status(u16),
    /// By an error object about quota or rate, whatever the status (G10).
    #[error("quota")]
    Quota,
    /// By sending us to a captcha (G11c).
    #[error("captcha")]
    Captcha,
    /// By asking the visitor to sign in to prove that they are no bot (G11c).
    #[error("bot check")]
    BotCheck,
    /// By saying that nothing is available for a while.
    #[error("session limit")]
    SessionLimit,
}

impl Trouble {
    pub(super) const fn throttled(by: Throttle) -> Self {
        Self::Throttled { by, retry_after: None }
    }

    /// Whether every call to the upstream should pause, not only those of this room.
    #[must_use]
    pub const fn is_throttle(&self) -> bool {
        matches!(self, Self::Throttled { .. })
    }

    /// What a status and a redirect say; `None` when the body has to be read.
    pub(super) fn of_status(fetched: &Fetched<'_>) -> Option<Self> {
        if fetched.body.len() > MAX_BODY_BYTES {
            return Some(Self::TooLarge);
        }
        match fetched.status {
            200 => None,
            300..=399 => Some(Self::of_redirect(fetched.location.unwrap_or_default())),
            status => Some(Self::of_error_status(status, fetched)),
        }
    }

    /// What an error object says (G10, G11, G11b).
    pub(super) fn of_error(status: u16, error: &Value) -> Self {
        let name = text_at(error, "status").unwrap_or_default();
        if status < 500 && is_quota(error, name) {
            return Self::Throttled { by: Throttle::Quota, retry_after: retry_delay(error) };
        }
        match (status, name) {
            (200 | 400, _) => Self::Expired,
            (401, _) => Self::SignIn,
            (403, "PERMISSION_DENIED") => Self::Denied,
            (403 | 429, _) => Self::throttled(Throttle::Status(status)),
            (404, _) => Self::Gone,
            (500.., _) => Self::Unavailable { status },
            _ => Self::Changed { what: "an error object with a status of its own" },
        }
    }

    /// What a page without data is.
    pub(super) fn of_html(body: &[u8]) -> Self {
        let head = String::from_utf8_lossy(&body[..body.len().min(LOOKED_AT)]);
        if head.contains("/sorry/") || head.contains("recaptcha") {
            Self::throttled(Throttle::Captcha)
        } else if head.contains(CONSENT_HOST) {
            Self::Consent
        } else {
            Self::Changed { what: "a page without data" }
        }
    }

    fn of_error_status(status: u16, fetched: &Fetched<'_>) -> Self {
        let json = if fetched.is_html() { None } else { read_json(fetched.body) };
        if let Some(error) = json.as_ref().and_then(error_object) {
            return Self::of_error(status, error);
        }
        match status {
            403 | 429 => Self::throttled(Throttle::Status(status)),
            401 => Self::SignIn,
            404 | 410 => Self::Gone,
            500.. => Self::Unavailable { status },
            _ => Self::Changed { what: "an unexpected HTTP status" },
        }
    }

    fn of_redirect(location: &str) -> Self {
        if location.starts_with('/') && !location.starts_with("//") {
            return Self::Moved { path: location.to_owned() };
        }
        let Some(address) = Address::parse(location) else { return Self::Changed { what: "a redirect to nowhere" } };
        if address.host.eq_ignore_ascii_case(CONSENT_HOST) {
            Self::Consent
        } else if address.is_under("google.com") && address.path.starts_with("/sorry") {
            Self::throttled(Throttle::Captcha)
        } else if address.is_under("youtube.com") {
            let query = if address.query.is_empty() { String::new() } else { format!("?{}", address.query) };
            Self::Moved { path: format!("{}{query}", if address.path.is_empty() { "/" } else { address.path }) }
        } else {
            Self::Changed { what: "a redirect to another host" }
        }
    }
}

/// The error object of an answer: `error`, also within the one-element list that some endpoints send.
pub(super) fn error_object(answer: &Value) -> Option<&Value> {
    at(answer, "error").or_else(|| at(answer, "0.error")).filter(|error| error.is_object())
}

fn is_quota(error: &Value, status: &str) -> bool {
    let says = |text: Option<&str>| {
        let text = text.unwrap_or_default().to_ascii_lowercase();
        QUOTA_WORDS.iter().any(|word| text.contains(word))
    };
    status == "RESOURCE_EXHAUSTED"
        || whole_at(error, "code") == Some(429)
        || says(text_at(error, "message"))
        || list_at(error, "errors").iter().any(|one| says(text_at(one, "reason")) || says(text_at(one, "message")))
}

/// `details[].retryDelay`, "30s" or "1.5s".
fn retry_delay(error: &Value) -> Option<Duration> {
    let delay = list_at(error, "details").iter().find_map(|detail| text_at(detail, "retryDelay"))?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|delay| !delay.is_zero())
}

/// What an error message of a throttle contains. English, as errors are in every language of the page.
const QUOTA_WORDS: &[&str] = &[
    "quota",
    "rate limit",
    "ratelimitexceeded",
    "too many requests",
    "resource has been exhausted",
    "unusual traffic",
];

const CONSENT_HOST: &str = "consent.youtube.com";

/// How much of a page without data is looked at, in bytes (G19).
const LOOKED_AT: usize = 64 << 10;
