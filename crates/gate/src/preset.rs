//! What is known of the services that people put behind the gate.
//!
//! Figures are the services' own published limits where they publish any, and YouTube's the ones that have been
//! found to work from one address. A written setting always wins over its preset's.

use serde::Deserialize;

use crate::UpstreamSettings;
use crate::settings::{ThrottleScope, UpstreamToml};
use crate::signal::body::BodyStyle;
use crate::signal::rate_headers::HeaderFamily;

/// A known kind of upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// YouTube's web endpoints: limits by address, throttles inside a `200`.
    Youtube,
    /// Stream's chat API: limits per endpoint, a budget of database time.
    StreamChat,
    /// GitHub's REST and GraphQL API.
    Github,
    /// Discord's HTTP API.
    Discord,
    /// `OpenAI`'s API, and those that speak like it.
    Openai,
    /// Anything else: YouTube's careful pace, every unambiguous header family.
    #[default]
    Generic,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Youtube, Self::StreamChat, Self::Github, Self::Discord, Self::Openai, Self::Generic];

    /// Its name in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Youtube => "youtube",
            Self::StreamChat => "stream-chat",
            Self::Github => "github",
            Self::Discord => "discord",
            Self::Openai => "openai",
            Self::Generic => "generic",
        }
    }

    /// The settings of an upstream that sets nothing itself.
    #[must_use]
    pub fn settings(self) -> UpstreamSettings {
        UpstreamToml { preset: Some(self), ..UpstreamToml::default() }.resolve().expect("a test resolves every preset")
    }

    /// What it sets.
    pub(crate) fn toml(self) -> UpstreamToml {
        match self {
            Self::Youtube => youtube(),
            Self::StreamChat => stream_chat(),
            Self::Github => github(),
            Self::Discord => discord(),
            Self::Openai => openai(),
            Self::Generic => generic(),
        }
    }
}

fn youtube() -> UpstreamToml {
    UpstreamToml {
        base_url: Some("https://www.youtube.com".to_owned()),
        throttle_statuses: Some(vec![429, 403]),
        body: Some(BodyStyle::Google),
        operations: Some(owned(&YOUTUBE_OPERATIONS)),
        // Polling a continuation does not consume it, so two pollers of one token may be one. Pages are paced only.
        dedupe: Some(owned(&YOUTUBE_POLLS)),
        ..UpstreamToml::default()
    }
}

fn stream_chat() -> UpstreamToml {
    UpstreamToml {
        base_url: Some("https://chat.stream-io-api.com".to_owned()),
        // Limits are counted per endpoint, up to 10,000 a minute: a spacing for all would only slow the quick ones.
        min_interval_ms: Some(0),
        max_concurrency: Some(100),
        scope: Some(ThrottleScope::Operation),
        throttle_statuses: Some(vec![429]),
        headers: Some(vec![HeaderFamily::XRateLimit, HeaderFamily::XBudget]),
        operations: Some(owned(&STREAM_OPERATIONS)),
        dedupe: Some(owned(&GET_AND_HEAD)),
        long_poll: Some(owned(&["GET /longpoll"])),
        ..UpstreamToml::default()
    }
}

fn github() -> UpstreamToml {
    UpstreamToml {
        base_url: Some("https://api.github.com".to_owned()),
        // 900 points a minute, a read costs one; 100 requests at once.
        min_interval_ms: Some(70),
        max_concurrency: Some(10),
        // "Wait for at least one minute" when nothing says how long; the primary limit resets within the hour.
        cooldown_ms: Some(60_000),
        max_cooldown_ms: Some(3_600_000),
        soft_scope: Some(ThrottleScope::Operation),
        hold_until_reset: Some(true),
        throttle_statuses: Some(vec![429]),
        // A 403 is a missing permission more often than a limit.
        evidence_statuses: Some(vec![403]),
        headers: Some(vec![HeaderFamily::XRateLimit]),
        body: Some(BodyStyle::Message),
        operations: Some(owned(&GITHUB_OPERATIONS)),
        dedupe: Some(owned(&GET_AND_HEAD)),
        ..UpstreamToml::default()
    }
}

fn discord() -> UpstreamToml {
    UpstreamToml {
        base_url: Some("https://discord.com".to_owned()),
        // 50 requests a second for one bot, whatever the routes allow.
        min_interval_ms: Some(20),
        max_concurrency: Some(20),
        scope: Some(ThrottleScope::Operation),
        soft_scope: Some(ThrottleScope::Operation),
        hold_until_reset: Some(true),
        throttle_statuses: Some(vec![429]),
        headers: Some(vec![HeaderFamily::Discord]),
        operations: Some(owned(&DISCORD_OPERATIONS)),
        dedupe: Some(owned(&GET_AND_HEAD)),
        ..UpstreamToml::default()
    }
}

fn openai() -> UpstreamToml {
    UpstreamToml {
        base_url: Some("https://api.openai.com".to_owned()),
        min_interval_ms: Some(0),
        max_concurrency: Some(50),
        scope: Some(ThrottleScope::Operation),
        soft_scope: Some(ThrottleScope::Operation),
        hold_until_reset: Some(true),
        throttle_statuses: Some(vec![429]),
        headers: Some(vec![HeaderFamily::OpenAi, HeaderFamily::RetryAfterMs]),
        operations: Some(owned(&OPENAI_OPERATIONS)),
        dedupe: Some(owned(&GET_AND_HEAD)),
        ..UpstreamToml::default()
    }
}

fn generic() -> UpstreamToml {
    UpstreamToml {
        throttle_statuses: Some(vec![429]),
        evidence_statuses: Some(vec![403]),
        headers: Some(vec![
            HeaderFamily::XRateLimit,
            HeaderFamily::Ietf,
            HeaderFamily::RetryAfterMs,
            HeaderFamily::OpenAi,
            HeaderFamily::Shopify,
            HeaderFamily::XBudget,
        ]),
        dedupe: Some(owned(&GET_AND_HEAD)),
        ..UpstreamToml::default()
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

const GET_AND_HEAD: [&str; 2] = ["GET /**", "HEAD /**"];

const YOUTUBE_POLLS: [&str; 2] =
    ["POST /youtubei/v1/live_chat/get_live_chat", "POST /youtubei/v1/live_chat/get_live_chat_replay"];

const YOUTUBE_OPERATIONS: [&str; 17] = [
    YOUTUBE_POLLS[0],
    YOUTUBE_POLLS[1],
    "POST /youtubei/v1/{method}",
    "GET /watch",
    "GET /live_chat",
    "GET /live_chat_replay",
    "GET /live/{id}",
    "GET /shorts/{id}",
    "GET /embed/{id}",
    "GET /channel/{id}/live",
    "GET /channel/{id}/streams",
    "GET /c/{name}/live",
    "GET /c/{name}/streams",
    "GET /user/{name}/live",
    "GET /user/{name}/streams",
    "GET /{handle}/live",
    "GET /{handle}/streams",
];

const STREAM_OPERATIONS: [&str; 62] = [
    "GET /connect",
    "GET /longpoll",
    "POST /sync",
    "POST /channels",
    "POST /channels/read",
    "POST /channels/delete",
    "POST /channels/{type}/query",
    "POST /channels/{type}/{id}/query",
    "POST /channels/{type}/{id}",
    "PATCH /channels/{type}/{id}",
    "DELETE /channels/{type}/{id}",
    "PATCH /channels/{type}/{id}/member",
    "POST /channels/{type}/{id}/message",
    "GET /channels/{type}/{id}/messages",
    "POST /channels/{type}/{id}/event",
    "POST /channels/{type}/{id}/read",
    "POST /channels/{type}/{id}/unread",
    "POST /channels/{type}/{id}/truncate",
    "POST /channels/{type}/{id}/hide",
    "POST /channels/{type}/{id}/show",
    "POST /channels/{type}/{id}/stop-watching",
    "POST /channels/{type}/{id}/draft",
    "GET /channels/{type}/{id}/draft",
    "DELETE /channels/{type}/{id}/draft",
    "POST /channels/{type}/{id}/file",
    "DELETE /channels/{type}/{id}/file",
    "POST /channels/{type}/{id}/image",
    "DELETE /channels/{type}/{id}/image",
    "GET /messages/{id}",
    "POST /messages/{id}",
    "PUT /messages/{id}",
    "DELETE /messages/{id}",
    "POST /messages/{id}/action",
    "POST /messages/{id}/translate",
    "GET /messages/{id}/replies",
    "POST /messages/{id}/reaction",
    "GET /messages/{id}/reactions",
    "POST /messages/{id}/reactions",
    "DELETE /messages/{id}/reaction/{type}",
    "GET /members",
    "GET /search",
    "GET /users",
    "POST /users",
    "PATCH /users",
    "POST /users/{action}",
    "DELETE /users/{id}",
    "GET /users/{id}/export",
    "POST /users/{id}/{action}",
    "POST /moderation/{action}",
    "DELETE /moderation/ban",
    "GET /query_banned_users",
    "POST /threads",
    "GET /threads/{id}",
    "PATCH /threads/{id}",
    "GET /app",
    "PATCH /app",
    "GET /rate_limits",
    "* /channeltypes/**",
    "* /polls/**",
    "* /devices/**",
    "POST /export_channels",
    "GET /tasks/{id}",
];

const GITHUB_OPERATIONS: [&str; 3] = ["GET /search/{kind}", "POST /graphql", "GET /rate_limit"];

const DISCORD_OPERATIONS: [&str; 12] = [
    "GET /api/{version}/channels/{id}/messages",
    "POST /api/{version}/channels/{id}/messages",
    "PATCH /api/{version}/channels/{id}/messages/{id}",
    "DELETE /api/{version}/channels/{id}/messages/{id}",
    "* /api/{version}/channels/{id}/messages/{id}/reactions/**",
    "GET /api/{version}/channels/{id}",
    "PATCH /api/{version}/channels/{id}",
    "GET /api/{version}/guilds/{id}",
    "* /api/{version}/guilds/{id}/members/**",
    "* /api/{version}/webhooks/{id}/{token}",
    "POST /api/{version}/interactions/{id}/{token}/callback",
    "GET /api/{version}/gateway/bot",
];

const OPENAI_OPERATIONS: [&str; 6] = [
    "POST /v1/chat/completions",
    "POST /v1/responses",
    "POST /v1/embeddings",
    "POST /v1/images/{kind}",
    "POST /v1/audio/{kind}",
    "GET /v1/models",
];
