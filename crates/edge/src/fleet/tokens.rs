//! Which relays have a session on a token (E2).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use foldhash::fast::FixedState;

/// A session on a token.
#[derive(Clone, Debug)]
pub(super) struct Holding {
    pub(super) relay: Arc<str>,
    /// When it was opened.
    pub(super) since: Instant,
    /// Its client has not been heard from lately.
    pub(super) silent: bool,
}

/// Tokens by their names; nearly all are held once.
#[derive(Debug, Default)]
pub(super) struct Tokens(HashMap<Arc<str>, Vec<Holding>, FixedState>);

impl Tokens {
    pub(super) fn hold(&mut self, token: &Arc<str>, holding: Holding) {
        let held = self.0.entry(Arc::clone(token)).or_default();
        match held.iter_mut().find(|held| held.relay == holding.relay) {
            Some(held) => *held = holding,
            None => held.push(holding),
        }
    }

    pub(super) fn release(&mut self, token: &str, relay: &str) {
        let Some(held) = self.0.get_mut(token) else { return };
        held.retain(|held| &*held.relay != relay);
        if held.is_empty() {
            self.0.remove(token);
        }
    }

    /// Whether a relay's session yields to another relay's on the same token: the later of two, or the silent one.
    pub(super) fn yields(&self, token: &str, relay: &str, counts: impl Fn(&str) -> bool) -> bool {
        let held = self.0.get(token).map_or(&[][..], Vec::as_slice);
        let Some(mine) = held.iter().find(|held| &*held.relay == relay) else { return false };
        held.iter().any(|other| &*other.relay != relay && counts(&other.relay) && other.outranks(mine))
    }
}

impl Holding {
    fn outranks(&self, other: &Self) -> bool {
        let order = |held: &Self| (held.silent, held.since);
        order(self).cmp(&order(other)).then_with(|| self.relay.cmp(&other.relay)).is_lt()
    }
}
