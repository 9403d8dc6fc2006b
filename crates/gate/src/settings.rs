//! One upstream's settings: as written (`[upstreams.NAME]`), and as used.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use http::header::HeaderName;
use http::{Method, StatusCode};
use serde::Deserialize;

use crate::preset::Preset;
use crate::retry::RetryPolicy;
use crate::route::{Route, RouteTemplate, Routes, TemplateError};
use crate::signal::body::BodyStyle;
use crate::signal::rate_headers::{Families, HeaderFamily};

/// Whether the gate acts or only looks (G29).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Paces, shares, holds and refuses.
    #[default]
    On,
    /// Passes everything and says what it would have done.
    Observe,
}

/// What a throttle, or a rate limit that is nearly used up, is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThrottleScope {
    /// Everything: such an upstream limits by address or account (G9).
    #[default]
    Upstream,
    /// The operation that was called (G12).
    Operation,
}

/// What a budget is about (G14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetScope {
    /// The whole app.
    #[default]
    App,
    /// The operation that was called.
    Operation,
}

/// The settings of one upstream, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamSettings {
    /// What it was built from.
    pub preset: Preset,
    /// Where it is; a library that makes its own calls needs none.
    pub base_url: Option<String>,
    /// A PEM file of roots that it is trusted by beside the public ones: a private certificate authority's.
    pub ca_file: Option<PathBuf>,
    /// Time for a TCP connection, 5 s.
    pub connect_timeout: Duration,
    /// Time for the head of an answer, connecting included, from the last piece of the request's body, 60 s.
    pub answer_timeout: Duration,
    /// A longer request body is refused by the proxy, in bytes, 100 MiB.
    pub max_body_bytes: u64,
    /// A request body that may be sent twice (retried or shared) is kept up to this, in bytes, 256 KiB; a longer one
    /// is passed on as it comes, once.
    pub replay_max_bytes: usize,
    /// Whether it acts (G29).
    pub mode: Mode,
    /// Spacing between starts; zero is none. Rule G1, 250 ms.
    pub min_interval: Duration,
    /// Calls at once. Rule G1, 4.
    pub max_concurrency: NonZeroU32,
    /// Calls that wait. Rule G3, 1,000.
    pub max_queue: usize,
    /// Callers that share flights, at most; bounds memory.
    pub max_shared: usize,
    /// How long a call waits at the proxy unless it says otherwise. Rule G3, 30 s.
    pub max_wait: Duration,
    /// Hold of a throttle without a usable time. Rule G16, 30 s.
    pub cooldown: Duration,
    /// Clamp of every hold. Rule G16, 300 s.
    pub max_cooldown: Duration,
    /// How fast a throttled room's interval widens. Rule G24, 2.
    pub backoff_factor: f64,
    /// The widest interval. Rule G24, 60 s.
    pub max_interval: Duration,
    /// Rate limits in a row that end a room. Rule G25, 8.
    pub max_throttle_errors: u32,
    /// Stream errors in a row that end a room. Rule G25, 3.
    pub max_stream_errors: u32,
    /// What a throttle is about. Rules G9, G12.
    pub scope: ThrottleScope,
    /// What a nearly used up rate limit is about. Rule G13: the upstream.
    pub soft_scope: ThrottleScope,
    /// What a budget is about. Rule G14: the app.
    pub budget_scope: BudgetScope,
    /// Whether an exhausted limit holds until its own reset rather than for G13's times (G15).
    pub hold_until_reset: bool,
    /// Statuses that are throttles. Rule G9.
    pub throttle_statuses: Vec<StatusCode>,
    /// Statuses that are throttles only if something says so: `Retry-After`, nothing remaining, the body.
    pub evidence_statuses: Vec<StatusCode>,
    /// Header families that it sends. Rules G13–G15.
    pub headers: Families,
    /// How its bodies tell a throttle. Rule G19: not looked at.
    pub body: BodyStyle,
    /// Headers that no answer depends on, beyond the usual ones (G5).
    pub dedupe_ignore_headers: Vec<HeaderName>,
    /// A longer answer is not shared. Rule G8, 8 MiB.
    pub dedupe_max_bytes: u64,
    /// A body that does not move for so long is ended, and its slot with it (G3), 30 s.
    pub stall: Duration,
    /// Retries (G20).
    pub retry: RetryPolicy,
    /// Operations that something is kept for, at most; bounds memory. Cooldowns in force are never dropped.
    pub max_operations: usize,
    pub(crate) routes: Routes,
}

impl UpstreamSettings {
    /// What the configuration says about a request; `path` is without its query.
    #[must_use]
    pub fn route(&self, method: &Method, path: &str) -> Route {
        self.routes.route(method, path)
    }
}

/// The settings as written; whatever is missing comes from the preset.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is documented where it is used, in UpstreamSettings")]
pub struct UpstreamToml {
    pub preset: Option<Preset>,
    pub base_url: Option<String>,
    pub ca_file: Option<PathBuf>,
    pub connect_timeout_ms: Option<u64>,
    pub answer_timeout_ms: Option<u64>,
    pub max_body_bytes: Option<u64>,
    pub replay_max_bytes: Option<usize>,
    pub mode: Option<Mode>,
    pub min_interval_ms: Option<u64>,
    pub max_concurrency: Option<u32>,
    pub max_queue: Option<usize>,
    pub max_shared: Option<usize>,
    pub max_wait_ms: Option<u64>,
    pub cooldown_ms: Option<u64>,
    pub max_cooldown_ms: Option<u64>,
    pub backoff_factor: Option<f64>,
    pub max_interval_ms: Option<u64>,
    pub max_throttle_errors: Option<u32>,
    pub max_stream_errors: Option<u32>,
    pub scope: Option<ThrottleScope>,
    pub soft_scope: Option<ThrottleScope>,
    pub budget_scope: Option<BudgetScope>,
    pub hold_until_reset: Option<bool>,
    pub throttle_statuses: Option<Vec<u16>>,
    pub evidence_statuses: Option<Vec<u16>>,
    pub headers: Option<Vec<HeaderFamily>>,
    pub body: Option<BodyStyle>,
    pub operations: Option<Vec<String>>,
    pub dedupe: Option<Vec<String>>,
    pub long_poll: Option<Vec<String>>,
    pub dedupe_ignore_headers: Option<Vec<String>>,
    pub dedupe_max_bytes: Option<u64>,
    pub stall_ms: Option<u64>,
    pub max_attempts: Option<u32>,
    pub enable_cooldown: Option<bool>,
    pub max_delay_ms: Option<u64>,
    pub max_retryable_delay_ms: Option<u64>,
    pub max_operations: Option<usize>,
}

impl UpstreamToml {
    /// Fills in the preset and checks everything.
    ///
    /// # Errors
    /// When a value is out of its range; the message names the key and the range.
    pub fn resolve(self) -> Result<UpstreamSettings, SettingsError> {
        let preset = self.preset.unwrap_or_default();
        let own = self.over(preset.toml());
        let max_cooldown = time("max_cooldown_ms", own.max_cooldown_ms, 300_000, 1..=DAY_MS)?;
        Ok(UpstreamSettings {
            preset,
            mode: own.mode.unwrap_or_default(),
            min_interval: time("min_interval_ms", own.min_interval_ms, 250, 0..=DAY_MS)?,
            max_concurrency: own.max_concurrency.map_or(Ok(FOUR), |calls| {
                NonZeroU32::new(calls).ok_or_else(|| out_of_range("max_concurrency", "at least 1"))
            })?,
            max_queue: own.max_queue.unwrap_or(1000),
            max_shared: own.max_shared.unwrap_or(10_000),
            max_wait: time("max_wait_ms", own.max_wait_ms, 30_000, 0..=DAY_MS)?,
            cooldown: time("cooldown_ms", own.cooldown_ms, 30_000, 1..=DAY_MS)?.min(max_cooldown),
            max_cooldown,
            backoff_factor: factor(own.backoff_factor.unwrap_or(2.0))?,
            max_interval: time("max_interval_ms", own.max_interval_ms, 60_000, 1..=DAY_MS)?,
            max_throttle_errors: own.max_throttle_errors.unwrap_or(8),
            max_stream_errors: own.max_stream_errors.unwrap_or(3),
            scope: own.scope.unwrap_or_default(),
            soft_scope: own.soft_scope.unwrap_or_default(),
            budget_scope: own.budget_scope.unwrap_or_default(),
            hold_until_reset: own.hold_until_reset.unwrap_or(false),
            throttle_statuses: statuses("throttle_statuses", own.throttle_statuses)?,
            evidence_statuses: statuses("evidence_statuses", own.evidence_statuses)?,
            headers: own.headers.unwrap_or_default().into_iter().collect(),
            body: own.body.unwrap_or_default(),
            routes: Routes {
                operations: templates("operations", own.operations)?,
                shareable: templates("dedupe", own.dedupe)?,
                long_poll: templates("long_poll", own.long_poll)?,
            },
            dedupe_ignore_headers: header_names(own.dedupe_ignore_headers)?,
            dedupe_max_bytes: own.dedupe_max_bytes.unwrap_or(8 << 20),
            stall: time("stall_ms", own.stall_ms, 30_000, 1..=DAY_MS)?,
            retry: RetryPolicy {
                max_attempts: own.max_attempts.unwrap_or(3),
                enable_cooldown: own.enable_cooldown.unwrap_or(true),
                max_delay: time("max_delay_ms", own.max_delay_ms, 5000, 0..=DAY_MS)?,
                max_retryable_delay: time("max_retryable_delay_ms", own.max_retryable_delay_ms, 10_000, 0..=DAY_MS)?,
            },
            max_operations: own.max_operations.unwrap_or(10_000),
            base_url: base_url(own.base_url)?,
            ca_file: own.ca_file,
            connect_timeout: time("connect_timeout_ms", own.connect_timeout_ms, 5000, 1..=DAY_MS)?,
            answer_timeout: time("answer_timeout_ms", own.answer_timeout_ms, 60_000, 1..=DAY_MS)?,
            max_body_bytes: own.max_body_bytes.unwrap_or(100 << 20),
            replay_max_bytes: own.replay_max_bytes.unwrap_or(256 << 10),
        })
    }

    /// These settings, and under them others.
    fn over(self, under: Self) -> Self {
        Self {
            preset: self.preset.or(under.preset),
            base_url: self.base_url.or(under.base_url),
            ca_file: self.ca_file.or(under.ca_file),
            connect_timeout_ms: self.connect_timeout_ms.or(under.connect_timeout_ms),
            answer_timeout_ms: self.answer_timeout_ms.or(under.answer_timeout_ms),
            max_body_bytes: self.max_body_bytes.or(under.max_body_bytes),
            replay_max_bytes: self.replay_max_bytes.or(under.replay_max_bytes),
            mode: self.mode.or(under.mode),
            min_interval_ms: self.min_interval_ms.or(under.min_interval_ms),
            max_concurrency: self.max_concurrency.or(under.max_concurrency),
            max_queue: self.max_queue.or(under.max_queue),
            max_shared: self.max_shared.or(under.max_shared),
            max_wait_ms: self.max_wait_ms.or(under.max_wait_ms),
            cooldown_ms: self.cooldown_ms.or(under.cooldown_ms),
            max_cooldown_ms: self.max_cooldown_ms.or(under.max_cooldown_ms),
            backoff_factor: self.backoff_factor.or(under.backoff_factor),
            max_interval_ms: self.max_interval_ms.or(under.max_interval_ms),
            max_throttle_errors: self.max_throttle_errors.or(under.max_throttle_errors),
            max_stream_errors: self.max_stream_errors.or(under.max_stream_errors),
            scope: self.scope.or(under.scope),
            soft_scope: self.soft_scope.or(under.soft_scope),
            budget_scope: self.budget_scope.or(under.budget_scope),
            hold_until_reset: self.hold_until_reset.or(under.hold_until_reset),
            throttle_statuses: self.throttle_statuses.or(under.throttle_statuses),
            evidence_statuses: self.evidence_statuses.or(under.evidence_statuses),
            headers: self.headers.or(under.headers),
            body: self.body.or(under.body),
            operations: self.operations.or(under.operations),
            dedupe: self.dedupe.or(under.dedupe),
            long_poll: self.long_poll.or(under.long_poll),
            dedupe_ignore_headers: self.dedupe_ignore_headers.or(under.dedupe_ignore_headers),
            dedupe_max_bytes: self.dedupe_max_bytes.or(under.dedupe_max_bytes),
            stall_ms: self.stall_ms.or(under.stall_ms),
            max_attempts: self.max_attempts.or(under.max_attempts),
            enable_cooldown: self.enable_cooldown.or(under.enable_cooldown),
            max_delay_ms: self.max_delay_ms.or(under.max_delay_ms),
            max_retryable_delay_ms: self.max_retryable_delay_ms.or(under.max_retryable_delay_ms),
            max_operations: self.max_operations.or(under.max_operations),
        }
    }
}

/// Why settings were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A value out of its range.
    #[error("{key}: {range}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What is allowed, in words.
        range: String,
    },
    /// A route that is none.
    #[error("{key}: {error}")]
    Template {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        #[source]
        error: TemplateError,
    },
}

impl SettingsError {
    /// The key whose value was refused.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::OutOfRange { key, .. } | Self::Template { key, .. } => key,
        }
    }

    /// What is wrong with the value, for a text that has named the key already.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::OutOfRange { range, .. } => range.clone(),
            Self::Template { error, .. } => error.to_string(),
        }
    }
}

fn out_of_range(key: &'static str, range: impl Into<String>) -> SettingsError {
    SettingsError::OutOfRange { key, range: range.into() }
}

fn time(
    key: &'static str,
    ms: Option<u64>,
    default_ms: u64,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Duration, SettingsError> {
    let ms = ms.unwrap_or(default_ms);
    if range.contains(&ms) {
        return Ok(Duration::from_millis(ms));
    }
    Err(out_of_range(key, format!("from {} to {} milliseconds", range.start(), range.end())))
}

fn factor(factor: f64) -> Result<f64, SettingsError> {
    if (1.0..=100.0).contains(&factor) { Ok(factor) } else { Err(out_of_range("backoff_factor", "from 1 to 100")) }
}

fn statuses(key: &'static str, statuses: Option<Vec<u16>>) -> Result<Vec<StatusCode>, SettingsError> {
    let check = |status| match status {
        300..=599 => StatusCode::from_u16(status).map_err(|_| out_of_range(key, "statuses from 300 to 599")),
        _ => Err(out_of_range(key, "statuses from 300 to 599; a throttle inside a 200 is told by `body`")),
    };
    statuses.unwrap_or_default().into_iter().map(check).collect()
}

fn templates(key: &'static str, texts: Option<Vec<String>>) -> Result<Vec<RouteTemplate>, SettingsError> {
    let read = |text: &String| RouteTemplate::parse(text).map_err(|error| SettingsError::Template { key, error });
    texts.unwrap_or_default().iter().map(read).collect()
}

fn header_names(names: Option<Vec<String>>) -> Result<Vec<HeaderName>, SettingsError> {
    let check = |name: String| {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| out_of_range("dedupe_ignore_headers", format!("{name:?} is no header name")))?;
        if IDENTITY.contains(&name) {
            return Err(out_of_range(
                "dedupe_ignore_headers",
                format!("{name} is an identity, which is never ignored"),
            ));
        }
        Ok(name)
    };
    names.unwrap_or_default().into_iter().map(check).collect()
}

fn base_url(url: Option<String>) -> Result<Option<String>, SettingsError> {
    let wrong = || out_of_range("base_url", "write http:// or https://, a host, and no query, fragment or password");
    let Some(url) = url else { return Ok(None) };
    let parsed: http::Uri = url.parse().map_err(|_| wrong())?;
    let good =
        matches!(parsed.scheme_str(), Some("http" | "https")) && parsed.host().is_some_and(|host| !host.is_empty());
    // A password would be shown wherever the URL is; callers send their own credentials.
    let more = parsed.query().is_some() || url.contains(['#', '@']);
    if !good || more {
        return Err(wrong());
    }
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

const FOUR: NonZeroU32 = NonZeroU32::new(4).expect("four is not zero");
/// No time in the settings is longer than a day, so that no sum of times can overflow.
const DAY_MS: u64 = 86_400_000;
/// Headers that tell callers apart by definition: two identities never share a response (G8).
static IDENTITY: [HeaderName; 3] =
    [http::header::AUTHORIZATION, http::header::COOKIE, http::header::PROXY_AUTHORIZATION];
