//! One stream that is watched over HTTP: which of its broadcasts is shown, its renditions, and when nobody looks on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use moq_mux::catalog::{CatalogFormat, Stream as _};
use moq_net::origin;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::address::TrackId;
use super::lineup::{Lineup, Names};
use super::track::{Live, Track};

/// A stream that is watched.
pub(crate) struct Show {
    live: watch::Receiver<Option<Live>>,
    /// When the clock of a broadcast without one is taken to have begun.
    epoch: Arc<OnceLock<SystemTime>>,
    state: Mutex<State>,
    follower: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    names: Names,
    tracks: BTreeMap<TrackId, Arc<Track>>,
}

impl Show {
    /// Begins to follow a stream's broadcasts.
    pub(crate) fn begin(broadcasts: origin::Consumer) -> Self {
        let (sender, live) = watch::channel(None);
        let follower = tokio::spawn(follow(broadcasts, sender));
        Self { live, epoch: Arc::default(), state: Mutex::default(), follower }
    }

    /// Waits until there is a broadcast to show; `None` when that takes too long.
    pub(crate) async fn lineup(&self) -> Option<Lineup> {
        let mut live = self.live.clone();
        let live = timeout(BEGINNING, live.wait_for(Option::is_some)).await.ok()?.ok()?.clone();
        let lineup = Lineup::read(&live?.catalog, &mut self.state().names);
        (!lineup.renditions.is_empty()).then_some(lineup)
    }

    /// A rendition, which is packaged from now on; `None` for one that there is not.
    pub(crate) fn track(&self, id: TrackId) -> Option<Arc<Track>> {
        let mut state = self.state();
        let State { names, tracks } = &mut *state;
        if let Some(track) = tracks.get(&id) {
            return Some(Arc::clone(track));
        }
        let catalog = Arc::clone(&self.live.borrow().as_ref()?.catalog);
        let name = Lineup::read(&catalog, names).find(id)?.name.clone();
        let track = Arc::new(Track::begin(id, name, self.live.clone(), Arc::clone(&self.epoch)));
        tracks.insert(id, Arc::clone(&track));
        Some(track)
    }

    /// Stops packaging what nobody asks for.
    pub(crate) fn tidy(&self, now: Instant) {
        let is_asked = |track: &Track| track.asked().is_none_or(|at| now.saturating_duration_since(at) < UNASKED);
        self.state().tracks.retain(|_, track| is_asked(track));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

/// Whether a stream has a broadcast now.
pub(crate) async fn is_live(broadcasts: &origin::Consumer) -> bool {
    let mut announced = broadcasts.announced();
    let first = async {
        while let Some(update) = announced.next().await {
            if update.kind.is_active() {
                return true;
            }
        }
        false
    };
    timeout(ANNOUNCED, first).await.unwrap_or(false)
}

/// Follows the broadcasts of a stream: the first by name is shown, for as long as it lasts.
async fn follow(broadcasts: origin::Consumer, live: watch::Sender<Option<Live>>) {
    let mut announced = broadcasts.announced();
    let mut names = BTreeSet::new();
    for number in 0.. {
        let name = loop {
            while let Some(update) = announced.try_next() {
                change(&mut names, update);
            }
            if let Some(name) = names.first() {
                break String::clone(name);
            }
            let Some(update) = announced.next().await else { return };
            change(&mut names, update);
        };
        if let Err(error) = show(&broadcasts, &name, number, &live).await {
            tracing::debug!(name, %error, "a broadcast ended");
        }
        live.send_replace(None);
        // What ended is not asked for again at once; its end is announced a moment later.
        tokio::time::sleep(PAUSE).await;
    }
}

fn change(names: &mut BTreeSet<String>, update: moq_net::announce::Update) {
    let name = update.prefix.as_str().to_owned();
    if update.kind.is_active() {
        names.insert(name)
    } else {
        names.remove(&name)
    };
}

/// Reads a broadcast's catalogue until it ends.
async fn show(
    broadcasts: &origin::Consumer,
    name: &str,
    number: u64,
    live: &watch::Sender<Option<Live>>,
) -> Result<(), moq_mux::Error> {
    let source = moq_mux::Source::new(broadcasts.clone(), name);
    let format = CatalogFormat::detect(name).unwrap_or_default();
    let mut catalogs = source.catalog::<()>(format).await?;
    while let Some(catalog) = catalogs.next().await? {
        let source = source.clone();
        live.send_replace(Some(Live { source, format, catalog: Arc::new(catalog), number }));
    }
    Ok(())
}

/// A broadcast that is announced has its catalogue within this time.
const BEGINNING: Duration = Duration::from_secs(5);
/// What is announced is known within this time.
const ANNOUNCED: Duration = Duration::from_millis(500);
/// A rendition that nobody asks for is packaged for so long. Rule E17.
pub(crate) const UNASKED: Duration = Duration::from_secs(10);
/// Between the end of a broadcast and the next.
const PAUSE: Duration = Duration::from_millis(200);
