//! The state of tenants and streams.

use async_trait::async_trait;
use tidegate_seats::{SettingsRefusal, StreamId, StreamRecord, StreamSettings, TenantId};

use crate::StoreAway;

/// SHA-256 of a secret key: all that is kept of it.
pub type KeyDigest = [u8; 32];

/// A tenant's settings (S23). `None` means the default that follows from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSettings {
    /// A label for people.
    pub name: String,
    /// Seats over all its streams.
    pub viewer_cap: u32,
    /// Sessions at relays; `None` follows as 2 × `viewer_cap` + `publishers`.
    pub max_sessions: Option<u32>,
    /// Publishers at once.
    pub publishers: u32,
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its name in look-ups.
    pub id: TenantId,
    /// Its settings.
    pub settings: TenantSettings,
    /// Seats, offers and holds in use over its streams.
    pub seats_used: u32,
    /// How many secret keys it has.
    pub keys: usize,
}

/// Why a change to the catalogue was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// The stream's settings break a rule.
    #[error(transparent)]
    Settings(#[from] SettingsRefusal),
    /// S14: the deployment has no room for so many more seats and places.
    #[error("viewer_cap + queue_max: {asked} more places, but only {free} of this deployment's {max} are free")]
    TooManyPlaces {
        /// Places asked for on top of what the stream has.
        asked: u64,
        /// Places free now.
        free: u64,
        /// `max_places`.
        max: u64,
    },
    /// No such tenant.
    #[error("no such tenant")]
    TenantNotFound,
    /// The id is taken.
    #[error("a tenant or stream of this id exists")]
    IdTaken,
    /// The key opens another tenant already; one key names one tenant.
    #[error("this key belongs to another tenant; make a new one")]
    KeyTaken,
    /// Nothing was changed.
    #[error(transparent)]
    Away(#[from] StoreAway),
}

/// Tenants, their keys, and their streams. Every change is durable before it returns.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// The tenant that a secret key opens. Compares digests in constant time.
    async fn tenant_of_key(&self, digest: &KeyDigest) -> Option<TenantId>;

    /// All tenants, by id.
    async fn tenants(&self) -> Vec<Tenant>;

    /// One tenant.
    async fn tenant(&self, tenant: &TenantId) -> Option<Tenant>;

    /// Makes a tenant with a first key.
    async fn add_tenant(&self, id: &TenantId, settings: TenantSettings, key: KeyDigest) -> Result<(), CatalogueError>;

    /// Replaces a tenant's settings.
    async fn set_tenant(&self, id: &TenantId, settings: TenantSettings) -> Result<(), CatalogueError>;

    /// Adds a key to a tenant; with `only`, every older key stops opening it.
    async fn add_key(&self, id: &TenantId, key: KeyDigest, only: bool) -> Result<(), CatalogueError>;

    /// Opens a stream under a fresh id (S12, S14).
    async fn open_stream(
        &self,
        tenant: &TenantId,
        id: &StreamId,
        settings: StreamSettings,
    ) -> Result<StreamRecord, CatalogueError>;

    /// Replaces a stream's settings (S9, S10, S11, S12, S14).
    async fn change_stream(
        &self,
        tenant: &TenantId,
        id: &StreamId,
        settings: StreamSettings,
    ) -> Result<StreamRecord, CatalogueError>;

    /// Ends a stream: its seats end and its places are freed. Harmless when it has ended.
    async fn end_stream(&self, tenant: &TenantId, id: &StreamId) -> Result<StreamRecord, CatalogueError>;

    /// Deletes a stream and everything of it.
    async fn delete_stream(&self, tenant: &TenantId, id: &StreamId) -> Result<(), CatalogueError>;

    /// Notes that a publisher's token was given out (S24).
    async fn note_ingest_token(&self, tenant: &TenantId, id: &StreamId) -> Result<StreamRecord, CatalogueError>;

    /// A tenant's streams, by creation.
    async fn streams(&self, tenant: &TenantId) -> Vec<StreamRecord>;

    /// One stream of a tenant.
    async fn stream(&self, tenant: &TenantId, id: &StreamId) -> Option<StreamRecord>;
}
