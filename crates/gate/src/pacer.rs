//! Who waits, and whose call may start: spacing and slots (`pace`), turns (`turns`), deadlines, cancellation.
//!
//! ```text
//!            enter ──▶ InLine ──tell──▶ Told ──claim──▶ (a Slot; gone from here)
//!                       ▲  │ ▲           │ │
//!         its time comes│  │ └──step back┘ └──not claimed in time──▶ Late ──claim──▶ InLine
//!                      Parked (an operation's cooldown holds it)
//! ```
//!
//! A call that is told to start holds a slot already, and the distance to the next start counts from its claim,
//! so a caller that is slow to wake shortens no gap. One that does not come within a second loses its turn, not
//! its place: a future that nobody polls must not stop the others. Any of them may be removed at any time.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;

use crate::cooldown::Hold;
use crate::pace::Pace;
use crate::turns::{Lane, Turns};
use crate::{Call, Ticket};

/// The waiting calls of one upstream.
#[derive(Debug)]
pub(crate) struct Pacer {
    pub(crate) pace: Pace,
    turns: Turns,
    waiting: HashMap<Ticket, Waiting, FixedState>,
    /// Deadlines of those in line or parked, and of callers whose shared call has not started.
    deadlines: BTreeSet<(Instant, Ticket)>,
    parked: BTreeSet<(Instant, Ticket)>,
    /// Who was told to start, in that order; some of them have come or gone since.
    told: VecDeque<(Instant, Ticket)>,
    last_ticket: u64,
}

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) call: Call,
    pub(crate) since: Instant,
    pub(crate) lane: Lane,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    InLine,
    Parked { until: Instant },
    Told { at: Instant },
    Late,
}

impl Pacer {
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            turns: Turns::default(),
            waiting: HashMap::default(),
            deadlines: BTreeSet::new(),
            parked: BTreeSet::new(),
            told: VecDeque::new(),
            last_ticket: 0,
        }
    }

    pub(crate) fn next_ticket(&mut self) -> Ticket {
        self.last_ticket += 1;
        Ticket(self.last_ticket)
    }

    /// Starts a call without waiting, if nobody is ahead of it and the pace allows it.
    pub(crate) fn start_at_once(&mut self, lane: Lane, leaves_later: bool, held: bool, now: Instant) -> bool {
        let first = match lane {
            Lane::Nested | Lane::Heedless => self.turns.is_empty(lane),
            Lane::Interactive | Lane::Background => self.turns.all_empty(),
        };
        let starts = first && self.may_start(lane, held, now);
        if starts {
            self.pace.start(lane.needs_slot(), leaves_later, now);
        }
        starts
    }

    /// Puts a call in line.
    pub(crate) fn enter(&mut self, ticket: Ticket, call: Call, lane: Lane, now: Instant) {
        self.turns.push(lane, call.key, ticket);
        self.watch(call.deadline, ticket);
        self.waiting.insert(ticket, Waiting { call, since: now, lane, place: Place::InLine });
    }

    /// Takes the next call out of the line; the caller parks, tells or removes it at once.
    pub(crate) fn next(&mut self, held: bool, now: Instant) -> Option<Ticket> {
        let lane = self.turns.next_lane(|lane| self.may_start(lane, held, now))?;
        self.turns.pop(lane)
    }

    /// Tells a call to start: it holds its slot from now on.
    pub(crate) fn tell(&mut self, ticket: Ticket, now: Instant) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        waiting.place = Place::Told { at: now };
        self.pace.grant(waiting.lane.needs_slot());
        unwatch(&mut self.deadlines, waiting.call.deadline, ticket);
        self.told.push_back((now, ticket));
    }

    /// Whether the call was told to start and may claim its slot.
    pub(crate) fn is_told(&self, ticket: Ticket) -> bool {
        self.waiting.get(&ticket).is_some_and(|waiting| matches!(waiting.place, Place::Told { .. }))
    }

    /// Takes a told call out to start it now.
    pub(crate) fn redeem(&mut self, ticket: Ticket, now: Instant) -> Option<Waiting> {
        let waiting = self.waiting.remove(&ticket)?;
        self.pace.redeem(waiting.call.leaves_later, now);
        Some(waiting)
    }

    /// Puts a call that was told to start, or that came late, back at the head of its key, whose turn is next.
    pub(crate) fn step_back(&mut self, ticket: Ticket) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        match waiting.place {
            Place::Told { .. } => self.pace.revoke(waiting.lane.needs_slot()),
            Place::Late => {}
            Place::InLine | Place::Parked { .. } => return,
        }
        waiting.place = Place::InLine;
        self.turns.push_back_first(waiting.lane, waiting.call.key, ticket);
        let deadline = waiting.call.deadline;
        self.watch(deadline, ticket);
    }

    /// Sets a call aside that is in no line now, until its operation may be free.
    pub(crate) fn park(&mut self, ticket: Ticket, until: Instant) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        waiting.place = Place::Parked { until };
        self.parked.insert((until, ticket));
    }

    /// Takes a call out of the line, to park it.
    pub(crate) fn step_aside(&mut self, ticket: Ticket, until: Instant) {
        self.step_back(ticket);
        if let Some(waiting) = self.waiting.get(&ticket) {
            self.turns.remove(waiting.lane, waiting.call.key, ticket);
        }
        self.park(ticket, until);
    }

    /// Lets those in line again whose time has come.
    pub(crate) fn unpark(&mut self, has_come: impl Fn(Instant) -> bool) {
        while let Some(&(until, ticket)) = self.parked.first() {
            if !has_come(until) {
                return;
            }
            self.parked.pop_first();
            if let Some(waiting) = self.waiting.get_mut(&ticket) {
                waiting.place = Place::InLine;
                self.turns.push(waiting.lane, waiting.call.key, ticket);
            }
        }
    }

    /// Takes the turn from those who were told to start and have not come. Answers how many.
    pub(crate) fn lapse(&mut self, now: Instant) -> u64 {
        let mut late = 0;
        while let Some(&(at, ticket)) = self.told.front() {
            let waiting = self.waiting.get_mut(&ticket).filter(|waiting| waiting.place == Place::Told { at });
            if waiting.is_some() && now < at + CLAIM_TIME {
                break;
            }
            self.told.pop_front();
            if let Some(waiting) = waiting {
                waiting.place = Place::Late;
                self.pace.revoke(waiting.lane.needs_slot());
                late += 1;
            }
        }
        late
    }

    /// Takes a call out, wherever it is; its slot goes back if it was told to start.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Waiting> {
        let waiting = self.waiting.remove(&ticket)?;
        match waiting.place {
            Place::InLine => self.turns.remove(waiting.lane, waiting.call.key, ticket),
            Place::Parked { until } => {
                self.parked.remove(&(until, ticket));
            }
            Place::Told { .. } => self.pace.revoke(waiting.lane.needs_slot()),
            Place::Late => {}
        }
        unwatch(&mut self.deadlines, waiting.call.deadline, ticket);
        Some(waiting)
    }

    /// Gives a shared call the better of its own lane and a new caller's (G7).
    pub(crate) fn raise(&mut self, ticket: Ticket, lane: Lane) {
        let Some(waiting) = self.waiting.get_mut(&ticket) else { return };
        let better = waiting.lane.min(lane);
        // Who was told to start holds, or does not hold, a slot by the lane it was told in.
        let fixed = matches!(waiting.place, Place::Told { .. });
        if better == waiting.lane || fixed {
            return;
        }
        if waiting.place == Place::InLine {
            self.turns.remove(waiting.lane, waiting.call.key, ticket);
            self.turns.push(better, waiting.call.key, ticket);
        }
        waiting.lane = better;
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Waiting> {
        self.waiting.get(&ticket)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Watches a deadline, of a call or of a shared call's caller.
    pub(crate) fn watch(&mut self, deadline: Option<Instant>, ticket: Ticket) {
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, ticket));
        }
    }

    pub(crate) fn unwatch(&mut self, deadline: Option<Instant>, ticket: Ticket) {
        unwatch(&mut self.deadlines, deadline, ticket);
    }

    /// Leaves a shared call's end to its callers: each has a deadline of its own (G7).
    pub(crate) fn forget_deadline(&mut self, ticket: Ticket) {
        let deadline = self.waiting.get_mut(&ticket).and_then(|waiting| waiting.call.deadline.take());
        self.unwatch(deadline, ticket);
    }

    /// The next deadline after one that was looked at, the earliest first.
    pub(crate) fn deadline_after(&self, last: Option<(Instant, Ticket)>) -> Option<(Instant, Ticket)> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.deadlines.range((from, Bound::Unbounded)).next().copied()
    }

    /// When something may change by time alone.
    pub(crate) fn poll_timeout(&self, hold: Option<&Hold>, now: Instant) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|&(at, _)| at);
        let parked = self.parked.first().map(|&(at, _)| at);
        let claim = self.told.iter().find(|(_, ticket)| self.is_told(*ticket)).map(|&(at, _)| at + CLAIM_TIME);
        let start = Lane::ALL.into_iter().filter_map(|lane| self.next_start(lane, hold, now)).min();
        [deadline, parked, claim, start].into_iter().flatten().min()
    }

    fn next_start(&self, lane: Lane, hold: Option<&Hold>, now: Instant) -> Option<Instant> {
        let waits_for_time = !self.turns.is_empty(lane) && (self.pace.slot_free() || !lane.needs_slot());
        let spaced = waits_for_time.then(|| self.pace.spaced(now)).flatten()?;
        let held = hold.filter(|_| lane.heeds_cooldowns()).map_or(now, |hold| look_again(hold, now));
        Some(spaced.max(held))
    }

    fn may_start(&self, lane: Lane, held: bool, now: Instant) -> bool {
        !(held && lane.heeds_cooldowns())
            && (self.pace.slot_free() || !lane.needs_slot())
            && self.pace.spaced(now).is_some_and(|at| at <= now)
    }
}

/// When to look at a cooldown again: at its end, or, if a fresher response may lower it, a little later (G14).
pub(crate) fn look_again(hold: &Hold, now: Instant) -> Instant {
    if hold.firm { hold.until } else { hold.until.min(now + SOFT_CHUNK) }
}

fn unwatch(deadlines: &mut BTreeSet<(Instant, Ticket)>, deadline: Option<Instant>, ticket: Ticket) {
    if let Some(deadline) = deadline {
        deadlines.remove(&(deadline, ticket));
    }
}

/// How long a call that was told to start may take to do so. Far above a busy runtime's delay, far below a person's
/// patience.
const CLAIM_TIME: Duration = Duration::from_secs(1);
/// The longest sleep in a cooldown that may be lowered. Rule G14.
const SOFT_CHUNK: Duration = Duration::from_millis(250);
