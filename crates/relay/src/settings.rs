//! What an operator may set: the `[relay]` section of the configuration file.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};
use tidegate_edge::{Admission, Busy, EdgeSettings};

/// The `[relay]` section. What begins with `admission` may be changed while the relay runs (E13).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelaySettings {
    /// The control whose tokens are taken: `http://` or `https://` and a host. Default `http://127.0.0.1:8080`.
    pub control: String,
    /// The relay's name in reports, its own in the fleet: 1 to 64 letters, digits, `-`, `_` and `.`. Default: the host
    /// and port of `public_url`. Rule E12.
    pub name: Option<String>,
    /// Where it stands, such as `eu-west`. Default empty. Rule E14.
    pub region: String,
    /// Where viewers open sessions, such as `https://eu-1.example.org:4443`. Default: where it listens. Rule E14.
    pub public_url: Option<String>,
    /// Where players find its LL-HLS, such as `https://eu-1.example.org/hls`. Default: `http://`, where it listens, and
    /// `/hls`. Rules E14 and E17.
    pub hls_url: Option<String>,
    /// Whether newcomers are refused for load. Default `on`. Rule E13.
    pub admission: Admission,
    /// The busy share from which the relay is saturated, 0.2 to 0.95. Default 0.85. Rule E6.
    pub admission_busy: Level,
    /// Milliseconds after which a refused viewer should try again. Default 2,000. Rule E8.
    pub admission_retry_ms: u64,
    /// The part of the spare room that a second gives away, 0.01 to 1. Default 0.25. Rule E7.
    pub admission_share: Share,
    /// Newcomers in a second while too few sessions are open to measure what one costs. Default 50. Rule E7.
    pub admission_burst: u32,
    /// A file with the certificate chain, in PEM. Without one the relay makes a certificate for development, which
    /// browsers take by its hash alone.
    pub certificate: Option<PathBuf>,
    /// The file with the certificate's private key, in PEM.
    pub private_key: Option<PathBuf>,
    /// Open connections at most; more are refused. Default 20,000.
    pub connections_max: usize,
    /// Open connections of one address (IPv6: /64) at most; more are refused. Default 1,000: many viewers sit behind
    /// one address, and each holds a seat.
    pub connections_per_address: usize,
    /// Megabytes of media kept for those who fall behind. Default 256.
    pub cache_mb: u64,
}

/// A busy level that a relay can work with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level(pub Busy);

/// A part of a whole that is not nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl Default for RelaySettings {
    fn default() -> Self {
        let edge = EdgeSettings::default();
        Self {
            control: "http://127.0.0.1:8080".to_owned(),
            name: None,
            region: String::new(),
            public_url: None,
            hls_url: None,
            admission: edge.admission,
            admission_busy: Level(edge.level),
            admission_retry_ms: 2_000,
            admission_share: Share(edge.share),
            admission_burst: edge.burst,
            certificate: None,
            private_key: None,
            connections_max: 20_000,
            connections_per_address: 1_000,
            cache_mb: 256,
        }
    }
}

impl RelaySettings {
    pub(crate) fn edge(&self) -> EdgeSettings {
        EdgeSettings {
            admission: self.admission,
            level: self.admission_busy.0,
            retry: Duration::from_millis(self.admission_retry_ms),
            share: self.admission_share.0,
            burst: self.admission_burst,
        }
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        within(deserializer, 0.2, 0.95).map(|share| Self(Busy::from_share(share)))
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        within(deserializer, 0.01, 1.0).map(Self)
    }
}

impl std::str::FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let share = text.parse().ok().filter(|share| (0.2..=0.95).contains(share));
        share.map(|share| Self(Busy::from_share(share))).ok_or_else(|| "write a share from 0.2 to 0.95".to_owned())
    }
}

fn within<'de, D: Deserializer<'de>>(deserializer: D, least: f64, most: f64) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if (least..=most).contains(&share) {
        return Ok(share);
    }
    Err(de::Error::custom(format_args!("{share} is not a share from {least} to {most}")))
}
