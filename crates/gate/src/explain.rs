//! What settings mean, in words (`tidegate check`).

use std::time::Duration;

use crate::settings::{BudgetScope, Mode, ThrottleScope, UpstreamSettings};
use crate::signal::body::BodyStyle;
use crate::signal::rate_headers::HeaderFamily;

impl UpstreamSettings {
    /// Explains the settings, most important line first.
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.mode == Mode::Observe {
            lines.push("observe mode: everything passes; what follows is only measured and reported".to_owned());
        }
        lines.push(format!("{}; {}", self.pace(), self.throttles()));
        lines.push(self.queue());
        lines.extend(self.forecasts());
        lines.extend(self.bodies());
        lines.push(self.retries());
        lines.push(self.sharing());
        lines
    }

    fn pace(&self) -> String {
        let rate = match self.min_interval.as_millis() {
            0 => "calls are not spaced".to_owned(),
            ms @ 1..1000 => format!("at most {} calls/s", number(1000.0 / ms as f64)),
            1000 => "at most 1 call/s".to_owned(),
            _ => format!("at most 1 call every {}", time(self.min_interval)),
        };
        format!("{rate}, {} at once", self.max_concurrency)
    }

    fn throttles(&self) -> String {
        let statuses: Vec<&str> = self.throttle_statuses.iter().map(|status| status.as_str()).collect();
        let signs = if statuses.is_empty() { "no status".to_owned() } else { format!("a {}", statuses.join(" or ")) };
        match self.scope {
            ThrottleScope::Upstream => {
                format!("{signs} stops everything for its Retry-After, else {}", time(self.cooldown))
            }
            ThrottleScope::Operation => format!(
                "{signs} stops that operation, whose calls are refused at once for its Retry-After, else a jittered \
                 delay of up to {}",
                time(self.retry.max_delay)
            ),
        }
    }

    fn queue(&self) -> String {
        format!(
            "up to {} calls wait, at the proxy for up to {}; no cooldown is longer than {}",
            self.max_queue,
            time(self.max_wait),
            time(self.max_cooldown)
        )
    }

    fn forecasts(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let rates = [HeaderFamily::XRateLimit, HeaderFamily::Ietf, HeaderFamily::OpenAi, HeaderFamily::Discord];
        if rates.into_iter().chain([HeaderFamily::Shopify]).any(|family| self.headers.has(family)) {
            let whose = match self.soft_scope {
                ThrottleScope::Upstream => "all calls",
                ThrottleScope::Operation => "the operation's calls",
            };
            let reset = if self.hold_until_reset { ", and until its reset once nothing is left" } else { "" };
            lines.push(format!("a rate limit that is 70 / 85 / 95 % used up holds {whose} for 0.5 / 1.5 / 3 s{reset}"));
        }
        if self.headers.has(HeaderFamily::XBudget) {
            let whose = match self.budget_scope {
                BudgetScope::App => "all calls",
                BudgetScope::Operation => "the operation's calls",
            };
            lines.push(format!("a budget that is 60 / 70 / 80 % used up holds {whose} for 1-2 / 5-10 / 30-60 s"));
        }
        lines
    }

    fn bodies(&self) -> Option<String> {
        let evidence: Vec<&str> = self.evidence_statuses.iter().map(|status| status.as_str()).collect();
        let proof = match self.body {
            BodyStyle::Google => {
                return Some("throttles inside answers below 500 are recognised by their body".to_owned());
            }
            BodyStyle::Message => "its headers or its message",
            BodyStyle::Off => "its headers",
        };
        (!evidence.is_empty()).then(|| format!("a {} is a throttle only where {proof} say so", evidence.join(" or ")))
    }

    fn retries(&self) -> String {
        let retry = &self.retry;
        if retry.max_attempts <= 1 {
            return "a throttled call is not tried again".to_owned();
        }
        format!(
            "a throttled call is tried up to {} times if the delay is at most {}; retries stay under 20 % of calls",
            retry.max_attempts,
            time(retry.max_retryable_delay)
        )
    }

    fn sharing(&self) -> String {
        if self.routes.shareable.is_empty() {
            return "no calls are shared".to_owned();
        }
        let routes: Vec<String> = self.routes.shareable.iter().map(ToString::to_string).collect();
        format!("the same calls at the same time are one: {}", routes.join(", "))
    }
}

fn time(time: Duration) -> String {
    match time.as_millis() {
        ms if ms < 1000 => format!("{ms} ms"),
        ms => format!("{} s", number(ms as f64 / 1000.0)),
    }
}

/// At most two decimals, and none that say nothing.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
