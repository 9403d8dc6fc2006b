//! The tenants' shares of the fleet's sessions at this relay (E3).

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

/// What is open under each tenant, and what its share allows.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    open: HashMap<Arc<str>, u32, FixedState>,
    /// As the control handed them out last. Who is not in here has no limit yet.
    shares: HashMap<Arc<str>, u32, FixedState>,
}

impl Scopes {
    pub(crate) fn set_shares(&mut self, shares: impl IntoIterator<Item = (Arc<str>, u32)>) {
        self.shares = shares.into_iter().collect();
    }

    /// Whether one more is too many; `leaving` is one that would make way for it.
    pub(crate) fn is_full(&self, tenant: &str, leaving: bool) -> bool {
        let open = self.open.get(tenant).copied().unwrap_or(0).saturating_sub(leaving.into());
        self.shares.get(tenant).is_some_and(|share| open >= *share)
    }

    pub(crate) fn open(&mut self, tenant: &Arc<str>) {
        *self.open.entry(Arc::clone(tenant)).or_default() += 1;
    }

    pub(crate) fn close(&mut self, tenant: &str) {
        if let Some(open) = self.open.get_mut(tenant) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(tenant);
            }
        }
    }
}
