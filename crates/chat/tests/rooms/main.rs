//! Rooms with all that belongs to them: poller, gate, sockets and a stand-in YouTube, on paused time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod names;
mod sharing;
mod stage;
mod throttles;
