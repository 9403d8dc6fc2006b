//! Reading one response: what it means, which cooldowns it makes, whether its call is tried again.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use http::StatusCode;

use super::Upstream;
use crate::answer::{Heard, Outcome, RateLimited, Throttle, Verdict};
use crate::cooldown::{Change, Reach, SoftKind, budget_hold, rate_hold};
use crate::retry::{Jitter, RetryPolicy};
use crate::settings::{BudgetScope, ThrottleScope};
use crate::signal::body::{self, Finding};
use crate::signal::rate_headers::Rate;
use crate::signal::retry_after::RetryAfter;
use crate::signal::{Head, HeadSigns, body_may_tell};
use crate::{Call, Resource, Scope, Slot};

impl Upstream {
    /// Reads the head of a response. Its cooldowns hold from here on, before any byte of the body.
    pub fn handle_response(&mut self, slot: &Slot, head: Head<'_>, now: Instant, jitter: Jitter) -> Heard {
        let signs = HeadSigns::read(head, self.settings.headers, self.settings.max_cooldown);
        let outcome = self.judge_head(head, &signs);
        let mut heard = Heard {
            outcome: outcome.unwrap_or_else(|| plain(head.status)),
            wants_body: outcome.is_none(),
            rate: signs.rates.tightest.unwrap_or_default(),
            changes: self.forecasts(slot, &signs),
            status: head.status.as_u16(),
            global: signs.global,
            server_delay: signs.server_delay(self.settings.max_cooldown),
            throttle: None,
            retry_granted: OnceLock::new(),
        };
        for change in &heard.changes {
            self.cooldowns.apply(change, now);
        }
        if !heard.wants_body {
            // A throttle without a time may still tell one in its body, which can only make it longer.
            heard.wants_body = outcome == Some(Outcome::Throttled)
                && heard.server_delay.is_none()
                && body_may_tell(self.settings.body, head);
            self.conclude(slot, &mut heard, now, jitter);
        }
        heard
    }

    /// Reads the beginning of the body, decoded, of a response that wants it.
    pub fn handle_body(&mut self, slot: &Slot, mut heard: Heard, body: &[u8], now: Instant, jitter: Jitter) -> Heard {
        if !heard.wants_body {
            return heard;
        }
        heard.wants_body = false;
        let signs = body::read(self.settings.body, heard.status >= 400, body);
        let asked = signs.retry_after.and_then(|asked| RetryAfter::clamped(asked, self.settings.max_cooldown));
        heard.server_delay = heard.server_delay.or(asked);
        match heard.throttle {
            None => {
                heard.outcome = self.judge_body(heard.status, signs.finding, slot.resource, now);
                self.conclude(slot, &mut heard, now, jitter);
            }
            Some(_) if heard.server_delay.is_some() => self.throttle(slot, &mut heard, now, jitter),
            Some(_) => {}
        }
        heard
    }

    /// Takes a caller's own judgement of a call, where there is no response to read or the caller knows better:
    /// an SDK's error, a page that turned out to be a bot check. `asked` is a delay that it was told.
    pub fn handle_finding(
        &mut self,
        slot: &Slot,
        outcome: Outcome,
        asked: Option<Duration>,
        now: Instant,
        jitter: Jitter,
    ) -> Heard {
        let mut heard = Heard {
            outcome,
            wants_body: false,
            rate: Rate::default(),
            changes: Vec::new(),
            status: 0,
            global: false,
            server_delay: asked.and_then(|asked| RetryAfter::clamped(asked, self.settings.max_cooldown)),
            throttle: None,
            retry_granted: OnceLock::new(),
        };
        self.conclude(slot, &mut heard, now, jitter);
        heard
    }

    /// Says what becomes of a response, for one of its callers. After a retry's slot was given back the call is
    /// enqueued anew with `retries + 1`.
    pub fn verdict(
        &mut self,
        heard: &Heard,
        call: &Call,
        policy: &RetryPolicy,
        now: Instant,
        jitter: Jitter,
    ) -> Verdict {
        let Some(throttle) = &heard.throttle else { return Verdict::Pass };
        if self.observes() {
            self.counters.would_retry += 1;
            return Verdict::Pass;
        }
        let until = self.free_at(heard, throttle, call, policy, now, jitter);
        let delay = until.saturating_duration_since(now);
        let in_time = call.deadline.is_none_or(|deadline| until <= deadline);
        if policy.allows(call.retries, delay) && in_time && self.pays(heard, now) {
            self.counters.retried += 1;
            return Verdict::RetryIn(delay);
        }
        Verdict::RateLimited(RateLimited {
            operation: call.operation.clone(),
            scope: match &throttle.reach {
                Reach::Whole => Scope::Upstream,
                Reach::Operation(operation) => Scope::Operation(operation.clone()),
            },
            retry_after: delay,
            rate: heard.rate,
            synthetic: false,
        })
    }

    /// When a throttled call may be tried again: when the cooldown of its scope ends, which another response may
    /// have moved since, or, for a call that heeds none, after its own delay.
    fn free_at(
        &self,
        heard: &Heard,
        throttle: &Throttle,
        call: &Call,
        policy: &RetryPolicy,
        now: Instant,
        jitter: Jitter,
    ) -> Instant {
        if !policy.enable_cooldown {
            return now + heard.server_delay.map_or_else(|| policy.backoff(call.retries, jitter), RetryAfter::get);
        }
        let held = match &throttle.reach {
            Reach::Whole => self.cooldowns.throttled_until(now),
            Reach::Operation(operation) => self.cooldowns.hold_of(operation, now).map(|hold| hold.until),
        };
        held.map_or(throttle.until, |until| until.max(throttle.until))
    }

    fn pays(&mut self, heard: &Heard, now: Instant) -> bool {
        let granted = *heard.retry_granted.get_or_init(|| self.retries.take(now));
        self.counters.over_retry_budget += u64::from(!granted);
        granted
    }

    /// The soft cooldowns and the remembered limits that a head tells (G12–G15).
    fn forecasts(&self, slot: &Slot, signs: &HeadSigns) -> Vec<Change> {
        let mut changes = Vec::new();
        let operation = || Reach::Operation(slot.operation.clone());
        if let Some(rate) = signs.rates.tightest {
            let reach = if self.settings.scope == ThrottleScope::Operation { operation() } else { Reach::Whole };
            changes.push(Change::Rate { reach, seq: slot.seq, rate });
            if let Some(used) = rate.used() {
                let until_reset = rate.reset.filter(|_| self.settings.hold_until_reset && rate.exhausted());
                let hold = until_reset.map(|left| left.min(self.settings.max_cooldown)).or_else(|| rate_hold(used));
                let reach =
                    if self.settings.soft_scope == ThrottleScope::Operation { operation() } else { Reach::Whole };
                changes.push(Change::Soft { kind: SoftKind::Rate, reach, seq: slot.seq, hold });
            }
        }
        if let Some(used) = signs.budget {
            let reach = if self.settings.budget_scope == BudgetScope::Operation { operation() } else { Reach::Whole };
            changes.push(Change::Soft { kind: SoftKind::Budget, reach, seq: slot.seq, hold: budget_hold(used) });
        }
        changes
    }

    /// What a head means; `None` when only the body can tell.
    fn judge_head(&self, head: Head<'_>, signs: &HeadSigns) -> Option<Outcome> {
        let settings = &self.settings;
        let status = head.status;
        if signs.captcha {
            return Some(Outcome::Throttled);
        }
        let readable = body_may_tell(settings.body, head);
        if settings.throttle_statuses.contains(&status) {
            // A 429 is what it is; a 403 may be one private video, if its body says so (G11b).
            let ambiguous = status != StatusCode::TOO_MANY_REQUESTS && readable;
            return (!ambiguous).then_some(Outcome::Throttled);
        }
        let exhausted = signs.rates.tightest.is_some_and(|rate| rate.exhausted());
        if settings.evidence_statuses.contains(&status) && (signs.retry_after.is_some() || exhausted) {
            return Some(Outcome::Throttled);
        }
        (!readable).then(|| plain(status))
    }

    /// What a response means whose body was read.
    fn judge_body(&self, status: u16, finding: Finding, resource: Resource, now: Instant) -> Outcome {
        let throttles = self.settings.throttle_statuses.iter().any(|throttle| throttle.as_u16() == status);
        match (finding, status) {
            (Finding::Throttle | Finding::BotCheck, _) => Outcome::Throttled,
            (Finding::Denied, 403) if self.others_succeed(resource, now) => Outcome::Gone,
            (Finding::NotFound, 404) => Outcome::Gone,
            _ if throttles => Outcome::Throttled,
            (Finding::Denied | Finding::NotFound | Finding::OtherError, 200 | 400) => Outcome::ExpiredToken,
            (_, ..400) => Outcome::Fine,
            (_, 400..) => Outcome::Failed,
        }
    }

    /// Counts an outcome and puts its throttle, if it is one, in force.
    fn conclude(&mut self, slot: &Slot, heard: &mut Heard, now: Instant, jitter: Jitter) {
        match heard.outcome {
            Outcome::Fine if heard.status < 300 => self.note_success(slot.resource, now),
            Outcome::Fine => {}
            Outcome::Throttled => {
                self.counters.throttled += 1;
                self.throttle(slot, heard, now, jitter);
            }
            Outcome::ExpiredToken => self.counters.expired_token += 1,
            Outcome::Gone => self.counters.gone += 1,
            Outcome::Failed => self.counters.failed += 1,
        }
    }

    fn throttle(&mut self, slot: &Slot, heard: &mut Heard, now: Instant, jitter: Jitter) {
        let settings = &self.settings;
        let of_operation = settings.scope == ThrottleScope::Operation && !heard.global;
        let (reach, fallback) = match of_operation {
            true => (Reach::Operation(slot.operation.clone()), settings.retry.backoff(slot.retries, jitter)),
            false => (Reach::Whole, settings.cooldown),
        };
        let hold = heard.server_delay.map_or(fallback, RetryAfter::get);
        let change = Change::Throttle { reach: reach.clone(), hold };
        self.cooldowns.apply(&change, now);
        heard.changes.push(change);
        let before = heard.throttle.as_ref().map_or(now, |throttle| throttle.until);
        heard.throttle = Some(Throttle { reach, until: before.max(now + hold) });
    }

    fn note_success(&mut self, resource: Resource, now: Instant) {
        if self.successes[0].is_some_and(|(last, _)| last != resource) {
            self.successes[1] = self.successes[0];
        }
        self.successes[0] = Some((resource, now));
    }

    fn others_succeed(&self, resource: Resource, now: Instant) -> bool {
        let recent = |&(other, at): &(Resource, Instant)| {
            other != resource && now.saturating_duration_since(at) <= OTHERS_SUCCEED_WITHIN
        };
        self.successes.iter().flatten().any(recent)
    }
}

/// What a status means by itself.
fn plain(status: StatusCode) -> Outcome {
    if status.is_client_error() || status.is_server_error() { Outcome::Failed } else { Outcome::Fine }
}

/// How recent another resource's success must be to show that a 403 is about one resource alone. Rule G11b.
const OTHERS_SUCCEED_WITHIN: Duration = Duration::from_secs(10);
