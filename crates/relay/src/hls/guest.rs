//! One HTTP session: its place at the desk, how it ended, and how much it may ask for at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tidegate_wire::relay::CloseCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::show::Show;
use crate::desk::Place;

/// Somebody who watches over HTTP.
pub(crate) struct Guest {
    pub(crate) stream: Arc<str>,
    pub(crate) seat: Arc<str>,
    pub(crate) show: Arc<Show>,
    seated: Mutex<Seated>,
    requests: Arc<Semaphore>,
}

/// How the desk tells a session that it is over.
pub(crate) type Ending = watch::Sender<Option<CloseCode>>;

struct Seated {
    place: Place,
    token: Arc<str>,
    ending: watch::Receiver<Option<CloseCode>>,
    heard: Instant,
}

impl Guest {
    pub(crate) fn new(
        show: Arc<Show>,
        stream: Arc<str>,
        seat: Arc<str>,
        token: Arc<str>,
        place: Place,
        ending: watch::Receiver<Option<CloseCode>>,
    ) -> Self {
        let seated = Mutex::new(Seated { place, token, ending, heard: Instant::now() });
        Self { stream, seat, show, seated, requests: Arc::new(Semaphore::new(REQUESTS_MAX)) }
    }

    /// Counts a request; `None` when too many are under way.
    pub(crate) fn ask(self: &Arc<Self>) -> Option<Asking> {
        let permit = Arc::clone(&self.requests).try_acquire_owned().ok()?;
        self.hear();
        Some(Asking { guest: Arc::clone(self), _permit: permit })
    }

    /// Whether its place was given on this token.
    pub(crate) fn holds(&self, token: &str) -> bool {
        &*self.seated().token == token
    }

    /// Goes over to another token's place; the one before is given back. Rules E4 and E11.
    pub(crate) fn move_to(&self, token: Arc<str>, place: Place, ending: watch::Receiver<Option<CloseCode>>) {
        let seated = Seated { place, token, ending, heard: Instant::now() };
        let before = std::mem::replace(&mut *self.seated(), seated);
        drop(before);
    }

    /// Why it is over, if it is.
    pub(crate) fn ended(&self) -> Option<CloseCode> {
        *self.seated().ending.borrow()
    }

    /// Waits until it is over.
    pub(crate) async fn over(&self) -> CloseCode {
        loop {
            let mut ending = self.seated().ending.clone();
            if let Ok(Some(code)) = ending.wait_for(Option::is_some).await.map(|code| *code) {
                return code;
            }
            // Its place is gone: either it has another, or it is over without a word.
            if self.seated().ending.has_changed().is_err() {
                return CloseCode::TokenExpired;
            }
        }
    }

    /// Whether it was not heard from for so long that its place is given back.
    pub(crate) fn is_silent(&self, now: Instant) -> bool {
        let is_asking = self.requests.available_permits() < REQUESTS_MAX;
        !is_asking && now.saturating_duration_since(self.seated().heard) >= SILENT
    }

    fn hear(&self) {
        let mut seated = self.seated();
        seated.heard = Instant::now();
        seated.place.hear();
    }

    fn seated(&self) -> MutexGuard<'_, Seated> {
        self.seated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way.
pub(crate) struct Asking {
    guest: Arc<Guest>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Asking {
    fn drop(&mut self) {
        // Who waited for the answer was there until now.
        self.guest.hear();
    }
}

/// Requests of one session at once: two renditions' playlists and parts, and a few that a player gave up.
const REQUESTS_MAX: usize = 12;
/// A session without a request for so long is over; its seat may come back for longer than that (E11).
const SILENT: Duration = Duration::from_secs(10);
