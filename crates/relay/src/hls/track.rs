//! One rendition that is watched: a task that packages it, and who waits for its next part.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use moq_mux::catalog::hang::Catalog;
use moq_mux::catalog::{CatalogFormat, Stream as _};
use moq_mux::container::fmp4::mp4_atom::{Any, DecodeMaybe};
use moq_mux::container::fmp4::{Chunk, Export};
use moq_mux::select;
use moq_net::{Timescale, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::address::{Reload, TrackId};
use super::playlist;
use super::window::{Found, Fragment, PART, Window};

/// A rendition, packaged for as long as this lives.
pub(crate) struct Track {
    inner: Arc<Inner>,
    packager: JoinHandle<()>,
}

struct Inner {
    id: TrackId,
    state: Mutex<State>,
    /// Grows with everything that comes.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    window: Window,
    /// The playlist, until something comes: all viewers read the same.
    text: Option<Bytes>,
    asked: Option<Instant>,
}

/// A broadcast that is live, as those who package it need to know it.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) source: moq_mux::Source,
    pub(crate) format: CatalogFormat,
    pub(crate) catalog: Arc<Catalog>,
    /// Counts the broadcasts that there have been.
    pub(crate) number: u64,
}

impl Track {
    /// Begins to package.
    pub(crate) fn begin(
        id: TrackId,
        name: String,
        live: watch::Receiver<Option<Live>>,
        epoch: Arc<OnceLock<SystemTime>>,
    ) -> Self {
        let inner = Arc::new(Inner { id, state: Mutex::default(), news: watch::Sender::new(0) });
        let packager = tokio::spawn(Packager { inner: Arc::clone(&inner), name, live, epoch }.run());
        Self { inner, packager }
    }

    /// When it was last asked for anything.
    pub(crate) fn asked(&self) -> Option<Instant> {
        self.inner.state().asked
    }

    /// Its playlist, once it is what the reload asks for; `NotYet` when that takes too long.
    pub(crate) async fn playlist(&self, reload: Option<Reload>) -> Found<Bytes> {
        self.inner
            .wait(|state| match state.window.playlist(reload) {
                Found::Here(()) => Found::Here(state.text(self.inner.id)),
                Found::NotYet => Found::NotYet,
                Found::Nowhere => Found::Nowhere,
            })
            .await
    }

    pub(crate) async fn part(&self, segment: u64, part: usize) -> Found<Bytes> {
        self.inner.wait(|state| state.window.part(segment, part)).await
    }

    pub(crate) fn segment(&self, segment: u64) -> Found<Bytes> {
        self.inner.asked_state().window.segment(segment)
    }

    pub(crate) fn init(&self, number: u64) -> Found<Bytes> {
        self.inner.asked_state().window.init(number)
    }
}

impl Drop for Track {
    fn drop(&mut self) {
        self.packager.abort();
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic half-way leaves a window that is at worst short of a part.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked_state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.asked = Some(Instant::now());
        state
    }

    fn change(&self, change: impl FnOnce(&mut Window)) {
        let mut state = self.state();
        change(&mut state.window);
        state.text = None;
        drop(state);
        self.news.send_modify(|news| *news += 1);
    }

    /// Waits until something is there, or is known not to come.
    async fn wait<T>(&self, look: impl Fn(&mut State) -> Found<T>) -> Found<T> {
        let mut news = self.news.subscribe();
        let seen = async {
            loop {
                match look(&mut self.asked_state()) {
                    Found::NotYet => {}
                    found @ (Found::Here(_) | Found::Nowhere) => return found,
                }
                if news.changed().await.is_err() {
                    return Found::Nowhere;
                }
            }
        };
        timeout(PATIENCE, seen).await.unwrap_or(Found::NotYet)
    }
}

impl State {
    fn text(&mut self, id: TrackId) -> Bytes {
        let window = &self.window;
        self.text.get_or_insert_with(|| playlist::text(id, window).into()).clone()
    }
}

/// What turns a broadcast's track into a window of parts.
struct Packager {
    inner: Arc<Inner>,
    name: String,
    live: watch::Receiver<Option<Live>>,
    epoch: Arc<OnceLock<SystemTime>>,
}

impl Packager {
    /// Packages one broadcast after the other, until none comes back.
    async fn run(mut self) {
        let mut last = None;
        loop {
            let is_next = |live: &Option<Live>| live.as_ref().is_some_and(|live| Some(live.number) != last);
            let Ok(Ok(live)) = timeout(ABSENT, self.live.wait_for(is_next)).await.map(|live| live.map(|it| it.clone()))
            else {
                break;
            };
            let live = live.expect("it was waited for");
            last = Some(live.number);
            if let Err(error) = self.package(&live).await {
                tracing::debug!(track = %self.inner.id, %error, "a rendition ended");
            }
        }
        self.inner.change(Window::handle_end);
    }

    async fn package(&self, live: &Live) -> Result<(), moq_mux::Error> {
        let pick = select::Broadcast::default();
        let pick = match self.inner.id {
            TrackId::Video(_) => pick.video(select::Video::default().name(&self.name)),
            TrackId::Audio(_) => pick.audio(select::Audio::default().name(&self.name)),
        };
        let catalog = live.source.catalog::<()>(live.format).await?.select(pick);
        let export = Export::new(live.source.clone(), catalog);
        let mut export = export.with_max_age(LATE).with_fragment_duration(PART);
        let mut timescale = None;
        while let Some(chunk) = export.next_chunk().await? {
            match chunk {
                Chunk::Init(data) => {
                    timescale = timescale_of(&data)?;
                    self.inner.change(|window| window.handle_init(data));
                }
                Chunk::Fragment(fragment) => {
                    let time = time_of(&fragment.data)?.zip(timescale);
                    let at = time.and_then(|(ticks, scale)| Timestamp::new(ticks, scale).ok());
                    let fragment = Fragment {
                        at: self.wall(live, at.unwrap_or(Timestamp::ZERO)),
                        data: fragment.data,
                        duration: fragment.duration,
                        is_independent: fragment.independent,
                    };
                    self.inner.change(|window| window.handle_fragment(fragment));
                }
            }
        }
        Ok(())
    }

    /// The time of day of a frame, since the Unix epoch. Players lay sound and picture over each other by it, so all
    /// renditions of a broadcast without a clock of its own count from one guess.
    fn wall(&self, live: &Live, at: Timestamp) -> Duration {
        let clock = live.catalog.clock.and_then(|clock| clock.wall_clock(at).ok());
        let wall = clock.unwrap_or_else(|| {
            let since = Duration::from(at);
            let zero = self.epoch.get_or_init(|| SystemTime::now().checked_sub(since).unwrap_or(UNIX_EPOCH));
            zero.checked_add(since).unwrap_or(UNIX_EPOCH)
        });
        wall.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// How many units of time the init's track has in a second.
fn timescale_of(init: &[u8]) -> Result<Option<Timescale>, moq_mux::Error> {
    let mut rest = init;
    while let Some(atom) = Any::decode_maybe(&mut rest)? {
        if let Any::Moov(moov) = atom {
            let track = moov.trak.first().map(|track| u64::from(track.mdia.mdhd.timescale));
            return Ok(track.and_then(|units| Timescale::new(units).ok()));
        }
    }
    Ok(None)
}

/// When a fragment begins, in its track's units.
fn time_of(fragment: &[u8]) -> Result<Option<u64>, moq_mux::Error> {
    let mut rest = fragment;
    while let Some(atom) = Any::decode_maybe(&mut rest)? {
        if let Any::Moof(moof) = atom {
            return Ok(moof.traf.first().and_then(|track| track.tfdt.as_ref()).map(|it| it.base_media_decode_time));
        }
    }
    Ok(None)
}

/// How long a request waits at most: less than three target durations (RFC 8216bis, 6.2.5.2) and than the ten seconds
/// after which players give a request up.
const PATIENCE: Duration = Duration::from_secs(8);
/// A publisher that is back within this time goes on in the same playlist.
const ABSENT: Duration = Duration::from_secs(10);
/// Media that is later than this is left out.
const LATE: Duration = Duration::from_secs(2);
