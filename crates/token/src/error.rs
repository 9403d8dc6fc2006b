//! Why a token or a key set was refused, with advice.

use crate::Role;

/// Why a token is no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than [`crate::TOKEN_MAX_BYTES`]; it was not parsed.
    #[error("the token is {bytes} bytes long; at most 4096 are read: send it as it was given")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not a signed JWT with this house's claims.
    #[error("this is not a token of ours: send it as it was given, three parts with two dots")]
    Malformed,
    /// The header names another algorithm than EdDSA (T1).
    #[error("only EdDSA (Ed25519) tokens are taken")]
    WrongAlgorithm,
    /// No key of this id verifies now.
    #[error("the token's key is unknown or retired: fetch /.well-known/jwks.json anew, or ask for a new token")]
    UnknownKey,
    /// The signature does not fit.
    #[error("the token's signature does not fit its content: ask for a new token")]
    BadSignature,
    /// It ended.
    #[error("the token ended {ago_s} s ago: ask for a new one")]
    Expired {
        /// Seconds since its end (or since the outage that would have excused it began).
        ago_s: u64,
    },
    /// It is for another role.
    #[error("a {wanted} token is needed, this is a {got} token", wanted = wanted.as_str(), got = got.as_str())]
    WrongRole {
        /// What was needed.
        wanted: Role,
        /// What it is.
        got: Role,
    },
    /// It is for another stream.
    #[error("the token is for another stream")]
    WrongStream,
}

/// Why a set of public keys could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// Not a JSON Web Key Set.
    #[error("not a JSON Web Key Set ({0}): take it from a control's /.well-known/jwks.json")]
    NotAKeySet(String),
    /// No Ed25519 key in it.
    #[error("the key set has no Ed25519 key, so no token could be verified with it")]
    NoUsableKey,
}

/// Why a key file could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// Not the JSON of a key file.
    #[error("the key file is not readable ({0}): restore it from a backup, or move it away and let a new one be made")]
    NotAKeyFile(String),
    /// A seed that is not 32 bytes of base64url.
    #[error("the key file's key `{kid}` has a bad seed: restore the file from a backup, or take this key out")]
    BadSeed {
        /// Which key.
        kid: String,
    },
    /// A key whose id does not follow from its seed.
    #[error("the key file's key `{kid}` has a seed that makes another key: restore the file from a backup")]
    WrongKeyId {
        /// Which key.
        kid: String,
    },
    /// The file has no key that signs, or several.
    #[error("the key file has {0} keys without `retires_at`; exactly one must sign")]
    NotOneSigner(usize),
}
