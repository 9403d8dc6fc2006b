//! The two clocks of one moment, always passed in together.

use std::time::Instant;

/// One moment, on both clocks.
///
/// Deadlines use `at`, which never goes back; what a person or a token reads uses `unix_s`, which may be set
/// back or forward at any time without moving a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time.
    pub at: Instant,
    /// Wall clock, seconds since 1970.
    pub unix_s: u64,
}
