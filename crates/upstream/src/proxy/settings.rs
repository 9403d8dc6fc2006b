//! The proxy's own settings: the section `[gate]`.

use serde::Deserialize;

/// Limits of the proxy's clients. The binary adds where to listen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// Connections open at once; more are closed when they come. Default: 10,000.
    pub connections_max: usize,
    /// Connections of one address, other than this machine's. Default: 1,000.
    pub connections_per_address: usize,
    /// Time for a request's head from its first byte, in milliseconds. Default: 10 s.
    pub header_timeout_ms: u64,
    /// A client that takes nothing of its answer for this time is dropped, in milliseconds. Default: 30 s.
    pub write_timeout_ms: u64,
    /// Time between two requests of one connection, in milliseconds. Default: 75 s.
    pub idle_timeout_ms: u64,
    /// Requests at once on one HTTP/2 connection. Default: 250.
    pub streams_max: u32,
    /// At a stop connections are still taken for this time, in milliseconds, so that balancers notice (O9). Default:
    /// 500 ms.
    pub stop_notice_ms: u64,
    /// At a stop requests under way have this time, in milliseconds (O9). Default: 10 s.
    pub stop_grace_ms: u64,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            connections_per_address: 1000,
            header_timeout_ms: 10_000,
            write_timeout_ms: 30_000,
            idle_timeout_ms: 75_000,
            streams_max: 250,
            stop_notice_ms: 500,
            stop_grace_ms: 10_000,
        }
    }
}

/// The largest head of a request, in bytes.
pub(crate) const HEAD_MAX: usize = 16 * 1024;
