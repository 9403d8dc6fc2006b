//! Signing tokens, and what a presented one proves (T1, T2, T5).

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use data_encoding::BASE64URL_NOPAD;
use tidegate_seats::{Proof, SeatId, StreamId, TenantId};
use tidegate_token::{Claims, KeySet, Role, Seed, Verified, VerifyAt};
use tracing::debug;

use crate::TokenSettings;

/// The keys and lives of tokens; both may be changed while requests run.
pub struct Tokens {
    state: RwLock<Arc<State>>,
}

#[derive(Clone)]
struct State {
    keys: KeySet,
    settings: TokenSettings,
}

/// From when and until when a token is good, Unix seconds.
#[derive(Clone, Copy)]
pub(crate) struct Life {
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// A token and what goes with it in an answer.
pub(crate) struct Signed {
    pub(crate) token: String,
    pub(crate) life_s: u64,
}

/// A presented token that was verified as a seat's.
pub(crate) struct Presented {
    pub(crate) proof: Proof,
    pub(crate) tenant: Option<TenantId>,
}

impl Tokens {
    /// Signs with these keys.
    #[must_use]
    pub fn new(keys: KeySet, settings: TokenSettings) -> Self {
        Self { state: RwLock::new(Arc::new(State { keys, settings })) }
    }

    /// Signs with the newest of these keys from now on (T1); tokens of keys that are not in the set are dead.
    pub fn set_keys(&self, keys: KeySet) {
        self.change(|state| state.keys = keys);
    }

    /// Gives tokens these lives from now on; those given out keep theirs.
    pub fn set_settings(&self, settings: TokenSettings) {
        self.change(|state| state.settings = settings);
    }

    /// The public keys that verify now, as a JSON Web Key Set (T1).
    #[must_use]
    pub fn jwks(&self) -> String {
        self.state().keys.public().to_jwks(unix_now())
    }

    /// When a viewer's token that is signed now will end, Unix seconds.
    pub(crate) fn viewer_until(&self, now: u64) -> u64 {
        now + u64::from(self.state().settings.viewer_life_s.get())
    }

    /// Names the keys that verify now: another name, other keys (T1).
    pub(crate) fn keys_version(&self) -> String {
        self.state().keys.signer().to_owned()
    }

    /// Signs a viewer's token. Only for an `In` and for renewals: a token says that the seat was given (T4). `back`
    /// says that the seat was at a relay a moment ago (T2).
    pub(crate) fn viewer(&self, seat: &str, stream: &StreamId, tenant: &TenantId, back: bool, life: Life) -> Signed {
        let claims = Claims {
            sub: seat.to_owned(),
            stream: stream.as_str().to_owned(),
            tenant: tenant.as_str().to_owned(),
            role: Role::Viewer,
            iat: life.from,
            exp: life.until,
            jti: random_name(),
            back,
        };
        Signed { token: self.state().keys.sign(&claims), life_s: life.until - life.from }
    }

    /// Signs a publisher's token (S24).
    pub(crate) fn publisher(&self, stream: &StreamId, tenant: &TenantId, now: u64) -> Signed {
        let state = self.state();
        let life_s = u64::from(state.settings.publisher_life_s.get());
        let claims = Claims {
            sub: random_name(),
            stream: stream.as_str().to_owned(),
            tenant: tenant.as_str().to_owned(),
            role: Role::Publisher,
            iat: now,
            exp: now + life_s,
            jti: random_name(),
            back: false,
        };
        Signed { token: state.keys.sign(&claims), life_s }
    }

    /// Signs a token with which a relay connects to another one (E16). It lives as long as a publisher's: what a link
    /// carries must not break off in the middle of an event.
    pub(crate) fn peer(&self, relay: &str, now: u64) -> Signed {
        let state = self.state();
        let life_s = u64::from(state.settings.publisher_life_s.get());
        let claims = Claims {
            sub: relay.to_owned(),
            stream: String::new(),
            tenant: String::new(),
            role: Role::Peer,
            iat: now,
            exp: now + life_s,
            jti: random_name(),
            back: false,
        };
        Signed { token: state.keys.sign(&claims), life_s }
    }

    /// What a presented token proves: that this seat of this stream was given. Anything else proves nothing.
    pub(crate) fn proof(&self, token: &str, stream: &StreamId, seat: SeatId, at: VerifyAt) -> Option<Presented> {
        let claims = self.state().keys.verify(token, at).and_then(|verified| verified.viewer_of(stream.as_str()));
        let claims = claims.inspect_err(|why| debug!(%stream, seat = seat.prefix(), %why, "token refused")).ok()?;
        let proof = Proof { seat, issued_at: claims.iat, expires_at: claims.exp };
        let of_this_seat = SeatId::parse(&claims.sub) == Some(seat);
        of_this_seat.then(|| Presented { proof, tenant: TenantId::parse(&claims.tenant) })
    }

    /// Whose seat a presented token is of, whatever the stream.
    pub(crate) fn seat(&self, token: &str, at: VerifyAt) -> Option<SeatId> {
        let claims = self.state().keys.verify(token, at).and_then(Verified::viewer).ok()?;
        SeatId::parse(&claims.sub)
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut state));
    }
}

/// A seed for a new signing key, drawn from the library's cryptographic source.
///
/// # Panics
/// When the operating system has no randomness to give: nothing can be signed safely then.
#[must_use]
pub fn fresh_seed() -> Seed {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the operating system gives random bytes");
    Seed(bytes)
}

/// A fresh seat id; the thread's generator is cryptographic and seeded by the operating system.
pub(crate) fn fresh_seat() -> SeatId {
    SeatId::from_random(rand::random())
}

/// A fresh stream id: 80 random bits in letters and digits. It is public; it only must not collide.
pub(crate) fn fresh_stream() -> StreamId {
    let text = data_encoding::BASE32_NOPAD.encode(&rand::random::<[u8; 10]>()).to_ascii_lowercase();
    StreamId::parse(&text).expect("16 lower-case letters and digits")
}

fn random_name() -> String {
    BASE64URL_NOPAD.encode(&rand::random::<[u8; 16]>())
}

/// Seconds since 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
