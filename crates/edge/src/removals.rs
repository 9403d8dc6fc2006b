//! What was ended for good: kicked and freed seats, stopped streams, tokens that the control called back (E4, T6).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;

use crate::Pass;

/// Whose sessions end, and whose tokens open nothing any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Removal {
    /// One token's.
    Token(Arc<str>),
    /// One seat's.
    Seat(Arc<str>),
    /// All of a stream.
    Stream(Arc<str>),
}

impl Removal {
    pub(crate) fn means(&self, pass: &Pass) -> bool {
        match self {
            Self::Token(token) => *token == pass.token,
            Self::Seat(seat) => *seat == pass.seat,
            Self::Stream(stream) => *stream == pass.stream,
        }
    }
}

/// Removals as long as a token that they mean could still be shown.
#[derive(Debug, Default)]
pub(crate) struct Removals {
    until: HashMap<Removal, Instant, FixedState>,
    ends: BTreeSet<(Instant, Removal)>,
}

impl Removals {
    /// Remembers a removal; of two memories the longer holds. With too many, those go first that end first.
    pub(crate) fn insert(&mut self, removal: Removal, memory: Duration, now: Instant) {
        let until = now + memory;
        match self.until.get(&removal) {
            Some(before) if *before >= until => return,
            Some(before) => {
                self.ends.remove(&(*before, removal.clone()));
            }
            None if self.until.len() >= REMEMBERED_MAX => self.forget_first(),
            None => {}
        }
        self.ends.insert((until, removal.clone()));
        self.until.insert(removal, until);
    }

    pub(crate) fn means(&self, pass: &Pass) -> bool {
        [
            Removal::Token(Arc::clone(&pass.token)),
            Removal::Seat(Arc::clone(&pass.seat)),
            Removal::Stream(Arc::clone(&pass.stream)),
        ]
        .iter()
        .any(|removal| self.until.contains_key(removal))
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while self.poll_timeout().is_some_and(|until| until <= now) {
            self.forget_first();
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.ends.first().map(|(until, _)| *until)
    }

    fn forget_first(&mut self) {
        if let Some((_, removal)) = self.ends.pop_first() {
            self.until.remove(&removal);
        }
    }
}

/// Removals remembered at most, about 20 MiB. Bounds memory.
const REMEMBERED_MAX: usize = 100_000;
