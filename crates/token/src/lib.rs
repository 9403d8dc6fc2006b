//! Decides whether a token is a proof of a seat, by itself and without a call home (T1, T2, T4).
//!
//! Pure: the time, the seeds of new keys and the ids of new tokens are arguments. A [`KeySet`] signs and is kept
//! in a file; [`PublicKeys`] is what everybody else needs to verify.
//!
//! ```
//! use tidegate_token::{Claims, KeySet, Role, Seed, TokenError, VerifyAt};
//!
//! let now = 1_800_000_000;
//! let keys = KeySet::generate(Seed([7; 32]), now); // 32 random bytes, outside an example
//! let claims = Claims {
//!     sub: "a-seat".into(),
//!     stream: "launch".into(),
//!     tenant: "acme".into(),
//!     role: Role::Viewer,
//!     iat: now,
//!     exp: now + 120,
//!     jti: "a-token".into(),
//!     back: false,
//! };
//! let token = keys.sign(&claims);
//! assert_eq!(keys.verify(&token, VerifyAt::Now(now + 5))?.viewer_of("launch")?, claims);
//! assert_eq!(keys.verify(&token, VerifyAt::Now(now + 130)), Err(TokenError::Expired { ago_s: 10 }));
//! # Ok::<(), TokenError>(())
//! ```

mod claims;
mod error;
mod key_set;
mod public_keys;

pub use claims::{Claims, Role};
pub use error::{KeyFileError, KeysError, TokenError};
pub use key_set::{KeySet, Seed};
pub use public_keys::{PublicKeys, TOKEN_MAX_BYTES, Verified, VerifyAt};
