//! What an operator may move while the relay runs (E13), and the times that the rules fix.

use std::time::Duration;

use serde::Deserialize;

use crate::Busy;

/// Whether newcomers are refused for load. Rule E13.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Admission {
    /// Newcomers are refused while there is no room.
    #[default]
    On,
    /// Nobody is refused; who would have been is said with the answer.
    Observe,
    /// Load is measured and decides nothing.
    Off,
}

/// Settings of edge admission.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeSettings {
    /// Whether newcomers are refused. Default on.
    pub admission: Admission,
    /// Saturated from this busy share on; open again 0.15 below it. Default 0.85. Rule E6.
    pub level: Busy,
    /// When a refused viewer should try again. Default 2 s. Rule E8.
    pub retry: Duration,
    /// The part of the spare room that is given away in a second, 0 to 1. Default 0.25. Rule E7.
    pub share: f64,
    /// Newcomers in a second while too few sessions are open to measure what one costs. Default 50. Rule E7.
    pub burst: u32,
}

impl Default for EdgeSettings {
    fn default() -> Self {
        Self {
            admission: Admission::On,
            level: Busy::from_share(0.85),
            retry: Duration::from_secs(2),
            share: 0.25,
            burst: 50,
        }
    }
}

/// A session outlives its token, and a newer session of its seat, by this much. Rules T3 and E4.
pub const OVERLAP: Duration = Duration::from_secs(30);

/// A seat whose session ended less than this ago comes back to its place. Rule E11.
pub const RETURN: Duration = Duration::from_secs(30);

/// A session that was heard from within this time holds its token. Rule E2; it needs a sign of life each second.
pub(crate) const HEARD: Duration = Duration::from_secs(3);
