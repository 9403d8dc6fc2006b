//! Values that can only be held when they are good, so that an error names the line they stand on.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// A default; outside the bounds it does not compile.
    pub(super) const fn new(value: u64) -> Self {
        assert!(MIN <= value && value <= MAX, "a default within its own bounds");
        Self(value)
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    /// As seconds.
    pub(crate) const fn seconds(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Debug for Whole<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Display for Whole<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounds<const MIN: u64, const MAX: u64>;

        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Bounds<MIN, MAX> {
            type Value = Whole<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                let within = u64::try_from(value).ok().filter(|value| (MIN..=MAX).contains(value));
                within.map(Whole).ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
            }
        }

        deserializer.deserialize_i64(Bounds)
    }
}

/// Where to listen, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    On(SocketAddr),
    Off,
}

impl Listen {
    /// At this port, for callers of this machine alone.
    pub(super) fn at_home(port: u16) -> Self {
        Self::On(SocketAddr::from(([127, 0, 0, 1], port)))
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let wrong = |_| "write an address and a port such as 127.0.0.1:8080, or off".to_owned();
        text.parse().map(Self::On).map_err(wrong)
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::On(address) => address.fmt(f),
            Self::Off => f.write_str("off"),
        }
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Listen;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address and a port such as \"127.0.0.1:8080\", or \"off\"")
            }

            // Refused in here and not after, the fault keeps its place in the file.
            fn visit_str<E: Error>(self, text: &str) -> Result<Listen, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// How logs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object per line
    Json,
}
