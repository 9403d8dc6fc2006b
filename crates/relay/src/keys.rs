//! The control's verifying keys, and whether the control can be reached (T1, E4).

use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_token::{PublicKeys, TokenError, Verified, VerifyAt};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// The keys that verify tokens at this relay. Keys rotate with an overlap: the control lists the new one and the one
/// before it, so a relay that looks from time to time always knows both.
#[derive(Debug)]
pub struct Keys {
    known: RwLock<PublicKeys>,
    /// Unix seconds since which the control, or its store, is away.
    away: watch::Sender<Option<u64>>,
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
            away: watch::Sender::new(None),
            version: watch::Sender::new(0),
            wanted: Notify::new(),
        }
    }

    /// Takes another set of keys.
    pub fn set(&self, keys: PublicKeys) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = keys;
        self.version.send_modify(|version| *version += 1);
    }

    /// Since which Unix second the control, or its store, is away; `None` when both are back. Tokens that ended since
    /// then are still taken, and no session is cut for its token's end. Rule E4.
    pub fn set_away(&self, since: Option<u64>) {
        self.away.send_if_modified(|away| std::mem::replace(away, since).is_some() != since.is_some());
    }

    pub(crate) fn away(&self) -> watch::Receiver<Option<u64>> {
        self.away.subscribe()
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
        let at = match *self.away.borrow() {
            Some(began) => VerifyAt::Outage { began, now },
            None => VerifyAt::Now(now),
        };
        self.known.read().unwrap_or_else(PoisonError::into_inner).verify(token, at)
    }
}

pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// How long one session waits for fresh keys. Longer than a fetch takes, shorter than a viewer's patience.
const FRESH_KEYS: Duration = Duration::from_secs(2);
