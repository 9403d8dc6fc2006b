//! The names of things. Each has one text shape, checked before any look-up.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;

/// Names one viewer's entry: 128 random bits, written as 22 characters of base64url.
///
/// Whoever holds it owns the seat, so a log shows [`SeatId::prefix`] only (O4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeatId([u8; 16]);

impl SeatId {
    /// Makes an id of 16 random bytes, which the caller must have drawn from a cryptographic source.
    #[must_use]
    pub const fn from_random(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Reads the 22-character form; anything else is `None` and needs no look-up.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 16];
        let fits = BASE64URL_NOPAD.decode_len(text.len()) == Ok(bytes.len());
        (fits && BASE64URL_NOPAD.decode_mut(text.as_bytes(), &mut bytes).is_ok()).then_some(Self(bytes))
    }

    /// The 16 bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The first six characters: enough to follow one viewer in a log, too few to take the seat.
    #[must_use]
    pub fn prefix(&self) -> String {
        let mut text = self.to_string();
        text.truncate(6);
        text
    }
}

impl fmt::Display for SeatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 22];
        f.write_str(BASE64URL_NOPAD.encode_mut_str(&self.0, &mut text))
    }
}

impl fmt::Debug for SeatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeatId({}…)", self.prefix())
    }
}

/// Defines a short name of lower-case letters, digits, `-` and `_`, at most 40 characters.
macro_rules! short_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Reads a name: 1 to 40 of `a-z`, `0-9`, `-`, `_`; anything else is `None`.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let shaped = (1..=40).contains(&text.len())
                    && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
                shaped.then(|| Self(text.into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &self.0)
            }
        }
    };
}

short_name!(
    /// Names a tenant.
    TenantId
);
short_name!(
    /// Names a stream, in every deployment-wide look-up.
    StreamId
);

/// A hash of a page's nonce together with its stream, so that the nonce itself is never kept.
///
/// The caller makes it (16 bytes of SHA-256 over stream id and nonce); a guess finds nobody's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NonceHash(pub [u8; 16]);

/// The order of coming within a house: the one who came earlier has the smaller number (S7).
///
/// Never reused, so it also names an entry's row in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arrival(pub u64);

/// A place's exact rank in its line; the head is 1 (S3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub NonZeroU32);
