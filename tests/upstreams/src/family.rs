//! How services tell a limit in headers (G13, G15).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::date::{RetryForm, whole_seconds};
use crate::likeness::Like;

/// One manner of telling limit, remaining and reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Stream: `X-RateLimit-Limit`, `-Remaining`, and `-Reset` as an epoch in seconds.
    #[default]
    Stream,
    /// GitHub: the same and `-Used`, `-Resource`.
    Github,
    /// The reset as an epoch in milliseconds.
    EpochMs,
    /// The reset as seconds from now.
    Delta,
    /// `RateLimit: "default";r=50;t=30` and `RateLimit-Policy: "default";q=100;w=60`.
    Ietf,
    /// The draft before: `RateLimit-Limit`, `-Remaining`, `-Reset` in seconds from now.
    IetfThreeHeaders,
    /// `x-ratelimit-limit-requests`, `-remaining-requests`, `-reset-requests: 1m30s`.
    Openai,
    /// `X-RateLimit-Bucket`, `-Scope`, `-Reset` with a fraction, `-Reset-After`.
    Discord,
    /// `X-Shopify-Shop-Api-Call-Limit: 32/40`.
    Shopify,
    /// No headers.
    None,
}

/// Where a limit stands at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    pub(crate) window: Duration,
    /// Time until the window's end.
    pub(crate) left: Duration,
}

impl Family {
    /// The headers of an answer.
    pub(crate) fn headers(self, at: Standing, wall: SystemTime) -> Vec<(String, String)> {
        let reset_at = (wall + at.left).duration_since(UNIX_EPOCH).unwrap_or_default();
        let (used, left_s) = (at.limit - at.remaining, whole_seconds(at.left));
        let epoch_s = whole_seconds(reset_at).to_string();
        match self {
            Self::Stream => three("x-ratelimit", at, epoch_s),
            Self::Github => {
                let more = [("x-ratelimit-used", used.to_string()), ("x-ratelimit-resource", "core".to_owned())];
                [three("x-ratelimit", at, epoch_s), owned(more)].concat()
            }
            Self::EpochMs => three("x-ratelimit", at, reset_at.as_millis().to_string()),
            Self::Delta => three("x-ratelimit", at, left_s.to_string()),
            Self::Ietf => owned([
                ("ratelimit", format!(r#""default";r={};t={left_s}"#, at.remaining)),
                ("ratelimit-policy", format!(r#""default";q={};w={}"#, at.limit, at.window.as_secs())),
            ]),
            Self::IetfThreeHeaders => three("ratelimit", at, left_s.to_string()),
            Self::Openai => owned([
                ("x-ratelimit-limit-requests", at.limit.to_string()),
                ("x-ratelimit-remaining-requests", at.remaining.to_string()),
                ("x-ratelimit-reset-requests", duration_text(at.left)),
            ]),
            Self::Discord => {
                let more = [
                    ("x-ratelimit-reset-after", format!("{:.3}", at.left.as_secs_f64())),
                    ("x-ratelimit-bucket", "abcd1234".to_owned()),
                    ("x-ratelimit-scope", "user".to_owned()),
                ];
                [three("x-ratelimit", at, format!("{:.3}", reset_at.as_secs_f64())), owned(more)].concat()
            }
            Self::Shopify => owned([("x-shopify-shop-api-call-limit", format!("{used}/{}", at.limit))]),
            Self::None => Vec::new(),
        }
    }

    /// What the service answers when the limit is used up.
    pub(crate) fn refusal(self) -> Like {
        match self {
            Self::Stream => Like::StreamLimit,
            Self::Github => Like::GithubLimit,
            Self::Openai => Like::OpenaiLimit,
            Self::Discord => Like::DiscordLimit,
            Self::Shopify => Like::ShopifyLimit,
            Self::EpochMs | Self::Delta | Self::Ietf | Self::IetfThreeHeaders | Self::None => Like::Throttled,
        }
    }

    /// How the service then tells when to come back.
    pub(crate) fn retry_form(self) -> RetryForm {
        match self {
            // Its primary limit is told by the reset alone.
            Self::Github => RetryForm::None,
            Self::Openai => RetryForm::Millis,
            Self::Shopify => RetryForm::Fraction,
            Self::Stream
            | Self::EpochMs
            | Self::Delta
            | Self::Ietf
            | Self::IetfThreeHeaders
            | Self::Discord
            | Self::None => RetryForm::Seconds,
        }
    }
}

fn three(prefix: &str, at: Standing, reset: String) -> Vec<(String, String)> {
    vec![
        (format!("{prefix}-limit"), at.limit.to_string()),
        (format!("{prefix}-remaining"), at.remaining.to_string()),
        (format!("{prefix}-reset"), reset),
    ]
}

fn owned<const N: usize>(headers: [(&str, String); N]) -> Vec<(String, String)> {
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `1m30s`, `6.5s`, `120ms`.
fn duration_text(left: Duration) -> String {
    match (left.as_secs() / 60, left.as_millis()) {
        (0, millis @ 0..1000) => format!("{millis}ms"),
        (0, millis) => format!("{}s", millis as f64 / 1000.0),
        (minutes, _) => format!("{minutes}m{}s", left.as_secs() % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(family: Family, left: Duration) -> Vec<(String, String)> {
        let at = Standing { limit: 40, remaining: 8, window: Duration::from_secs(60), left };
        family.headers(at, UNIX_EPOCH + Duration::from_secs(1_700_000_000))
    }

    fn text(family: Family) -> String {
        let lines = headers(family, Duration::from_millis(30_500));
        lines.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
    }

    #[test]
    fn g13_stream_and_github_tell_the_reset_as_an_epoch_in_seconds() {
        assert_eq!(
            text(Family::Stream),
            "x-ratelimit-limit: 40\nx-ratelimit-remaining: 8\nx-ratelimit-reset: 1700000031\n"
        );
        assert!(text(Family::Github).ends_with("x-ratelimit-used: 32\nx-ratelimit-resource: core\n"));
    }

    #[test]
    fn g15_the_reset_comes_as_an_epoch_or_a_delta() {
        assert!(text(Family::EpochMs).ends_with("x-ratelimit-reset: 1700000030500\n"));
        assert!(text(Family::Delta).ends_with("x-ratelimit-reset: 31\n"));
    }

    #[test]
    fn g15_the_ietf_forms() {
        let now = "ratelimit: \"default\";r=8;t=31\nratelimit-policy: \"default\";q=40;w=60\n";
        assert_eq!(text(Family::Ietf), now);
        assert_eq!(
            text(Family::IetfThreeHeaders),
            "ratelimit-limit: 40\nratelimit-remaining: 8\nratelimit-reset: 31\n"
        );
    }

    #[test]
    fn g15_openai_tells_a_duration_with_units() {
        assert!(text(Family::Openai).ends_with("x-ratelimit-reset-requests: 30.5s\n"));
        let reset = |left| headers(Family::Openai, left)[2].1.clone();
        assert_eq!(reset(Duration::from_secs(90)), "1m30s");
        assert_eq!(reset(Duration::from_millis(120)), "120ms");
    }

    #[test]
    fn g15_discord_and_shopify() {
        let discord = text(Family::Discord);
        assert!(discord.contains("x-ratelimit-reset: 1700000030.500\nx-ratelimit-reset-after: 30.500\n"), "{discord}");
        assert!(discord.contains("x-ratelimit-bucket: "), "{discord}");
        assert_eq!(text(Family::Shopify), "x-shopify-shop-api-call-limit: 32/40\n");
        assert_eq!(text(Family::None), "");
    }
}
