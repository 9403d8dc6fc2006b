//! The machine of one upstream: what every call passes on its way out and back.
//!
//! ```text
//! enqueue / join ─▶ operation's cooldown ─▶ upstream's cooldown ─▶ line ─▶ Slot ─▶ the call
//!                        │ refused                                                  │
//!                        ▼                                                          ▼
//!                     Refusal             cooldowns, outcome ◀─ handle_response, handle_body
//!                                                                                   │
//!                              verdict: pass, retry, or error ◀─────────────────────┘   handle_end(Slot)
//! ```
//!
//! A shell keeps one behind a mutex. After every call but `snapshot` it drains `poll_start` and sleeps until what
//! that answers; it owns all waiting.

mod hearing;
mod refusing;

use std::collections::VecDeque;
use std::time::Instant;

use self::refusing::Pass;
use crate::answer::{Claim, Enqueued, Joined, Next, Refusal};
use crate::budget::RetryBudget;
use crate::cooldown::{Change, Cooldowns, Hold};
use crate::flight::{Caller, Fingerprint, Flights};
use crate::pace::Pace;
use crate::pacer::{Pacer, Waiting};
use crate::settings::{Mode, UpstreamSettings};
use crate::snapshot::{Counters, Snapshot};
use crate::turns::Lane;
use crate::{Call, Resource, Seq, Slot, Ticket};

/// One rate-limited service, and everything that is known about calling it.
#[derive(Debug)]
pub struct Upstream {
    settings: UpstreamSettings,
    pacer: Pacer,
    cooldowns: Cooldowns,
    flights: Flights,
    /// Flights that lost their last caller, to be told of.
    abandoned: VecDeque<Ticket>,
    retries: RetryBudget,
    /// The last success, and the last one of another resource than that (G11b).
    successes: [Option<(Resource, Instant)>; 2],
    last_seq: u64,
    /// Processes that share this upstream's pace without a store to agree in (G27).
    processes: u32,
    counters: Counters,
}

impl Upstream {
    /// An upstream that was never called.
    #[must_use]
    pub fn new(settings: UpstreamSettings) -> Self {
        Self {
            pacer: Pacer::new(Pace::new(
                settings.min_interval,
                settings.max_concurrency.get(),
                settings.mode == Mode::On,
            )),
            cooldowns: Cooldowns::new(settings.max_operations),
            flights: Flights::default(),
            abandoned: VecDeque::new(),
            retries: RetryBudget::default(),
            successes: [None; 2],
            last_seq: 0,
            processes: 1,
            counters: Counters::default(),
            settings,
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &UpstreamSettings {
        &self.settings
    }

    /// Takes new settings. Who waits keeps its place, what holds goes on holding; observe mode lets all of them go.
    pub fn set_settings(&mut self, settings: UpstreamSettings) {
        self.cooldowns.set_operations_max(settings.max_operations);
        self.settings = settings;
        self.set_processes(self.processes);
    }

    /// Shares the pace with other processes that cannot be asked now: each takes its part of it (G27).
    pub fn set_processes(&mut self, processes: u32) {
        self.processes = processes.max(1);
        let interval = self.settings.min_interval.saturating_mul(self.processes);
        let slots = (self.settings.max_concurrency.get() / self.processes).max(1);
        self.pacer.pace.set(interval, slots, !self.observes());
    }

    /// Lets a call go now, puts it in line, or refuses it.
    ///
    /// # Errors
    /// A full queue, a wait that is known to be too long, or an operation's cooldown.
    pub fn enqueue(&mut self, call: Call, now: Instant) -> Result<Enqueued, Refusal> {
        let ticket = self.pacer.next_ticket();
        self.enter(ticket, call, now)
    }

    /// The same for a call that may share an identical one under way, or be shared (G5).
    ///
    /// A shared call waits and runs under a ticket of its own; the caller's ticket is for leaving, and for being
    /// told of its own deadline.
    ///
    /// # Errors
    /// As for [`Upstream::enqueue`].
    pub fn join(&mut self, fingerprint: Fingerprint, call: Call, now: Instant) -> Result<Joined, Refusal> {
        match self.flights.find(&fingerprint) {
            Some(_) if self.observes() => {
                self.counters.would_share += 1;
                self.enqueue(call, now).map(Joined::Alone)
            }
            Some(flight) => self.follow(flight, &call, now),
            None => self.open(fingerprint, call, now),
        }
    }

    /// Says what to do next. To be called until it answers [`Next::Wait`].
    pub fn poll_start(&mut self, now: Instant) -> Next {
        self.counters.late += self.pacer.lapse(now);
        if let Some(flight) = self.abandoned.pop_front() {
            return Next::Abandon(flight);
        }
        if let Some((ticket, refusal)) = self.expire(|deadline| deadline < now, now) {
            return Next::Refuse(ticket, refusal);
        }
        let observes = self.observes();
        self.pacer.unpark(|until| observes || until <= now);
        let held = self.holding(now).is_some();
        while let Some(ticket) = self.pacer.next(held, now) {
            match self.pacer.get(ticket).map(|waiting| self.pass(&waiting.call, now)) {
                Some(Pass::Free) => {
                    self.pacer.tell(ticket, now);
                    return Next::Start(ticket);
                }
                Some(Pass::Park(until)) => self.pacer.park(ticket, until),
                Some(Pass::Refused(hold)) => return Next::Refuse(ticket, self.drop_held(ticket, hold, now)),
                None => {}
            }
        }
        // Who could start at the very end of its time has done so by now.
        if let Some((ticket, refusal)) = self.expire(|deadline| deadline <= now, now) {
            return Next::Refuse(ticket, refusal);
        }
        Next::Wait(self.poll_timeout(now))
    }

    /// When [`Upstream::poll_start`] may have something to say by time alone.
    #[must_use]
    pub fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        self.pacer.poll_timeout(self.holding(now).as_ref(), now)
    }

    /// Starts a call that was woken, unless a cooldown has begun since: nothing is sent during one (G9).
    pub fn claim(&mut self, ticket: Ticket, now: Instant) -> Claim {
        let Some(waiting) = self.pacer.get(ticket) else { return Claim::Gone };
        let held = waiting.lane.heeds_cooldowns() && self.holding(now).is_some();
        let pass = self.pass(&waiting.call, now);
        if held || !self.pacer.is_told(ticket) {
            self.pacer.step_back(ticket);
            return Claim::Waits;
        }
        match pass {
            Pass::Refused(hold) => Claim::Refused(self.drop_held(ticket, hold, now)),
            Pass::Park(until) => {
                self.pacer.step_aside(ticket, until);
                Claim::Waits
            }
            Pass::Free => match self.pacer.redeem(ticket, now) {
                Some(waiting) => Claim::Started(self.take_off(ticket, waiting, now)),
                None => Claim::Gone,
            },
        }
    }

    /// A caller went away while it waited, before or after it was woken; harmless for any other ticket.
    ///
    /// A shared call goes on for its other callers; the last one's leaving is told by [`Next::Abandon`] (G7).
    pub fn handle_cancel(&mut self, ticket: Ticket) {
        if let Some(caller) = self.flights.caller(ticket) {
            self.pacer.unwatch(caller.deadline, ticket);
            self.counters.cancelled += u64::from(self.pacer.get(caller.flight).is_some());
            self.leave(ticket);
        } else if self.pacer.remove(ticket).is_some() {
            self.counters.cancelled += 1;
            self.end_flight(ticket);
        }
    }

    /// A call that [leaves later](Call::leaves_later) than it started leaves now: the spacing counts from here (G1).
    pub fn handle_sent(&mut self, slot: &mut Slot, now: Instant) {
        if std::mem::take(&mut slot.leaves_later) {
            self.pacer.pace.sent(now);
        }
    }

    /// Takes a slot back: the call, its body included, has ended or was dropped (G3).
    pub fn handle_end(&mut self, slot: Slot) {
        self.pacer.pace.give_back(slot.counted);
        if slot.leaves_later {
            self.pacer.pace.stayed();
        }
    }

    /// A shared call has ended: the next identical one is a new call (G6).
    pub fn end_flight(&mut self, flight: Ticket) {
        self.forget_deadlines(flight);
        self.flights.end(flight);
    }

    /// Takes in what another process has heard.
    pub fn apply(&mut self, change: &Change, now: Instant) {
        self.cooldowns.apply(change, now);
    }

    /// What holds every call now, for as long as it lasts.
    #[must_use]
    pub fn hold(&self, now: Instant) -> Option<Hold> {
        self.cooldowns.hold(now)
    }

    /// How things stand.
    #[must_use]
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        let turns = self.pacer.turns();
        let mut holds: Vec<Hold> = self.cooldowns.hold(now).into_iter().collect();
        holds.extend(self.cooldowns.held_operations(SHOWN_OPERATIONS, now));
        Snapshot {
            running: self.pacer.pace.running(),
            interactive: turns.waiting(Lane::Interactive),
            background: turns.waiting(Lane::Background),
            waiting: self.pacer.len(),
            keys: turns.keys(Lane::Interactive) + turns.keys(Lane::Background),
            flights: self.flights.under_way(),
            callers: self.flights.callers(),
            operations: self.cooldowns.operations(),
            holds,
            counters: self.counters,
        }
    }

    fn enter(&mut self, ticket: Ticket, call: Call, now: Instant) -> Result<Enqueued, Refusal> {
        if self.observes() {
            return Ok(Enqueued::Started(self.start_observed(&call, now)));
        }
        let pass = self.pass(&call, now);
        if let Pass::Refused(hold) = pass {
            return Err(self.count(self.limited(&call, hold, now)));
        }
        let lane = Lane::of(call.priority, call.nested, call.heeds_cooldowns);
        let hold = self.holding(now);
        if pass == Pass::Free && self.pacer.start_at_once(lane, call.leaves_later, hold.is_some(), now) {
            return Ok(Enqueued::Started(self.start(&call, lane, now, now)));
        }
        if let Some(refusal) = self.known_too_long(&call, lane, hold, now) {
            return Err(self.count(refusal));
        }
        if self.pacer.len() >= self.settings.max_queue {
            return Err(self.count(self.queue_full(now)));
        }
        self.counters.queued += 1;
        self.pacer.enter(ticket, call, lane, now);
        if let Pass::Park(until) = pass {
            self.pacer.step_aside(ticket, until);
        }
        Ok(Enqueued::Queued(ticket))
    }

    fn open(&mut self, fingerprint: Fingerprint, call: Call, now: Instant) -> Result<Joined, Refusal> {
        if self.flights.callers() >= self.settings.max_shared {
            return Err(self.count(self.queue_full(now)));
        }
        let (flight, caller) = (self.pacer.next_ticket(), self.pacer.next_ticket());
        let deadline = call.deadline;
        let enqueued = self.enter(flight, call, now)?;
        self.flights.open(fingerprint, flight);
        self.flights.join(caller, Caller { flight, deadline, since: now });
        if enqueued == Enqueued::Queued(flight) {
            self.pacer.forget_deadline(flight);
            self.pacer.watch(deadline, caller);
        }
        Ok(Joined::Opened { caller, flight, enqueued })
    }

    fn follow(&mut self, flight: Ticket, call: &Call, now: Instant) -> Result<Joined, Refusal> {
        if self.flights.callers() >= self.settings.max_shared {
            return Err(self.count(self.queue_full(now)));
        }
        let hold = self.holding(now).filter(|hold| self.lasts(hold));
        let waits = self.pacer.get(flight).is_some_and(|waiting| waiting.lane.heeds_cooldowns());
        if let Some(hold) = hold.filter(|hold| waits && call.deadline.is_some_and(|deadline| deadline < hold.until)) {
            return Err(self.count(self.limited(call, hold, now)));
        }
        let caller = self.pacer.next_ticket();
        self.pacer.raise(flight, Lane::of(call.priority, call.nested, call.heeds_cooldowns));
        self.flights.join(caller, Caller { flight, deadline: call.deadline, since: now });
        if self.pacer.get(flight).is_some() {
            self.pacer.watch(call.deadline, caller);
        }
        self.counters.shared += 1;
        Ok(Joined::Following { caller, flight })
    }

    fn leave(&mut self, caller: Ticket) {
        if let Some(flight) = self.flights.leave(caller) {
            self.pacer.remove(flight);
            self.abandoned.push_back(flight);
        }
    }

    fn take_off(&mut self, ticket: Ticket, waiting: Waiting, now: Instant) -> Slot {
        // From here on the callers' deadlines are over: they bound the wait in the gate, not the call.
        self.forget_deadlines(ticket);
        self.start(&waiting.call, waiting.lane, waiting.since, now)
    }

    fn forget_deadlines(&mut self, flight: Ticket) {
        for (deadline, caller) in self.flights.deadlines(flight) {
            self.pacer.unwatch(Some(deadline), caller);
        }
    }

    fn start(&mut self, call: &Call, lane: Lane, since: Instant, now: Instant) -> Slot {
        if call.retries == 0 {
            self.retries.count_call(now);
        }
        self.last_seq += 1;
        self.counters.started += 1;
        self.counters.waited += now - since;
        Slot {
            seq: Seq(self.last_seq),
            operation: call.operation.clone(),
            resource: call.resource,
            retries: call.retries,
            counted: lane.needs_slot(),
            leaves_later: call.leaves_later,
            waited: now - since,
        }
    }

    /// Observe mode: every call goes at once, and what would have become of it is counted (G29).
    fn start_observed(&mut self, call: &Call, now: Instant) -> Slot {
        let lane = Lane::of(call.priority, call.nested, call.heeds_cooldowns);
        let hold = self.cooldowns.hold(now).into_iter().chain(self.cooldowns.hold_of(&call.operation, now));
        let hold = hold.filter(|_| call.heeds_cooldowns).max_by_key(|hold| (hold.refuses(), hold.until));
        let (spacing, full) = self.pacer.pace.observe(now);
        let waits = hold.as_ref().map_or(spacing, |hold| spacing.max(hold.until - now));
        let refused = hold.is_some_and(|hold| hold.refuses());
        self.counters.would_refuse += u64::from(refused);
        self.counters.would_wait += u64::from(!refused && (full && lane.needs_slot() || !waits.is_zero()));
        self.pacer.pace.start(lane.needs_slot(), call.leaves_later, now);
        Slot { waited: waits, ..self.start(call, lane, now, now) }
    }

    fn observes(&self) -> bool {
        self.settings.mode == Mode::Observe
    }

    /// What holds every call now; in observe mode nothing does.
    fn holding(&self, now: Instant) -> Option<Hold> {
        if self.observes() { None } else { self.cooldowns.hold(now) }
    }
}

/// Operations that a snapshot lists at most.
const SHOWN_OPERATIONS: usize = 100;
