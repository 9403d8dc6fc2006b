//! What a token says (T2).

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the holder of a token may do (E1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Watch one stream from one seat.
    Viewer,
    /// Publish one stream.
    Publisher,
    /// Carry broadcasts between relays.
    Peer,
}

impl Role {
    /// The role as the claim writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Publisher => "publisher",
            Self::Peer => "peer",
        }
    }
}

/// The claims of one token. Rule T2.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The seat id; for a publisher a random name of its own.
    pub sub: String,
    /// The stream that the token is for.
    pub stream: String,
    /// The tenant that the stream belongs to; relays count sessions under it.
    pub tenant: String,
    /// What the holder may do.
    pub role: Role,
    /// When it was issued, Unix seconds.
    pub iat: u64,
    /// When it ends, Unix seconds. The default life is 120 s.
    pub exp: u64,
    /// Names the token: one session per `jti` (T3).
    pub jti: String,
    /// The seat had a session on a relay in the last 30 s, so a saturated relay lets it in (E11).
    #[serde(default)]
    pub back: bool,
}

/// Shows no more of `sub` and `jti` than a log may show (O4).
impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("sub", &prefix(&self.sub))
            .field("stream", &self.stream)
            .field("tenant", &self.tenant)
            .field("role", &self.role)
            .field("iat", &self.iat)
            .field("exp", &self.exp)
            .field("jti", &prefix(&self.jti))
            .field("back", &self.back)
            .finish()
    }
}

fn prefix(id: &str) -> String {
    id.chars().take(6).chain(['…']).collect()
}
