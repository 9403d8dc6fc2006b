//! Cooldowns: a time before which calls of one scope wait or are refused (G9, G12–G14, G17).
//!
//! Two kinds, and the difference is the whole point. A *throttle* only ever moves forward: the upstream said
//! stop, and no later or earlier good news undoes it. A *soft* cooldown is a forecast: the newest response sets,
//! lowers or clears it, newest by the order in which the calls started, so that a late answer cannot bring back
//! an old forecast. Every input is a [`Change`] that another process can apply as well.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::signal::Share;
use crate::signal::rate_headers::Rate;
use crate::{Operation, Seq};

/// How far a change reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every call to the upstream (for a budget: the whole app).
    Whole,
    /// The calls of one operation.
    Operation(Operation),
}

/// Which forecast a soft cooldown comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftKind {
    /// A rate limit that is nearly used up (G13).
    Rate,
    /// A budget that is nearly used up (G14).
    Budget,
}

/// One thing that a response changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A throttle: nobody within reach before `hold` is over, counted from the receipt.
    Throttle {
        /// How far it reaches.
        reach: Reach,
        /// How long it holds.
        hold: Duration,
    },
    /// A forecast, in force if no newer one is known; `None` clears it.
    Soft {
        /// Which one.
        kind: SoftKind,
        /// How far it reaches.
        reach: Reach,
        /// The age of the news: its call's place in the order of starts.
        seq: Seq,
        /// How long it holds.
        hold: Option<Duration>,
    },
    /// The last real limits, kept for errors that are made here (G12).
    Rate {
        /// Whose limits.
        reach: Reach,
        /// The age of the news.
        seq: Seq,
        /// The limits.
        rate: Rate,
    },
}

/// The scope of a cooldown that holds a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole upstream.
    Upstream,
    /// The app's budget.
    App,
    /// One operation.
    Operation(Operation),
}

/// A cooldown that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Whom it holds.
    pub scope: Scope,
    /// Until when.
    pub until: Instant,
    /// Whether it is a throttle: certain to last, because it never moves back.
    pub firm: bool,
}

impl Hold {
    /// Whether calls are refused rather than kept waiting (G12).
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.firm && matches!(self.scope, Scope::Operation(_))
    }
}

/// The cooldowns of one upstream.
#[derive(Debug)]
pub struct Cooldowns {
    throttle: Option<Instant>,
    rate: Soft,
    budget: Soft,
    limits: Remembered,
    operations: HashMap<Operation, Cell>,
    operations_max: usize,
    /// While the table is full of cooldowns in force: until the first of them ends.
    full_until: Option<Instant>,
}

/// What is known of one operation.
#[derive(Debug, Default)]
struct Cell {
    throttle: Option<Instant>,
    rate: Soft,
    budget: Soft,
    limits: Remembered,
}

/// A forecast and its age. The age stays when the forecast is cleared.
#[derive(Clone, Copy, Debug, Default)]
struct Soft {
    seq: Option<Seq>,
    until: Option<Instant>,
}

/// The last real limits of a scope.
#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    seq: Option<Seq>,
    /// The limits, and when they came: a reset is told from the receipt.
    seen: Option<(Rate, Instant)>,
}

impl Cooldowns {
    /// No cooldowns, and room for those of `operations_max` operations.
    #[must_use]
    pub fn new(operations_max: usize) -> Self {
        Self {
            throttle: None,
            rate: Soft::default(),
            budget: Soft::default(),
            limits: Remembered::default(),
            operations: HashMap::new(),
            operations_max,
            full_until: None,
        }
    }

    /// Changes the bound. What is over it stays until it is forgotten anyway.
    pub fn set_operations_max(&mut self, operations_max: usize) {
        self.operations_max = operations_max;
        self.full_until = None;
    }

    /// Takes in a change, from a response here or from another process.
    pub fn apply(&mut self, change: &Change, now: Instant) {
        match change {
            Change::Throttle { reach, hold } => self.throttle(reach, now + *hold, now),
            Change::Soft { kind, reach, seq, hold } => {
                self.forecast(*kind, reach, *seq, hold.map(|hold| now + hold), now)
            }
            Change::Rate { reach, seq, rate } => self.remember(reach, *seq, *rate, now),
        }
    }

    /// What holds every call, the longest of it.
    #[must_use]
    pub fn hold(&self, now: Instant) -> Option<Hold> {
        let until = self.throttle.max(self.rate.until).max(self.budget.until).filter(|&until| until > now)?;
        let firm = self.throttle == Some(until);
        let of_budget = !firm && self.rate.until != Some(until);
        Some(Hold { scope: if of_budget { Scope::App } else { Scope::Upstream }, until, firm })
    }

    /// Until when the throttle of the whole upstream is in force.
    #[must_use]
    pub fn throttled_until(&self, now: Instant) -> Option<Instant> {
        self.throttle.filter(|&until| until > now)
    }

    /// What holds the calls of one operation: its throttle, else the longest forecast.
    #[must_use]
    pub fn hold_of(&self, operation: &Operation, now: Instant) -> Option<Hold> {
        // Most upstreams have no operation cells at all, and every call asks.
        if self.operations.is_empty() {
            return None;
        }
        let cell = self.operations.get(operation)?;
        let throttle = cell.throttle.filter(|&until| until > now);
        let until = throttle.or(cell.rate.until.max(cell.budget.until)).filter(|&until| until > now)?;
        Some(Hold { scope: Scope::Operation(operation.clone()), until, firm: throttle.is_some() })
    }

    /// The last real limits of an operation, or of the upstream, with the time that is left to their reset now.
    #[must_use]
    pub fn limits_of(&self, operation: &Operation, now: Instant) -> Option<Rate> {
        let cell = self.operations.get(operation).and_then(|cell| cell.limits.seen);
        let (rate, at) = cell.or(self.limits.seen)?;
        let left = |reset: Duration| (at + reset).checked_duration_since(now).filter(|left| !left.is_zero());
        Some(Rate { reset: rate.reset.and_then(left), ..rate })
    }

    /// The operations that have a cooldown in force, at most `at_most` of them, the longest first.
    #[must_use]
    pub fn held_operations(&self, at_most: usize, now: Instant) -> Vec<Hold> {
        let mut holds: Vec<Hold> =
            self.operations.keys().filter_map(|operation| self.hold_of(operation, now)).collect();
        holds.sort_by(|a, b| b.until.cmp(&a.until).then_with(|| scope_name(a).cmp(scope_name(b))));
        holds.truncate(at_most);
        holds
    }

    /// Operations that something is kept for; never more than the bound.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    fn throttle(&mut self, reach: &Reach, until: Instant, now: Instant) {
        let throttle = match reach {
            Reach::Whole => &mut self.throttle,
            Reach::Operation(operation) => match self.cell(operation, now) {
                Some(cell) => &mut cell.throttle,
                // Thousands of operations are throttled at once and there is no room to tell them apart any
                // more: the upstream as a whole has asked for fewer calls.
                None => &mut self.throttle,
            },
        };
        *throttle = (*throttle).max(Some(until));
    }

    fn forecast(&mut self, kind: SoftKind, reach: &Reach, seq: Seq, until: Option<Instant>, now: Instant) {
        let soft = match (reach, kind) {
            (Reach::Whole, SoftKind::Rate) => Some(&mut self.rate),
            (Reach::Whole, SoftKind::Budget) => Some(&mut self.budget),
            (Reach::Operation(operation), SoftKind::Rate) => self.cell(operation, now).map(|cell| &mut cell.rate),
            (Reach::Operation(operation), SoftKind::Budget) => self.cell(operation, now).map(|cell| &mut cell.budget),
        };
        if let Some(soft) = soft.filter(|soft| soft.seq.is_none_or(|known| seq >= known)) {
            *soft = Soft { seq: Some(seq), until };
        }
    }

    fn remember(&mut self, reach: &Reach, seq: Seq, rate: Rate, now: Instant) {
        let limits = match reach {
            Reach::Whole => Some(&mut self.limits),
            Reach::Operation(operation) => self.cell(operation, now).map(|cell| &mut cell.limits),
        };
        if let Some(limits) = limits.filter(|limits| limits.seq.is_none_or(|known| seq >= known)) {
            *limits = Remembered { seq: Some(seq), seen: Some((rate, now)) };
        }
    }

    /// The cell of an operation, made if there is room. Room is made by forgetting operations without a cooldown
    /// in force, never one that has one: forgetting a cooldown would send calls into it.
    fn cell(&mut self, operation: &Operation, now: Instant) -> Option<&mut Cell> {
        if !self.operations.contains_key(operation) {
            if self.operations.len() >= self.operations_max && !self.make_room(now) {
                return None;
            }
            self.operations.insert(operation.clone(), Cell::default());
        }
        self.operations.get_mut(operation)
    }

    fn make_room(&mut self, now: Instant) -> bool {
        if self.full_until.is_some_and(|until| until > now) {
            return false;
        }
        self.operations.retain(|_, cell| cell.held_until() > Some(now));
        let full = self.operations.len() >= self.operations_max;
        // Looking again before the first of them ends would find the same.
        self.full_until = if full { self.operations.values().filter_map(Cell::held_until).min() } else { None };
        !full
    }
}

impl Cell {
    fn held_until(&self) -> Option<Instant> {
        self.throttle.max(self.rate.until).max(self.budget.until)
    }
}

/// The soft cooldown of a nearly used up rate limit, from the receipt of the response. Rule G13.
#[must_use]
pub fn rate_hold(used: Share) -> Option<Duration> {
    let (_, hold_ms) = RATE_HOLDS.into_iter().find(|(from, _)| used >= *from)?;
    Some(Duration::from_millis(hold_ms))
}

/// The cooldown of a nearly used up budget, linear within its band. Rule G14.
#[must_use]
pub fn budget_hold(used: Share) -> Option<Duration> {
    let band = BUDGET_BANDS.into_iter().find(|band| used >= band.from)?;
    let within = u64::from(used.millionths() - band.from.millionths());
    let width = u64::from(band.to.millionths() - band.from.millionths());
    Some(Duration::from_millis(band.least_ms + (band.most_ms - band.least_ms) * within / width))
}

fn scope_name(hold: &Hold) -> &str {
    match &hold.scope {
        Scope::Upstream | Scope::App => "",
        Scope::Operation(operation) => operation.as_str(),
    }
}

struct Band {
    from: Share,
    to: Share,
    least_ms: u64,
    most_ms: u64,
}

/// From which use a rate limit holds calls, and how long, in milliseconds. Rule G13.
const RATE_HOLDS: [(Share, u64); 3] =
    [(Share::percent(95), 3000), (Share::percent(85), 1500), (Share::percent(70), 500)];

/// From which use a budget holds calls, and how long, in milliseconds. Rule G14.
const BUDGET_BANDS: [Band; 3] = [
    Band { from: Share::percent(80), to: Share::percent(100), least_ms: 30_000, most_ms: 60_000 },
    Band { from: Share::percent(70), to: Share::percent(80), least_ms: 5000, most_ms: 10_000 },
    Band { from: Share::percent(60), to: Share::percent(70), least_ms: 1000, most_ms: 2000 },
];
