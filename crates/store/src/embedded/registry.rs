//! Which tenant a stream or a key belongs to: read by every call, changed by few.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use subtle::ConstantTimeEq;
use tidegate_seats::{SeatSettings, StreamId, TenantId};

use super::desk::Desk;
use crate::KeyDigest;

/// All tenants, streams and keys of the deployment.
pub(super) struct Registry {
    pub(super) desks: BTreeMap<TenantId, Arc<Desk>>,
    pub(super) streams: HashMap<StreamId, Arc<Desk>, RandomState>,
    pub(super) keys: Keys,
    /// What a new house starts with.
    pub(super) seat_settings: SeatSettings,
}

/// The digests of secret keys, found by their first bytes and compared in constant time.
///
/// The time that the look-up takes tells at most those bytes of a digest, which lead back to no key.
#[derive(Debug, Default)]
pub(super) struct Keys {
    by_start: HashMap<[u8; 8], Vec<(KeyDigest, TenantId)>, RandomState>,
}

impl Keys {
    /// The tenant that the key opens.
    pub(super) fn tenant_of(&self, digest: &KeyDigest) -> Option<&TenantId> {
        let same_start = self.by_start.get(&start(digest))?;
        let mut found = None;
        for (known, tenant) in same_start {
            if bool::from(known.ct_eq(digest)) {
                found = Some(tenant);
            }
        }
        found
    }

    /// Lets the key open the tenant.
    pub(super) fn add(&mut self, digest: KeyDigest, tenant: &TenantId) {
        if self.tenant_of(&digest).is_none() {
            self.by_start.entry(start(&digest)).or_default().push((digest, tenant.clone()));
        }
    }

    /// Lets no key open the tenant any more.
    pub(super) fn remove_all(&mut self, tenant: &TenantId) {
        self.by_start.retain(|_, keys| {
            keys.retain(|(_, owner)| owner != tenant);
            !keys.is_empty()
        });
    }

    /// How many keys open the tenant.
    pub(super) fn count(&self, tenant: &TenantId) -> usize {
        self.by_start.values().flatten().filter(|(_, owner)| owner == tenant).count()
    }
}

fn start(digest: &KeyDigest) -> [u8; 8] {
    let mut start = [0; 8];
    start.copy_from_slice(&digest[..8]);
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_its_tenant_and_no_other_key_of_the_same_start_does() {
        let (acme, other) = (tenant("acme"), tenant("other"));
        let mut near = [7; 32];
        near[31] = 8;
        let mut keys = Keys::default();
        keys.add([7; 32], &acme);
        keys.add(near, &other);
        keys.add([9; 32], &acme);
        assert_eq!(keys.tenant_of(&[7; 32]), Some(&acme));
        assert_eq!(keys.tenant_of(&near), Some(&other));
        near[31] = 9;
        assert_eq!(keys.tenant_of(&near), None);
        assert_eq!(keys.count(&acme), 2);

        keys.remove_all(&acme);
        assert_eq!((keys.tenant_of(&[7; 32]), keys.count(&acme)), (None, 0));
        assert_eq!(keys.count(&other), 1);
    }

    fn tenant(id: &str) -> TenantId {
        TenantId::parse(id).expect("a tenant's name")
    }
}
