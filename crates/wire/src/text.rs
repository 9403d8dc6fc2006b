//! Texts and numbers of bodies, and their bounds.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use crate::{Code, Problem};

/// Longest name of a stream or viewer, in characters.
pub const NAME_MAX_CHARS: usize = 200;

/// Longer tokens are refused wherever they are presented. Limits against bad input, 60-operations.
pub const TOKEN_MAX_BYTES: usize = 4096;

/// Largest cap or line that a body may ask for; what a tenant and a deployment allow is less (S12, S14).
pub const COUNT_MAX: u32 = 1_000_000;

/// A number of places: a whole number from 0 to [`COUNT_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

/// A number of seats: a whole number from 1 to [`COUNT_MAX`].
///
/// Never 0: streams would then cost no places, and S14 would not bound how many a deployment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap(pub u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(WholeNumber { from: 0 }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(WholeNumber { from: 1 }).map(Self)
    }
}

struct WholeNumber {
    from: u32,
}

impl Visitor<'_> for WholeNumber {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {COUNT_MAX}", self.from)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u32, E> {
        match u32::try_from(value) {
            Ok(number) if (self.from..=COUNT_MAX).contains(&number) => Ok(number),
            Ok(_) | Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(value), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u32, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(value), &self)),
        }
    }
}

/// A name for people: 1 to [`NAME_MAX_CHARS`] characters, none of them a control character.
pub(crate) fn check_name(field: &str, name: &str) -> Result<(), Problem> {
    let fits = (1..=NAME_MAX_CHARS).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits {
        return Ok(());
    }
    let what = format!("1 to {NAME_MAX_CHARS} characters without control characters");
    Err(Problem::of_field(Code::BadRequest, field, what))
}

/// A region: 1 to 40 letters, digits, `-`, `_` and `.`.
pub(crate) fn check_region(region: Option<&str>) -> Result<(), Problem> {
    let shaped = |text: &str| {
        (1..=40).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    if region.is_none_or(shaped) {
        return Ok(());
    }
    Err(Problem::of_field(Code::BadRequest, "region", "1 to 40 letters, digits, `-`, `_` and `.`"))
}

/// A presented token: its size only, so that nothing large is ever parsed.
pub(crate) fn check_token(token: Option<&str>) -> Result<(), Problem> {
    if token.is_none_or(|token| token.len() <= TOKEN_MAX_BYTES) {
        return Ok(());
    }
    Err(Problem::of_field(Code::BadRequest, "token", format!("at most {TOKEN_MAX_BYTES} bytes")))
}
