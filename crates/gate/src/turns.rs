//! Whose turn it is (G2): lanes of keys, each key a queue in the order of coming.
//!
//! Every lane is a ring of keys; the key at its head gives its oldest call and goes to the ring's end. Trees
//! rather than linked lists, because any call may leave at any time and one that comes back takes the place
//! that its age gives it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::FixedState;

use crate::{Key, Priority, Ticket};

/// Which queue a call waits in; the first of two is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// Needs no slot of its own: must not stand behind those that wait for one.
    Nested,
    /// Passes cooldowns (`enable_cooldown` off): must not stand behind those that a cooldown holds.
    Heedless,
    /// A person waits.
    Interactive,
    /// Nobody waits.
    Background,
}

impl Lane {
    pub(crate) const ALL: [Self; 4] = [Self::Nested, Self::Heedless, Self::Interactive, Self::Background];

    pub(crate) fn of(priority: Priority, nested: bool, heeds_cooldowns: bool) -> Self {
        match (nested, heeds_cooldowns, priority) {
            (true, _, _) => Self::Nested,
            (false, false, _) => Self::Heedless,
            (false, true, Priority::Interactive) => Self::Interactive,
            (false, true, Priority::Background) => Self::Background,
        }
    }

    pub(crate) fn needs_slot(self) -> bool {
        self != Self::Nested
    }

    pub(crate) fn heeds_cooldowns(self) -> bool {
        self != Self::Heedless
    }
}

/// All who wait in line.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    lanes: [Ring; 4],
    /// Interactive starts in a row while a background call waited.
    passed_over: u32,
}

impl Turns {
    /// Puts a call into its key's queue, by age; a new key goes to the end of the ring.
    pub(crate) fn push(&mut self, lane: Lane, key: Key, ticket: Ticket) {
        self.ring_mut(lane).insert(key, ticket, End::Last);
    }

    /// Puts a call back whose turn came to nothing: its key is the next one again.
    pub(crate) fn push_back_first(&mut self, lane: Lane, key: Key, ticket: Ticket) {
        self.ring_mut(lane).insert(key, ticket, End::First);
    }

    /// Takes out a call that leaves.
    pub(crate) fn remove(&mut self, lane: Lane, key: Key, ticket: Ticket) {
        self.ring_mut(lane).remove(key, ticket);
    }

    /// Takes the next call of a lane.
    pub(crate) fn pop(&mut self, lane: Lane) -> Option<Ticket> {
        let ticket = self.ring_mut(lane).pop()?;
        match lane {
            Lane::Interactive if !self.is_empty(Lane::Background) => self.passed_over += 1,
            Lane::Interactive | Lane::Background => self.passed_over = 0,
            Lane::Heedless | Lane::Nested => {}
        }
        Some(ticket)
    }

    pub(crate) fn is_empty(&self, lane: Lane) -> bool {
        self.ring(lane).ring.is_empty()
    }

    pub(crate) fn all_empty(&self) -> bool {
        Lane::ALL.into_iter().all(|lane| self.is_empty(lane))
    }

    pub(crate) fn waiting(&self, lane: Lane) -> usize {
        self.ring(lane).places.len()
    }

    /// The keys that wait in a lane.
    pub(crate) fn keys(&self, lane: Lane) -> usize {
        self.ring(lane).ring.len()
    }

    /// The lane whose turn it is, among those that may start now.
    pub(crate) fn next_lane(&self, may_start: impl Fn(Lane) -> bool) -> Option<Lane> {
        let ready = |lane| !self.is_empty(lane) && may_start(lane);
        let background_due = self.passed_over >= PASSED_OVER_MAX && ready(Lane::Background);
        let order = match background_due {
            true => [Lane::Nested, Lane::Heedless, Lane::Background, Lane::Interactive],
            false => Lane::ALL,
        };
        order.into_iter().find(|&lane| ready(lane))
    }

    /// How many starts come at least before a call of this key that joins now, if nobody ahead leaves (G3).
    pub(crate) fn ahead(&self, lane: Lane, key: Key) -> u64 {
        let own = self.ring(lane).ahead(key);
        let interactive = self.waiting(Lane::Interactive) as u64;
        let between = if lane == Lane::Background { interactive.min(own * u64::from(PASSED_OVER_MAX)) } else { 0 };
        own + between
    }

    fn ring(&self, lane: Lane) -> &Ring {
        &self.lanes[lane as usize]
    }

    fn ring_mut(&mut self, lane: Lane) -> &mut Ring {
        &mut self.lanes[lane as usize]
    }
}

/// One lane.
#[derive(Debug, Default)]
struct Ring {
    keys: HashMap<Key, Waiting, FixedState>,
    /// The keys in the order of their turns.
    ring: BTreeMap<i64, Key>,
    /// The calls of each key, oldest first.
    places: BTreeSet<(Key, Ticket)>,
    /// `depths[i]` keys have more than `i` calls here: what `ahead` sums, kept as calls come and go.
    depths: Vec<u32>,
    first_turn: i64,
    last_turn: i64,
}

/// A key with calls in a lane.
#[derive(Debug)]
struct Waiting {
    turn: i64,
    calls: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

impl Ring {
    fn insert(&mut self, key: Key, ticket: Ticket, end: End) {
        if !self.places.insert((key, ticket)) {
            return;
        }
        let calls = self.keys.get(&key).map_or(0, |waiting| waiting.calls);
        if calls == 0 || end == End::First {
            self.turn_to(key, end);
        }
        if self.depths.len() == calls {
            self.depths.push(0);
        }
        self.depths[calls] += 1;
        self.keys.entry(key).and_modify(|waiting| waiting.calls += 1);
    }

    fn remove(&mut self, key: Key, ticket: Ticket) {
        if !self.places.remove(&(key, ticket)) {
            return;
        }
        let Some(waiting) = self.keys.get_mut(&key) else { return };
        waiting.calls -= 1;
        let (calls, turn) = (waiting.calls, waiting.turn);
        self.depths[calls] -= 1;
        if self.depths.last() == Some(&0) {
            self.depths.pop();
        }
        if calls == 0 {
            self.keys.remove(&key);
            self.ring.remove(&turn);
        }
    }

    fn pop(&mut self) -> Option<Ticket> {
        let (_, &key) = self.ring.first_key_value()?;
        let &(_, ticket) = self.places.range((key, Ticket(0))..).next()?;
        self.remove(key, ticket);
        if self.keys.contains_key(&key) {
            self.turn_to(key, End::Last);
        }
        Some(ticket)
    }

    /// Gives a key the first or the last turn of the ring.
    fn turn_to(&mut self, key: Key, end: End) {
        let turn = match end {
            End::First => {
                self.first_turn -= 1;
                self.first_turn
            }
            End::Last => {
                self.last_turn += 1;
                self.last_turn
            }
        };
        let waiting = self.keys.entry(key).or_insert(Waiting { turn, calls: 0 });
        self.ring.remove(&waiting.turn);
        waiting.turn = turn;
        self.ring.insert(turn, key);
    }

    fn ahead(&self, key: Key) -> u64 {
        let own = self.keys.get(&key).map_or(0, |waiting| waiting.calls);
        // A new key comes after one call of every other key; one with n calls after n of each that has them.
        self.depths.iter().take(own.max(1)).map(|&keys| u64::from(keys)).sum()
    }
}

/// Interactive starts in a row after which a waiting background call is next. Rule G2: at least 1 start in 8.
const PASSED_OVER_MAX: u32 = 7;
