//! The embedded store: the pure engine in memory answers, one SQLite file remembers.
//!
//! A call locks its tenant's house ([`desk`]), which decides at once; the changes go to one [`journal`] in the
//! engine's order, and the answer leaves when all that it may rest on is on the disk (D1). One writer takes what has
//! gathered, commits it in one transaction, and wakes everybody in it: a thousand asks cost a few fsyncs. A call that
//! changes nothing, such as a place's next ask or a heartbeat, waits for nothing.
//!
//! When the file cannot be written the store is *away* (D2): calls that would change something are refused before
//! they do, heartbeats and renewals go on from memory, nobody's time runs, and the writer tries the same rows again
//! every second.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tidegate_seats::{House, SeatSettings, StreamId, StreamRecord, TenantId};
use tracing::{error, info};

use self::desk::Desk;
use self::file::SeatsFile;
use self::journal::Journal;
use self::load::KeptTenant;
use self::places::Places;
use self::registry::{Keys, Registry};

mod backlog;
mod catalogue;
mod clock;
mod desk;
mod error;
mod file;
mod journal;
mod load;
mod lock;
mod metrics;
mod places;
mod registry;
mod rows;
mod schema;
mod seats;
mod settings;
mod sweeper;
mod writer;

pub use error::{CloseError, OpenError};
pub use settings::EmbeddedSettings;

/// Seats, lines and the catalogue in one process, kept in `DIR/seats.db`.
pub struct Embedded {
    registry: Arc<RwLock<Registry>>,
    places: Places,
    journal: Arc<Journal>,
    epoch: String,
    birth: u64,
}

/// What was written since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Transactions, one fsync each.
    pub commits: u64,
    /// Changes in them.
    pub rows: u64,
}

impl Embedded {
    /// Opens the store in `dir`, making both where there are none. Everybody who had a seat or a place has it again,
    /// with a full fresh period (D1).
    ///
    /// Reads the whole file before it returns. Must be called within a tokio runtime, which does the store's work
    /// from then on.
    ///
    /// # Errors
    /// When another process has the directory, or the file is damaged, newer, not a store, or cannot be written;
    /// it is then left as it is.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(dir: &Path, settings: EmbeddedSettings) -> Result<Arc<Self>, OpenError> {
        let EmbeddedSettings { seats: seat_settings, max_places, file_max_bytes } = settings;
        let (file, kept) = SeatsFile::open(dir)?;
        let runtime = tokio::runtime::Handle::current();
        let journal = Arc::new(Journal::new(file, file_max_bytes, runtime.clone()));
        let used = kept.tenants.iter().flat_map(|tenant| &tenant.house.streams).map(places_of).sum();
        let mut registry =
            Registry { desks: [].into(), streams: Default::default(), keys: Keys::default(), seat_settings };
        for tenant in kept.tenants {
            registry.restore(tenant, &journal);
        }
        info!(dir = %dir.display(), tenants = registry.desks.len(), streams = registry.streams.len(), "store opened");
        let store = Arc::new(Self {
            registry: Arc::new(RwLock::new(registry)),
            places: Places::new(used, max_places),
            journal,
            epoch: kept.epoch,
            birth: kept.birth,
        });
        runtime.spawn(sweeper::run(Arc::downgrade(&store.registry), Arc::clone(&store.journal)));
        Ok(store)
    }

    /// Names this file's memory: a store that was begun anew has another epoch (T5).
    #[must_use]
    pub fn epoch(&self) -> &str {
        &self.epoch
    }

    /// When this file's memory began, Unix seconds: only a token issued before that restores a seat (T5).
    #[must_use]
    pub const fn birth(&self) -> u64 {
        self.birth
    }

    /// Moves the times of seats, places and offers, for every tenant, from their next deadline on.
    pub fn set_seat_settings(&self, settings: &SeatSettings) {
        let mut registry = self.registry_mut();
        registry.seat_settings = settings.clone();
        for desk in registry.desks.values() {
            desk.take().house().set_settings(settings.clone());
        }
    }

    /// Moves S14's bound; streams that there are keep their places.
    pub fn set_max_places(&self, max_places: u64) {
        self.places.set_max(max_places);
    }

    /// Places taken of S14's bound.
    #[must_use]
    pub fn places_used(&self) -> u64 {
        self.places.used()
    }

    /// Moves the bound of the file's size, `None` for as far as the disk goes; heeded from the next commit on.
    pub fn set_file_max_bytes(&self, bytes: Option<u64>) {
        self.journal.max_bytes.store(bytes.unwrap_or(0), Ordering::Relaxed);
    }

    /// What was written since the store was opened.
    #[must_use]
    pub fn written(&self) -> Written {
        let totals = &self.journal.totals;
        Written { commits: totals.commits.load(Ordering::Relaxed), rows: totals.rows.load(Ordering::Relaxed) }
    }

    /// Writes what is left, closes the file and lets go of the directory; every later call finds the store away.
    ///
    /// Harmless when repeated. Dropping the store does the same, blocking the thread meanwhile.
    ///
    /// # Errors
    /// When something could not be written; the directory is free all the same.
    pub async fn close(&self) -> Result<(), CloseError> {
        let journal = Arc::clone(&self.journal);
        let finished = tokio::task::spawn_blocking(move || journal.finish()).await;
        finished.unwrap_or_else(|error| Err(CloseError { rows: 0, detail: error.to_string() }))
    }

    fn registry(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn registry_mut(&self) -> RwLockWriteGuard<'_, Registry> {
        self.registry.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn desk_of(&self, stream: &StreamId) -> Option<Arc<Desk>> {
        self.registry().streams.get(stream).cloned()
    }

    fn desk(&self, tenant: &TenantId) -> Option<Arc<Desk>> {
        self.registry().desks.get(tenant).cloned()
    }

    fn desks(&self) -> Vec<Arc<Desk>> {
        self.registry().desks.values().cloned().collect()
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Err(error) = self.journal.finish() {
            error!(%error, "the store could not be closed well");
        }
    }
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").field("epoch", &self.epoch).field("written", &self.written()).finish_non_exhaustive()
    }
}

impl Registry {
    fn restore(&mut self, tenant: KeptTenant, journal: &Arc<Journal>) {
        let KeptTenant { settings, keys, house } = tenant;
        let id = house.tenant.clone();
        let streams: Vec<StreamId> = house.streams.iter().map(|stream| stream.id.clone()).collect();
        let house = House::restore(house, self.seat_settings.clone(), clock::now());
        let desk = Arc::new(Desk::new(id.clone(), house, settings, Arc::clone(journal)));
        for key in keys {
            self.keys.add(key, &id);
        }
        self.streams.extend(streams.into_iter().map(|stream| (stream, Arc::clone(&desk))));
        self.desks.insert(id, desk);
    }
}

/// What a stream counts against S14: nothing once it has ended.
fn places_of(stream: &StreamRecord) -> u64 {
    let settings = &stream.settings;
    if stream.ended_at.is_some() { 0 } else { u64::from(settings.viewer_cap) + u64::from(settings.queue_max) }
}
