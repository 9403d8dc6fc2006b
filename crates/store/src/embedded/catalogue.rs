//! [`Catalogue`] on the registry and the houses.

use std::sync::Arc;

use async_trait::async_trait;
use tidegate_seats::{House, SettingsRefusal, StreamId, StreamRecord, StreamSettings, TenantId, TenantLimits};

use super::desk::{AtDesk, Desk};
use super::journal::Ticket;
use super::load::empty_house;
use super::places::NoRoom;
use super::rows::Row;
use super::{Embedded, clock, places_of};
use crate::{Catalogue, CatalogueError, KeyDigest, Tenant, TenantSettings};

#[async_trait]
impl Catalogue for Embedded {
    async fn tenant_of_key(&self, digest: &KeyDigest) -> Option<TenantId> {
        self.registry().keys.tenant_of(digest).cloned()
    }

    async fn tenants(&self) -> Vec<Tenant> {
        self.desks().iter().map(|desk| self.describe(desk)).collect()
    }

    async fn tenant(&self, tenant: &TenantId) -> Option<Tenant> {
        let desk = self.desk(tenant)?;
        Some(self.describe(&desk))
    }

    async fn add_tenant(&self, id: &TenantId, settings: TenantSettings, key: KeyDigest) -> Result<(), CatalogueError> {
        let ticket = self.enter_tenant(id, settings, key)?;
        Ok(self.journal.durable(ticket).await?)
    }

    async fn set_tenant(&self, id: &TenantId, settings: TenantSettings) -> Result<(), CatalogueError> {
        let desk = self.desk(id).ok_or(CatalogueError::TenantNotFound)?;
        let ticket = {
            let mut at_desk = desk.take_to_change()?;
            let (now, limits) = (at_desk.now, limits_of(&settings));
            at_desk.put_settings(settings);
            at_desk.house().set_limits(limits, now);
            at_desk.publish()
        };
        Ok(self.journal.durable(ticket).await?)
    }

    async fn add_key(&self, id: &TenantId, key: KeyDigest, only: bool) -> Result<(), CatalogueError> {
        let ticket = self.enter_key(id, key, only)?;
        Ok(self.journal.durable(ticket).await?)
    }

    async fn open_stream(
        &self,
        tenant: &TenantId,
        id: &StreamId,
        settings: StreamSettings,
    ) -> Result<StreamRecord, CatalogueError> {
        let (record, ticket) = self.enter_stream(tenant, id, settings)?;
        self.journal.durable(ticket).await?;
        Ok(record)
    }

    async fn change_stream(
        &self,
        tenant: &TenantId,
        id: &StreamId,
        settings: StreamSettings,
    ) -> Result<StreamRecord, CatalogueError> {
        let desk = self.desk_with(tenant, id)?;
        let (record, ticket) = {
            let mut at_desk = desk.take_to_change()?;
            self.resize(&mut at_desk, id, settings)?;
            (record_of(&mut at_desk, id)?, at_desk.publish())
        };
        self.journal.durable(ticket).await?;
        Ok(record)
    }

    async fn end_stream(&self, tenant: &TenantId, id: &StreamId) -> Result<StreamRecord, CatalogueError> {
        let desk = self.desk_with(tenant, id)?;
        let (record, ticket) = {
            let mut at_desk = desk.take_to_change()?;
            let (had, now) = (places_of(&record_of(&mut at_desk, id)?), at_desk.now);
            at_desk.house().end_stream(id, now);
            self.places.release(had);
            (record_of(&mut at_desk, id)?, at_desk.publish())
        };
        self.journal.durable(ticket).await?;
        Ok(record)
    }

    async fn delete_stream(&self, tenant: &TenantId, id: &StreamId) -> Result<(), CatalogueError> {
        let ticket = self.remove_stream(tenant, id)?;
        Ok(self.journal.durable(ticket).await?)
    }

    async fn note_ingest_token(&self, tenant: &TenantId, id: &StreamId) -> Result<StreamRecord, CatalogueError> {
        let desk = self.desk_with(tenant, id)?;
        let (record, ticket) = {
            let mut at_desk = desk.take_to_change()?;
            let now = at_desk.now;
            at_desk.house().note_ingest_token(id, now);
            (record_of(&mut at_desk, id)?, at_desk.publish())
        };
        self.journal.durable(ticket).await?;
        Ok(record)
    }

    async fn streams(&self, tenant: &TenantId) -> Vec<StreamRecord> {
        let Some(desk) = self.desk(tenant) else { return Vec::new() };
        let mut streams: Vec<StreamRecord> = desk.take().house().streams().cloned().collect();
        streams.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        streams
    }

    async fn stream(&self, tenant: &TenantId, id: &StreamId) -> Option<StreamRecord> {
        let desk = self.desk_with(tenant, id).ok()?;
        record_of(&mut desk.take(), id).ok()
    }
}

/// The steps that need the registry's lock; none of them waits.
impl Embedded {
    fn enter_tenant(&self, id: &TenantId, settings: TenantSettings, key: KeyDigest) -> Result<Ticket, CatalogueError> {
        self.journal.writable()?;
        let mut registry = self.registry_mut();
        if registry.desks.contains_key(id) {
            return Err(CatalogueError::IdTaken);
        }
        if registry.keys.tenant_of(&key).is_some() {
            return Err(CatalogueError::KeyTaken);
        }
        let record = empty_house(id.clone(), limits_of(&settings), self.birth);
        let house = House::restore(record, registry.seat_settings.clone(), clock::now());
        let desk = Arc::new(Desk::new(id.clone(), house, settings.clone(), Arc::clone(&self.journal)));
        let ticket = {
            let mut at_desk = desk.take();
            at_desk.put_settings(settings);
            at_desk.push(Row::Key { tenant: id.clone(), digest: key, only: false });
            at_desk.publish()
        };
        registry.keys.add(key, id);
        registry.desks.insert(id.clone(), desk);
        Ok(ticket)
    }

    fn enter_key(&self, id: &TenantId, key: KeyDigest, only: bool) -> Result<Ticket, CatalogueError> {
        self.journal.writable()?;
        let mut registry = self.registry_mut();
        let desk = registry.desks.get(id).cloned().ok_or(CatalogueError::TenantNotFound)?;
        if registry.keys.tenant_of(&key).is_some_and(|owner| owner != id) {
            return Err(CatalogueError::KeyTaken);
        }
        if only {
            registry.keys.remove_all(id);
        }
        registry.keys.add(key, id);
        let mut at_desk = desk.take();
        at_desk.push(Row::Key { tenant: id.clone(), digest: key, only });
        Ok(at_desk.publish())
    }

    fn enter_stream(
        &self,
        tenant: &TenantId,
        id: &StreamId,
        settings: StreamSettings,
    ) -> Result<(StreamRecord, Ticket), CatalogueError> {
        self.journal.writable()?;
        let mut registry = self.registry_mut();
        let desk = registry.desks.get(tenant).cloned().ok_or(CatalogueError::TenantNotFound)?;
        if registry.streams.contains_key(id) {
            return Err(CatalogueError::IdTaken);
        }
        let mut at_desk = desk.take();
        let now = at_desk.now;
        let record = StreamRecord {
            id: id.clone(),
            settings,
            created_at: now.unix_s,
            ended_at: None,
            ingest_token_at: None,
            peak: 0,
        };
        let reserved = self.places.reserve(places_of(&record));
        let reserved = reserved.map_err(|no| no_room(no, &record.settings, &at_desk))?;
        at_desk.house().open_stream(record.clone(), now)?;
        reserved.keep();
        registry.streams.insert(id.clone(), Arc::clone(&desk));
        Ok((record, at_desk.publish()))
    }

    /// S9 and S14 in one step: more places are reserved before, fewer are given back after the change.
    fn resize(&self, at_desk: &mut AtDesk<'_>, id: &StreamId, settings: StreamSettings) -> Result<(), CatalogueError> {
        let old = record_of(at_desk, id)?;
        let had = places_of(&old);
        let needs = places_of(&StreamRecord { settings: settings.clone(), ..old });
        let reserved = self.places.reserve(needs.saturating_sub(had));
        let reserved = reserved.map_err(|no| no_room(no, &settings, at_desk))?;
        let now = at_desk.now;
        at_desk.house().change_stream(id, settings, now)?;
        reserved.keep();
        self.places.release(had.saturating_sub(needs));
        Ok(())
    }

    fn remove_stream(&self, tenant: &TenantId, id: &StreamId) -> Result<Ticket, CatalogueError> {
        self.journal.writable()?;
        let mut registry = self.registry_mut();
        let desk = registry.streams.get(id).filter(|desk| desk.tenant == *tenant).cloned().ok_or(NOT_FOUND)?;
        let mut at_desk = desk.take();
        let (had, now) = (places_of(&record_of(&mut at_desk, id)?), at_desk.now);
        at_desk.house().delete_stream(id, now);
        self.places.release(had);
        registry.streams.remove(id);
        Ok(at_desk.publish())
    }

    /// The desk of the tenant's own stream; another tenant's stream is as unknown as none.
    fn desk_with(&self, tenant: &TenantId, id: &StreamId) -> Result<Arc<Desk>, CatalogueError> {
        self.desk_of(id).filter(|desk| desk.tenant == *tenant).ok_or(NOT_FOUND)
    }

    fn describe(&self, desk: &Desk) -> Tenant {
        let keys = self.registry().keys.count(&desk.tenant);
        let mut at_desk = desk.take_swept();
        let seats_used = at_desk.house().seats_used();
        let settings = at_desk.settings().clone();
        at_desk.publish();
        Tenant { id: desk.tenant.clone(), settings, seats_used, keys }
    }
}

fn record_of(at_desk: &mut AtDesk<'_>, id: &StreamId) -> Result<StreamRecord, CatalogueError> {
    at_desk.house().stream(id).cloned().ok_or(NOT_FOUND)
}

const fn limits_of(settings: &TenantSettings) -> TenantLimits {
    TenantLimits { viewer_cap: settings.viewer_cap }
}

/// A stream that also breaks its tenant's cap hears of that: it is what its owner can mend.
fn no_room(no: NoRoom, settings: &StreamSettings, at_desk: &AtDesk<'_>) -> CatalogueError {
    let limit = at_desk.settings().viewer_cap;
    if settings.viewer_cap > limit {
        return SettingsRefusal::OverTenantCap { limit }.into();
    }
    let NoRoom { asked, free, max } = no;
    CatalogueError::TooManyPlaces { asked, free, max }
}

const NOT_FOUND: CatalogueError = CatalogueError::Settings(SettingsRefusal::StreamNotFound);
