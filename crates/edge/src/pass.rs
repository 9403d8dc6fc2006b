//! Who wants in.

use std::sync::Arc;
use std::time::Duration;

/// What the holder of a token may do. Rule E1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Watches one stream from one seat.
    Viewer,
    /// Publishes one stream.
    Publisher,
    /// Carries broadcasts between relays; counts under no tenant.
    Peer,
}

impl Role {
    /// As reports and metrics name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Publisher => "publisher",
            Self::Peer => "peer",
        }
    }
}

/// What a verified token said, for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Names the token: one session each (T3).
    pub token: Arc<str>,
    /// The seat; for publishers and peers a name of their own.
    pub seat: Arc<str>,
    /// The stream.
    pub stream: Arc<str>,
    /// Whose sessions it counts under (E3).
    pub tenant: Arc<str>,
    /// What it may do.
    pub role: Role,
    /// How long the token is still good; zero for one that an outage excuses (E4).
    pub left: Duration,
    /// The seat had a session at another relay within the last 30 s (E11).
    pub back: bool,
}

/// Names a session of this relay; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub(crate) u64);
