//! The one clock of this crate: tokio's, so that a test with paused time sees virtual time everywhere.

use std::time::Instant;

pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
