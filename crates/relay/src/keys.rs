//! The control's verifying keys, and whether the control can be reached (T1, E4).

use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_token::{PublicKeys, TokenError, Verified, VerifyAt};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// The keys that verify tokens at this relay. Keys rotate with an overlap: the control lists the new one and the one
/// before it, so a relay that looks from time to time always knows both.
#[derive(Debug)]
pub struct Keys {
    known: RwLock<PublicKeys>,
    away: watch::Sender<Away>,
    /// The control's name for its keys, as it was told with a report.
    named: Mutex<String>,
    /// Grows with every set of keys that was taken.
    version: watch::Sender<u64>,
    /// Somebody showed a token of a key that is not known.
    pub(crate) wanted: Notify,
}

impl Keys {
    /// These keys, and the control in reach.
    #[must_use]
    pub fn new(known: PublicKeys) -> Self {
        Self {
            known: RwLock::new(known),
            away: watch::Sender::new(Away::default()),
            named: Mutex::default(),
            version: watch::Sender::new(0),
            wanted: Notify::new(),
        }
    }

    /// Takes another set of keys.
    pub fn set(&self, keys: PublicKeys) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = keys;
        self.version.send_modify(|version| *version += 1);
    }

    /// Whether there is a key at all: without one no token is good.
    #[must_use]
    pub fn are_known(&self) -> bool {
        !self.known.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Since which Unix second the control is away; `None` when it is back. Tokens that ended since then are still taken,
    /// and no session is cut for its token's end. Rule E4.
    pub fn set_away(&self, since: Option<u64>) {
        self.change_away(|away| away.control = since);
    }

    /// Takes in what the control says of its keys and of its store.
    pub(crate) fn heed(&self, keys: &str, store_away: bool) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if *named != keys {
            keys.clone_into(&mut named);
            self.wanted.notify_one();
        }
        let now = unix_now();
        self.change_away(|away| away.store = store_away.then(|| away.store.unwrap_or(now)));
    }

    pub(crate) fn away(&self) -> watch::Receiver<Away> {
        self.away.subscribe()
    }

    fn change_away(&self, change: impl FnOnce(&mut Away)) {
        self.away.send_if_modified(|away| {
            let before = away.since().is_some();
            change(away);
            away.since().is_some() != before
        });
    }

    /// Checks a token. One of a key that is not known may be of a key that began to sign a moment ago: then the keys
    /// are fetched anew, and it is checked again.
    pub(crate) async fn verify(&self, token: &str) -> Result<Verified, TokenError> {
        let mut version = self.version.subscribe();
        match self.verify_now(token) {
            Err(TokenError::UnknownKey) => {}
            verified => return verified,
        }
        self.wanted.notify_one();
        // Fetched or not, the keys known then decide.
        timeout(FRESH_KEYS, version.changed()).await.ok();
        self.verify_now(token)
    }

    fn verify_now(&self, token: &str) -> Result<Verified, TokenError> {
        let now = unix_now();
        let at = match self.away.borrow().since() {
            Some(began) => VerifyAt::Outage { began, now },
            None => VerifyAt::Now(now),
        };
        self.known.read().unwrap_or_else(PoisonError::into_inner).verify(token, at)
    }
}

/// Since when the control cannot be reached, and since when it says that its store cannot, Unix seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Away {
    control: Option<u64>,
    store: Option<u64>,
}

impl Away {
    /// Since when either is away.
    pub(crate) fn since(self) -> Option<u64> {
        self.control.into_iter().chain(self.store).min()
    }
}

pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// How long one session waits for fresh keys. Longer than a fetch takes, shorter than a viewer's patience.
const FRESH_KEYS: Duration = Duration::from_secs(2);
