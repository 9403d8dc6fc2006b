//! Ready answers in the likeness of real services: what G9 to G11c tell apart.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::{Answer, Body};

/// A ready answer; status, headers and body can be changed by the [`Answer`] that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Like {
    /// A plain `429` (G9).
    Throttled,
    /// A `200` whose body says `RESOURCE_EXHAUSTED` (G10).
    ResourceExhausted,
    /// A `200` whose error speaks of a quota in words only (G10).
    QuotaText,
    /// A `400` that says `INVALID_ARGUMENT`: an expired token, no throttle (G11).
    InvalidArgument,
    /// A `403` that says `PERMISSION_DENIED` (G11b).
    PermissionDenied,
    /// A `403` that says nothing (G9).
    Forbidden,
    /// A `404` that says `NOT_FOUND` (G11b).
    NotFound,
    /// A redirect to the captcha under `/sorry/` of the same host, where a caller that follows it shows in the log (G11c).
    Sorry,
    /// The captcha page (G11c).
    Captcha,
    /// A page that wants the visitor to sign in to prove not to be a bot (G11c).
    BotCheck,
    /// A `503` of a server in trouble: no throttle.
    Unavailable,
    /// GitHub's `403` of an exhausted limit; its headers come from the family (G15).
    GithubLimit,
    /// Discord's `429` (G15).
    DiscordLimit,
    /// `OpenAI`'s `429` (G15).
    OpenaiLimit,
    /// Shopify's `429` (G15).
    ShopifyLimit,
    /// Stream's `429`, code 9 (G12).
    StreamLimit,
}

impl Like {
    pub(crate) fn answer(self) -> Answer {
        let (status, body) = match self {
            Self::Throttled => (429, Body::Json(json!({"title": "Too many requests", "status": 429}))),
            Self::ResourceExhausted => (200, google(429, "RESOURCE_EXHAUSTED", "The resource has been exhausted.")),
            Self::QuotaText => (200, google(403, "", "The daily quota of this project is used up.")),
            Self::InvalidArgument => (400, google(400, "INVALID_ARGUMENT", "The request has an invalid argument.")),
            Self::PermissionDenied => (403, google(403, "PERMISSION_DENIED", "The caller may not see this.")),
            Self::Forbidden => (403, Body::Empty),
            Self::NotFound => (404, google(404, "NOT_FOUND", "There is no such entity.")),
            Self::Sorry => return sorry(),
            Self::Captcha => (429, Body::Html(CAPTCHA.to_owned())),
            Self::BotCheck => (200, Body::Html(BOT_CHECK.to_owned())),
            Self::Unavailable => (503, Body::Json(json!({"title": "Unavailable", "status": 503}))),
            Self::GithubLimit => (403, Body::Json(json!({"message": "API rate limit exceeded for this address."}))),
            Self::DiscordLimit => (429, Body::Json(discord())),
            Self::OpenaiLimit => (429, Body::Json(openai())),
            Self::ShopifyLimit => (429, Body::Json(json!({"errors": "Exceeded the calls per second of this client."}))),
            Self::StreamLimit => {
                (429, Body::Json(json!({"code": 9, "StatusCode": 429, "message": "Too many requests"})))
            }
        };
        Answer { status: Some(status), body: Some(body), ..Answer::default() }
    }
}

/// Google's error envelope.
fn google(code: u16, status: &str, message: &str) -> Body {
    let mut error = json!({"code": code, "message": message});
    if !status.is_empty() {
        error["status"] = status.into();
    }
    Body::Json(json!({ "error": error }))
}

fn sorry() -> Answer {
    Answer { status: Some(302), body: Some(Body::Empty), ..Answer::default() }
        .with_header("location", "http://{host}/sorry/index?continue=http://{host}/")
}

fn discord() -> Value {
    json!({"message": "You are being rate limited.", "retry_after": 1.5, "global": false})
}

fn openai() -> Value {
    json!({"error": {"message": "Rate limit reached for requests", "type": "requests", "code": "rate_limit_exceeded"}})
}

const CAPTCHA: &str = "<!doctype html><html><body><form id=\"captcha-form\" action=\"index\" method=\"post\">\
    <div class=\"g-recaptcha\"></div></form><p>There was unusual traffic from this network.</p></body></html>";
const BOT_CHECK: &str = "<!doctype html><html><body><script>var ytInitialPlayerResponse = {\"playabilityStatus\":\
    {\"status\":\"LOGIN_REQUIRED\",\"reason\":\"Sign in to confirm you\u{2019}re not a bot\"}};</script></body></html>";
