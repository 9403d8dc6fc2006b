//! Secret keys of tenants: shown once, kept as digests.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use tidegate_control::auth::key_digest;
use tidegate_store::KeyDigest;

/// A secret key in the open. It is printed only where somebody asked for it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretKey(String);

impl SecretKey {
    /// Makes one of 256 random bits, such as `tg_` and 43 more characters.
    pub(crate) fn generate() -> Self {
        // The thread's generator is a cryptographic one, seeded by the system.
        let bytes: [u8; 32] = rand::random();
        Self(format!("tg_{}", BASE64URL_NOPAD.encode(&bytes)))
    }

    /// The key itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// What the store keeps of it.
    pub(crate) fn digest(&self) -> KeyDigest {
        key_digest(&self.0)
    }
}

impl FromStr for SecretKey {
    type Err = String;

    /// Takes a key that somebody chose.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shaped = (KEY_MIN..=KEY_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        shaped.then(|| Self(text.to_owned())).ok_or_else(|| {
            format!(
                "a key has {KEY_MIN} to {KEY_MAX} letters, digits and signs; make one with: openssl rand -base64 32"
            )
        })
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// A chosen key must not be guessable, since it is kept as a fast hash.
const KEY_MIN: usize = 16;
const KEY_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_has_its_shape_and_is_another_each_time() {
        let (a, b) = (SecretKey::generate(), SecretKey::generate());
        assert_ne!(a, b);
        let rest = a.expose().strip_prefix("tg_").unwrap();
        assert_eq!(rest.len(), 43);
        assert!(rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        assert_eq!(format!("{a:?}"), "SecretKey(…)");
    }

    #[test]
    fn a_chosen_key_is_neither_short_nor_unspeakable() {
        assert!("0123456789abcdef".parse::<SecretKey>().is_ok());
        for wrong in ["", "short", "0123456789 abcdef", "0123456789abcdéf"] {
            assert!(wrong.parse::<SecretKey>().is_err(), "{wrong:?} was taken");
        }
    }
}
