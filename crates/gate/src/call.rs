//! One call on its way through the gate: what it says about itself, its place, its slot.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Whose turn it is: a room, a tenant, or whatever a caller names (G2).
///
/// Only a hash is kept, so a million keys cost no text. Two keys with one hash would share their turns, which
/// is unlikely by chance and harmless: who may name keys may also name somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// The key of a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(hash_of(name))
    }
}

/// What tells two things apart at an upstream: a room, a path (G11b).
///
/// Hashed like a [`Key`], because only "the same or another one" is ever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resource(u64);

impl Resource {
    /// The resource of a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(hash_of(name))
    }
}

fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Names what a call does, without ids: a method and a route template, or the name of an SDK method (G12).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operation(Arc<str>);

impl Operation {
    /// Names an operation. Text over 120 bytes is cut: names are kept per cooldown.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut end = name.len().min(NAME_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        Self(Arc::from(&name[..end]))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &self.0)
    }
}

/// Who goes first when both wait (G2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Nobody looks at a clock.
    Background,
    /// A person waits.
    Interactive,
}

/// The order in which calls started: the newest response is the one with the highest number (G17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(pub u64);

/// Names one waiting call, in the order of coming. A ticket that is no longer waiting is harmless everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub(crate) u64);

/// One call that asks to go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Whose turn it takes (G2).
    pub key: Key,
    /// Before or behind those who wait.
    pub priority: Priority,
    /// What it does (G12).
    pub operation: Operation,
    /// What it is about (G11b).
    pub resource: Resource,
    /// When it must have started; `None` waits for ever (G3).
    pub deadline: Option<Instant>,
    /// How often this call was tried again already: 0 for every new call (G20).
    pub retries: u32,
    /// Made from inside another call of this upstream, such as a token fetch: it runs in that call's slot,
    /// because waiting for a slot of its own at full concurrency would wait for itself.
    pub nested: bool,
    /// Whether cooldowns hold it back; `false` is the caller's `enableCooldown: false` (G20, G22).
    pub heeds_cooldowns: bool,
    /// Whether it leaves later than it starts, because it may have to connect first. Spacing is what the upstream
    /// sees, so no other call starts before [`crate::Upstream::handle_sent`] says that this one has left, or it has
    /// ended (G1).
    pub leaves_later: bool,
}

impl Call {
    /// A background call without a deadline, about its own key.
    #[must_use]
    pub fn new(key: Key, operation: Operation) -> Self {
        Self {
            key,
            priority: Priority::Background,
            operation,
            resource: Resource(key.0),
            deadline: None,
            retries: 0,
            nested: false,
            heeds_cooldowns: true,
            leaves_later: false,
        }
    }
}

/// The right to run one call now. Given back exactly once, by [`crate::Upstream::handle_end`], which takes it.
///
/// A shell keeps it in a guard that gives it back on drop, so that a caller that goes away cannot keep it (G3).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a slot that is not given back is lost for every later call"]
pub struct Slot {
    pub(crate) seq: Seq,
    pub(crate) operation: Operation,
    pub(crate) resource: Resource,
    pub(crate) retries: u32,
    pub(crate) counted: bool,
    /// It has started and not left yet.
    pub(crate) leaves_later: bool,
    pub(crate) waited: Duration,
}

impl Slot {
    /// This call's place in the order of starts.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// Takes the fleet's number in place of this process's own (G17).
    pub fn renumber(&mut self, seq: Seq) {
        self.seq = seq;
    }

    /// How long the call waited in the gate (`Tidegate-Wait-Ms`). In observe mode: would have waited.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// What the call does.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Whether it has yet to leave, and others wait for that (G1).
    #[must_use]
    pub fn leaves_later(&self) -> bool {
        self.leaves_later
    }

    /// How often it was tried again before.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }
}

/// An operation's name, in bytes. Long enough for a method and a route template; bounds what a header can store.
pub(crate) const NAME_MAX: usize = 120;
