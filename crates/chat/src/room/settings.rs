//! A room's figures.

use std::time::Duration;

use tidegate_upstream::UpstreamSettings;

/// A room's figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomSettings {
    /// The shortest time between two polls. Rule C3, 1 s.
    pub min_interval: Duration,
    /// How fast a throttled room's interval widens. Rule G24, 2.
    pub backoff_factor: f64,
    /// The widest interval. Rule G24, 60 s.
    pub max_interval: Duration,
    /// Rate limits in a row that end a room. Rule G25, 8.
    pub max_throttle_errors: u32,
    /// Stream errors in a row that end a room. Rule G25, 3.
    pub max_stream_errors: u32,
    /// Polls without any action for so long, on a stream that is live and busy, make a room start again. Rule C6,
    /// 3 minutes; each time that it did not help, twice as long.
    pub blind_after: Duration,
    /// From how many viewers on a stream is busy: where nobody writes, silence proves nothing. Rule C6, 500.
    pub busy_viewers: u64,
    /// Row ids that are remembered. A backlog repeats some hundred rows. Rule C8, 5,000.
    pub seen_max: usize,
}

impl Default for RoomSettings {
    fn default() -> Self {
        Self {
            min_interval: Duration::from_secs(1),
            backoff_factor: 2.0,
            max_interval: Duration::from_secs(60),
            max_throttle_errors: 8,
            max_stream_errors: 3,
            blind_after: Duration::from_secs(180),
            busy_viewers: 500,
            seen_max: 5_000,
        }
    }
}

impl RoomSettings {
    /// The figures that an upstream's settings hold, and the default of the rest.
    #[must_use]
    pub fn of(upstream: &UpstreamSettings) -> Self {
        Self {
            backoff_factor: upstream.backoff_factor,
            max_interval: upstream.max_interval,
            max_throttle_errors: upstream.max_throttle_errors,
            max_stream_errors: upstream.max_stream_errors,
            ..Self::default()
        }
    }
}
