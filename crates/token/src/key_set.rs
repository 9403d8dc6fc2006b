//! Signing: the private half, kept in a file of its own (T1).

use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use data_encoding::BASE64URL_NOPAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::{Deserialize, Serialize};

use crate::public_keys::PublicKey;
use crate::{Claims, KeyFileError, PublicKeys, TokenError, Verified, VerifyAt};

/// 32 random bytes that become a key; the caller draws them from a cryptographic source.
#[derive(Clone, Copy)]
pub struct Seed(pub [u8; 32]);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// The keys of a deployment: one signs, older ones verify until they retire.
///
/// ```text
/// generate ──▶ signs ──rotate──▶ verifies until `retires_at` ──▶ gone at the next rotation
/// ```
#[derive(Clone)]
pub struct KeySet {
    signer: Key,
    signer_header: Header,
    signing: EncodingKey,
    older: Vec<Key>,
    public: PublicKeys,
}

#[derive(Clone)]
struct Key {
    seed: Seed,
    public: PublicKey,
    created_at: u64,
}

impl KeySet {
    /// Makes a set of one key.
    #[must_use]
    pub fn generate(seed: Seed, now: u64) -> Self {
        Self::of(Key::new(seed, now, None), Vec::new())
    }

    /// Makes a new key that signs from now on; the one before verifies for `overlap_s` more seconds.
    ///
    /// Every token of the old key has ended by then if `overlap_s` is at least a token's life. Keys that have
    /// retired are dropped.
    #[must_use]
    pub fn rotate(&self, seed: Seed, now: u64, overlap_s: u64) -> Self {
        let mut last = self.signer.clone();
        last.public.retires_at = Some(now.saturating_add(overlap_s));
        let still_verifies = |key: &&Key| key.public.retires_at.is_none_or(|end| now < end);
        let older = std::iter::once(&last).chain(&self.older).filter(still_verifies).cloned().collect();
        Self::of(Key::new(seed, now, None), older)
    }

    /// Reads a key file's text.
    ///
    /// # Errors
    /// [`KeyFileError`], with advice.
    pub fn from_json(text: &str) -> Result<Self, KeyFileError> {
        let file: KeyFile = serde_json::from_str(text).map_err(|e| KeyFileError::NotAKeyFile(e.to_string()))?;
        let keys = file.keys.into_iter().map(KeyRow::read).collect::<Result<Vec<_>, _>>()?;
        let (mut signers, older): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.public.retires_at.is_none());
        match (signers.pop(), signers.len()) {
            (Some(signer), 0) => Ok(Self::of(signer, older)),
            (Some(_), others) => Err(KeyFileError::NotOneSigner(others + 1)),
            (None, _) => Err(KeyFileError::NotOneSigner(0)),
        }
    }

    /// Writes the key file's text. It holds the private keys: keep it readable by the control alone.
    #[must_use]
    pub fn to_json(&self) -> String {
        let keys = std::iter::once(&self.signer).chain(&self.older).map(KeyRow::of).collect();
        serde_json::to_string_pretty(&KeyFile { keys }).expect("strings in a struct always serialise")
    }

    /// Signs claims with the newest key.
    #[must_use]
    pub fn sign(&self, claims: &Claims) -> String {
        jsonwebtoken::encode(&self.signer_header, claims, &self.signing)
            .expect("an Ed25519 key that was read signs, and strings in a struct always serialise")
    }

    /// Checks a token's size, algorithm, key, signature and time; see [`PublicKeys::verify`].
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn verify(&self, token: &str, at: VerifyAt) -> Result<Verified, TokenError> {
        self.public.verify(token, at)
    }

    /// What everybody else needs to verify.
    #[must_use]
    pub const fn public(&self) -> &PublicKeys {
        &self.public
    }

    /// The id of the key that signs.
    #[must_use]
    pub fn signer(&self) -> &str {
        &self.signer.public.kid
    }

    fn of(signer: Key, older: Vec<Key>) -> Self {
        let mut signer_header = Header::new(Algorithm::EdDSA);
        signer_header.kid = Some(signer.public.kid.clone());
        let signing = signer.encoding();
        let public = PublicKeys::new(std::iter::once(&signer).chain(&older).map(|key| key.public.clone()).collect());
        Self { signer, signer_header, signing, older, public }
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet").field("signer", &self.signer()).field("older", &self.older.len()).finish()
    }
}

impl Key {
    fn new(seed: Seed, created_at: u64, retires_at: Option<u64>) -> Self {
        let mut public = [0; 32];
        public.copy_from_slice(seed.pair().public_key().as_ref());
        Self { seed, public: PublicKey::new(public, retires_at), created_at }
    }

    fn encoding(&self) -> EncodingKey {
        let document = self.seed.pair().to_pkcs8v1().expect("a key pair in memory can be written");
        EncodingKey::from_ed_der(document.as_ref())
    }
}

impl Seed {
    fn pair(&self) -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&self.0).expect("any 32 bytes are an Ed25519 seed")
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    keys: Vec<KeyRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRow {
    kid: String,
    seed: String,
    created_at: u64,
    retires_at: Option<u64>,
}

impl KeyRow {
    fn of(key: &Key) -> Self {
        Self {
            kid: key.public.kid.clone(),
            seed: BASE64URL_NOPAD.encode(&key.seed.0),
            created_at: key.created_at,
            retires_at: key.public.retires_at,
        }
    }

    fn read(self) -> Result<Key, KeyFileError> {
        let seed = BASE64URL_NOPAD.decode(self.seed.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        let Some(seed) = seed else {
            return Err(KeyFileError::BadSeed { kid: self.kid });
        };
        let key = Key::new(Seed(seed), self.created_at, self.retires_at);
        if key.public.kid != self.kid {
            return Err(KeyFileError::WrongKeyId { kid: self.kid });
        }
        Ok(key)
    }
}
