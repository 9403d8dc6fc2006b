//! How a tenant's sessions are shared out among relays (E3).

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

/// What one relay was told that it may have open of each tenant.
#[derive(Debug, Default)]
pub(super) struct Grants(HashMap<Arc<str>, Grant, FixedState>);

#[derive(Clone, Copy, Debug)]
struct Grant {
    last: u32,
    /// The most that it may still go by: the answer with `last` may not have come.
    most: u32,
}

impl Grants {
    pub(super) fn grant(&mut self, tenant: &Arc<str>, share: u32) {
        let most = self.held(tenant).max(share);
        self.0.insert(Arc::clone(tenant), Grant { last: share, most });
    }

    /// It goes by the last answer.
    pub(super) fn confirm(&mut self) {
        self.0.values_mut().for_each(|grant| grant.most = grant.last);
    }

    /// What it was told last; `None` where it has been told nothing yet.
    pub(super) fn last(&self, tenant: &str) -> Option<u32> {
        self.0.get(tenant).map(|grant| grant.last)
    }

    /// The most that it may go by.
    pub(super) fn held(&self, tenant: &str) -> u32 {
        self.0.get(tenant).map_or(0, |grant| grant.most)
    }
}

/// The share of the relay at `place`: what it uses, a twentieth of the whole to spare (one at least, where there are as
/// many), and of the rest as much as its part of the use.
pub(super) fn fair(max: u32, uses: &[u32], place: usize) -> u32 {
    let relays = u32::try_from(uses.len()).unwrap_or(u32::MAX).max(1);
    let used: u32 = uses.iter().sum();
    let free = max.saturating_sub(used);
    let wanted = (max / SPARE).max(1);
    let spare =
        if free / relays >= wanted { wanted } else { free / relays + u32::from(place < (free % relays) as usize) };
    let rest = u64::from(free.saturating_sub(wanted.saturating_mul(relays)));
    let (mine, all) = if used == 0 { (1, relays) } else { (uses[place], used) };
    let part = rest * u64::from(mine) / u64::from(all);
    uses[place] + spare + u32::try_from(part).unwrap_or(u32::MAX)
}

/// Every relay keeps this part of the whole to spare. Rule E3.
const SPARE: u32 = 20;
