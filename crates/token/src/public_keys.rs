//! Verifying: the public half, which every control, relay and chat process holds.

use std::sync::Once;

use aws_lc_rs::digest::{SHA256, digest};
use data_encoding::BASE64URL_NOPAD;
use jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::{Deserialize, Serialize};

use crate::{Claims, KeysError, Role, TokenError};

/// Longer tokens are refused before anything of them is read. Limits against bad input, 60-operations.
pub const TOKEN_MAX_BYTES: usize = 4096;

/// The moment at which a token has to be good, and whether an outage excuses its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyAt {
    /// It must not have ended by this Unix second.
    Now(u64),
    /// The control or its store is away (S20, E4): a token that ended since then is still taken.
    Outage {
        /// When the outage began, Unix seconds.
        began: u64,
        /// Now, Unix seconds; retired keys stay retired.
        now: u64,
    },
}

/// The keys that verify tokens now.
#[derive(Clone, Debug, Default)]
pub struct PublicKeys {
    keys: Vec<PublicKey>,
}

/// One verifying key.
#[derive(Clone, Debug)]
pub(crate) struct PublicKey {
    pub(crate) kid: String,
    pub(crate) bytes: [u8; 32],
    /// Unix seconds from which it verifies nothing any more.
    pub(crate) retires_at: Option<u64>,
    decoding: DecodingKey,
}

impl PublicKey {
    pub(crate) fn new(bytes: [u8; 32], retires_at: Option<u64>) -> Self {
        Self { kid: thumbprint(&bytes), bytes, retires_at, decoding: DecodingKey::from_ed_der(&bytes) }
    }

    fn verifies_at(&self, now: u64) -> bool {
        self.retires_at.is_none_or(|end| now < end)
    }
}

/// A token whose signature and time are good. What it is for is still to be checked, by one of the methods that
/// hand out its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified(Claims);

impl Verified {
    /// The claims, if this is a viewer's token for that stream (E1).
    ///
    /// # Errors
    /// [`TokenError::WrongRole`] and [`TokenError::WrongStream`].
    pub fn viewer_of(self, stream: &str) -> Result<Claims, TokenError> {
        self.holds(Role::Viewer, stream)
    }

    /// The claims, if this is a viewer's token for whichever stream.
    ///
    /// # Errors
    /// [`TokenError::WrongRole`].
    pub fn viewer(self) -> Result<Claims, TokenError> {
        match self.0.role {
            Role::Viewer => Ok(self.0),
            got @ (Role::Publisher | Role::Peer) => Err(TokenError::WrongRole { wanted: Role::Viewer, got }),
        }
    }

    /// The claims, if this is a publisher's token for that stream (E1, S24).
    ///
    /// # Errors
    /// [`TokenError::WrongRole`] and [`TokenError::WrongStream`].
    pub fn publisher_of(self, stream: &str) -> Result<Claims, TokenError> {
        self.holds(Role::Publisher, stream)
    }

    /// The claims, if this is a peer relay's token; a peer carries every stream (E1, E16).
    ///
    /// # Errors
    /// [`TokenError::WrongRole`].
    pub fn peer(self) -> Result<Claims, TokenError> {
        match self.0.role {
            Role::Peer => Ok(self.0),
            got @ (Role::Viewer | Role::Publisher) => Err(TokenError::WrongRole { wanted: Role::Peer, got }),
        }
    }

    /// The role, for a caller that takes several and decides by it.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.0.role
    }

    fn holds(self, wanted: Role, stream: &str) -> Result<Claims, TokenError> {
        if self.0.role != wanted {
            return Err(TokenError::WrongRole { wanted, got: self.0.role });
        }
        if self.0.stream != stream {
            return Err(TokenError::WrongStream);
        }
        Ok(self.0)
    }
}

impl PublicKeys {
    pub(crate) fn new(keys: Vec<PublicKey>) -> Self {
        use_aws_lc();
        Self { keys }
    }

    /// Reads a JSON Web Key Set; keys of other kinds in it are passed over.
    ///
    /// # Errors
    /// [`KeysError`] when nothing could be verified with it.
    pub fn from_jwks(text: &str) -> Result<Self, KeysError> {
        let set: Jwks = serde_json::from_str(text).map_err(|e| KeysError::NotAKeySet(e.to_string()))?;
        let keys: Vec<_> = set.keys.iter().filter_map(Jwk::public_key).collect();
        if keys.is_empty() {
            return Err(KeysError::NoUsableKey);
        }
        Ok(Self::new(keys))
    }

    /// Writes the keys that verify now as a JSON Web Key Set (T1).
    #[must_use]
    pub fn to_jwks(&self, now: u64) -> String {
        let keys = self.keys.iter().filter(|key| key.verifies_at(now)).map(Jwk::of).collect();
        serde_json::to_string(&Jwks { keys }).expect("strings in a struct always serialise")
    }

    /// Whether there is no key, so that no token is good.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Checks a token's size, algorithm, key, signature and time.
    ///
    /// # Errors
    /// [`TokenError`]; a token over [`TOKEN_MAX_BYTES`] is refused unread.
    pub fn verify(&self, token: &str, at: VerifyAt) -> Result<Verified, TokenError> {
        if token.len() > TOKEN_MAX_BYTES {
            return Err(TokenError::TooLong { bytes: token.len() });
        }
        let (earliest_end, now) = match at {
            VerifyAt::Now(now) => (now, now),
            VerifyAt::Outage { began, now } => (began.min(now), now),
        };
        let claims = self.signed_claims(token, now)?;
        // A token ends *at* `exp`: in that second it is dead already, here and at every relay.
        if claims.exp <= earliest_end {
            return Err(TokenError::Expired { ago_s: earliest_end - claims.exp });
        }
        Ok(Verified(claims))
    }

    fn signed_claims(&self, token: &str, now: u64) -> Result<Claims, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|e| refusal(e.kind()))?;
        // Pinned before any key is chosen: a token can not choose how it is checked (T1).
        if header.alg != Algorithm::EdDSA {
            return Err(TokenError::WrongAlgorithm);
        }
        let kid = header.kid.ok_or(TokenError::UnknownKey)?;
        let key = self.keys.iter().find(|key| key.kid == kid && key.verifies_at(now)).ok_or(TokenError::UnknownKey)?;
        let data = jsonwebtoken::decode(token, &key.decoding, &signature_only()).map_err(|e| refusal(e.kind()))?;
        Ok(data.claims)
    }
}

/// The library's own time checks read the process clock and allow a minute's leeway; ours take the time as an
/// argument and allow none.
fn signature_only() -> Validation {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum is open; all else is a token not made here")]
fn refusal(kind: &ErrorKind) -> TokenError {
    match kind {
        ErrorKind::InvalidSignature => TokenError::BadSignature,
        ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm | ErrorKind::InvalidAlgorithmName => {
            TokenError::WrongAlgorithm
        }
        _ => TokenError::Malformed,
    }
}

/// The library picks its crypto by its cargo features and panics when two are on. Another crate of the build may
/// turn on the second, so ours is named; when somebody named one before us, theirs stands.
pub(crate) fn use_aws_lc() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _theirs_stands = DEFAULT_PROVIDER.install_default();
    });
}

/// RFC 7638 thumbprint of an Ed25519 key, cut to 96 bits: an id that follows from the key, so that two processes
/// never give one key two names.
fn thumbprint(public: &[u8; 32]) -> String {
    let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, BASE64URL_NOPAD.encode(public));
    BASE64URL_NOPAD.encode(&digest(&SHA256, canonical.as_bytes()).as_ref()[..12])
}

#[derive(Serialize, Deserialize)]
struct Jwks {
    keys: Vec<Jwk>,
}

#[derive(Serialize, Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    kid: String,
    #[serde(rename = "use", default)]
    purpose: String,
    #[serde(default)]
    alg: String,
}

impl Jwk {
    fn of(key: &PublicKey) -> Self {
        Self {
            kty: "OKP".into(),
            crv: "Ed25519".into(),
            x: BASE64URL_NOPAD.encode(&key.bytes),
            kid: key.kid.clone(),
            purpose: "sig".into(),
            alg: "EdDSA".into(),
        }
    }

    fn public_key(&self) -> Option<PublicKey> {
        if self.kty != "OKP" || self.crv != "Ed25519" {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(self.x.as_bytes()).ok()?;
        let key = PublicKey::new(bytes.try_into().ok()?, None);
        (key.kid == self.kid).then_some(key)
    }
}
