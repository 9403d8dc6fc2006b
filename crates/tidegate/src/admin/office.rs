//! Carries orders out on the store and the token keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidegate_control::Tokens;
use tidegate_seats::TenantId;
use tidegate_store::{Catalogue, CatalogueError, TenantSettings};

use crate::admin::{Done, Order, TenantChange, TenantRow};
use crate::failure::{Failure, Outcome};
use crate::secret::SecretKey;
use crate::token_keys::TokenKeys;

/// Whoever holds the data directory's lock.
pub(crate) struct Office {
    catalogue: Arc<dyn Catalogue>,
    token_keys: TokenKeys,
    /// The running server's, which sign with the new key from then on.
    running: Option<Arc<Tokens>>,
    key_overlap_s: AtomicU64,
}

impl Office {
    pub(crate) fn new(
        catalogue: Arc<dyn Catalogue>,
        token_keys: TokenKeys,
        running: Option<Arc<Tokens>>,
        key_overlap_s: u32,
    ) -> Self {
        Self { catalogue, token_keys, running, key_overlap_s: AtomicU64::new(key_overlap_s.into()) }
    }

    /// Moves the time for which an older token key verifies, for rotations from now on.
    pub(crate) fn set_key_overlap(&self, seconds: u32) {
        self.key_overlap_s.store(seconds.into(), Ordering::Relaxed);
    }

    /// Does what is ordered.
    pub(crate) async fn carry_out(&self, order: Order) -> Outcome<Done> {
        match order {
            Order::AddTenant { id, change } => self.add(&id, change, &SecretKey::generate()).await,
            Order::SetTenant { id, change } => self.set(&id, change).await,
            Order::ListTenants => {
                let tenants = self.catalogue.tenants().await.into_iter().map(TenantRow::from).collect();
                Ok(Done::Listed { tenants })
            }
            Order::NewKey { id, only } => self.new_key(&id, only).await,
            Order::RotateTokenKeys => self.rotate(),
        }
    }

    /// Makes a tenant that opens with this key.
    pub(crate) async fn add(&self, id: &str, change: TenantChange, key: &SecretKey) -> Outcome<Done> {
        let tenant = read_id(id)?;
        let settings = change.over(usual_settings(id));
        self.catalogue.add_tenant(&tenant, settings, key.digest()).await.map_err(|error| refused(id, &error))?;
        Ok(Done::Added { tenant: self.row(&tenant).await?, key: key.expose().to_owned() })
    }

    async fn set(&self, id: &str, change: TenantChange) -> Outcome<Done> {
        let tenant = read_id(id)?;
        let found = self.catalogue.tenant(&tenant).await.ok_or_else(|| no_such(id))?;
        let settings = change.over(found.settings);
        self.catalogue.set_tenant(&tenant, settings).await.map_err(|error| refused(id, &error))?;
        Ok(Done::Set { tenant: self.row(&tenant).await? })
    }

    async fn new_key(&self, id: &str, only: bool) -> Outcome<Done> {
        let key = SecretKey::generate();
        self.catalogue.add_key(&read_id(id)?, key.digest(), only).await.map_err(|error| refused(id, &error))?;
        Ok(Done::Key { id: id.to_owned(), key: key.expose().to_owned() })
    }

    fn rotate(&self) -> Outcome<Done> {
        let overlap_s = self.key_overlap_s.load(Ordering::Relaxed);
        let keys = self.token_keys.rotate(overlap_s)?;
        let signer = keys.signer().to_owned();
        if let Some(tokens) = &self.running {
            tokens.set_keys(keys);
        }
        Ok(Done::Rotated { signer, overlap_s })
    }

    async fn row(&self, tenant: &TenantId) -> Outcome<TenantRow> {
        let found = self.catalogue.tenant(tenant).await.ok_or_else(|| no_such(tenant.as_str()))?;
        Ok(found.into())
    }
}

/// A tenant's limits until somebody sets them: enough to try things, half of the default `max_places`.
fn usual_settings(name: &str) -> TenantSettings {
    TenantSettings { name: name.to_owned(), viewer_cap: 10_000, max_sessions: None, publishers: 20 }
}

fn read_id(id: &str) -> Outcome<TenantId> {
    TenantId::parse(id)
        .ok_or_else(|| Failure::new(format!("{id:?} is no tenant id")).hint("an id is 1 to 40 of a-z, 0-9, - and _"))
}

fn no_such(id: &str) -> Failure {
    Failure::new(format!("there is no tenant {id}")).hint("see them with: tidegate tenant list")
}

fn refused(id: &str, error: &CatalogueError) -> Failure {
    match error {
        CatalogueError::TenantNotFound => no_such(id),
        CatalogueError::IdTaken => Failure::new(format!("there is a tenant {id} already"))
            .hint(format!("change it with: tidegate tenant set {id}")),
        CatalogueError::Settings(_)
        | CatalogueError::TooManyPlaces { .. }
        | CatalogueError::KeyTaken
        | CatalogueError::Away(_) => Failure::new(error.to_string()),
    }
}
