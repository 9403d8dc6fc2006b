//! Why a call is refused: an operation's cooldown, a wait that is or will be too long, a full queue.

use std::time::{Duration, Instant};

use super::Upstream;
use crate::answer::{RateLimited, Refusal};
use crate::cooldown::Hold;
use crate::pacer::look_again;
use crate::turns::Lane;
use crate::{Call, Ticket};

/// What an operation's cooldown says to a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Free,
    Park(Instant),
    Refused(Hold),
}

impl Upstream {
    /// What an operation's cooldown says to a call.
    pub(super) fn pass(&self, call: &Call, now: Instant) -> Pass {
        if !call.heeds_cooldowns || self.observes() {
            return Pass::Free;
        }
        let Some(hold) = self.cooldowns.hold_of(&call.operation, now) else { return Pass::Free };
        // A retry was told how long to wait; that another call's 429 has moved the end a little is no reason to
        // fail it now.
        let patient = call.retries > 0 && hold.until - now <= self.settings.retry.max_retryable_delay;
        if hold.refuses() && !patient { Pass::Refused(hold) } else { Pass::Park(look_again(&hold, now)) }
    }

    /// Finds the next waiting call, or caller of one, whose deadline is over or is known to come too early.
    pub(super) fn expire(&mut self, is_over: impl Fn(Instant) -> bool, now: Instant) -> Option<(Ticket, Refusal)> {
        let hold = self.holding(now);
        let throttled = self.cooldowns.throttled_until(now).filter(|_| hold.is_some());
        let certain = throttled.max(hold.filter(|hold| self.lasts(hold)).map(|hold| hold.until));
        let mut last = None;
        while let Some((deadline, ticket)) = self.pacer.deadline_after(last) {
            let over = is_over(deadline);
            if !over && certain.is_none_or(|until| deadline >= until) {
                return None;
            }
            let flight = self.flights.caller(ticket).map_or(ticket, |caller| caller.flight);
            if over || self.pacer.get(flight).is_some_and(|waiting| waiting.lane.heeds_cooldowns()) {
                return Some((ticket, self.end_wait(ticket, flight, now)));
            }
            last = Some((deadline, ticket));
        }
        None
    }

    /// Ends the wait of a call, or of a shared call's caller, and says why.
    fn end_wait(&mut self, ticket: Ticket, flight: Ticket, now: Instant) -> Refusal {
        let caller = self.flights.caller(ticket);
        let refusal = match self.pacer.get(flight) {
            Some(waiting) => self.too_long(&waiting.call, waiting.lane, caller.map_or(waiting.since, |c| c.since), now),
            None => Refusal::WaitExceeded { waited: now - caller.map_or(now, |caller| caller.since), needed: None },
        };
        match caller {
            Some(caller) => {
                self.pacer.unwatch(caller.deadline, ticket);
                self.leave(ticket);
            }
            None => {
                self.pacer.remove(ticket);
            }
        }
        self.count(refusal)
    }

    /// Why a call has waited too long: a cooldown, or simply the line (G3).
    fn too_long(&self, call: &Call, lane: Lane, since: Instant, now: Instant) -> Refusal {
        let hold = self.cooldowns.hold(now).filter(|_| lane.heeds_cooldowns());
        let of = || self.cooldowns.hold_of(&call.operation, now).filter(|_| call.heeds_cooldowns);
        match hold.or_else(of) {
            Some(hold) => self.limited(call, hold, now),
            None => Refusal::WaitExceeded { waited: now - since, needed: None },
        }
    }

    /// Whether a call that has to wait is known to wait too long: then it is told so at once (G3, G18).
    pub(super) fn known_too_long(&self, call: &Call, lane: Lane, hold: Option<Hold>, now: Instant) -> Option<Refusal> {
        let deadline = call.deadline?;
        let of = if call.heeds_cooldowns { self.cooldowns.hold_of(&call.operation, now) } else { None };
        let holds = hold.filter(|_| lane.heeds_cooldowns()).into_iter().chain(of);
        let certain = holds.filter(|hold| self.lasts(hold)).max_by_key(|hold| hold.until);
        if let Some(hold) = certain.clone().filter(|hold| hold.until > deadline) {
            return Some(self.limited(call, hold, now));
        }
        let pace = &self.pacer.pace;
        let first = pace.spaced_at_least(now).max(certain.map_or(now, |hold| hold.until));
        let ahead = u32::try_from(self.pacer.turns().ahead(lane, call.key)).unwrap_or(u32::MAX);
        let needed = (first - now).saturating_add(pace.min_interval().saturating_mul(ahead));
        let too_long = needed > deadline.saturating_duration_since(now);
        too_long.then_some(Refusal::WaitExceeded { waited: Duration::ZERO, needed: Some(needed) })
    }

    /// Whether a cooldown is certain to last: a throttle is; a forecast is when nothing is under way whose answer
    /// could lower it.
    pub(super) fn lasts(&self, hold: &Hold) -> bool {
        hold.firm || self.pacer.pace.running() == 0
    }

    pub(super) fn limited(&self, call: &Call, hold: Hold, now: Instant) -> Refusal {
        Refusal::RateLimited(RateLimited {
            retry_after: hold.until.saturating_duration_since(now),
            scope: hold.scope,
            rate: self.cooldowns.limits_of(&call.operation, now).unwrap_or_default(),
            operation: call.operation.clone(),
            synthetic: true,
        })
    }

    pub(super) fn queue_full(&self, now: Instant) -> Refusal {
        let hold = self.cooldowns.hold(now).map_or(now, |hold| hold.until);
        let first = self.pacer.pace.spaced_at_least(now).max(hold);
        let retry_after = (first - now).max(Duration::from_secs(1));
        Refusal::QueueFull { waiting: self.pacer.len(), retry_after }
    }

    pub(super) fn drop_held(&mut self, ticket: Ticket, hold: Hold, now: Instant) -> Refusal {
        let waiting = self.pacer.remove(ticket);
        self.end_flight(ticket);
        let refusal = match waiting {
            Some(waiting) => self.limited(&waiting.call, hold, now),
            None => self.queue_full(now),
        };
        self.count(refusal)
    }

    pub(super) fn count(&mut self, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::QueueFull { .. } => self.counters.queue_full += 1,
            Refusal::WaitExceeded { .. } => self.counters.wait_exceeded += 1,
            Refusal::RateLimited(_) => self.counters.synthetic += 1,
        }
        refusal
    }
}
