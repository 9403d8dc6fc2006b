//! The gate as a library: `Gate::call` around futures and the layer around a client, under paused time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cancelling;
mod client;
mod cooldowns;
mod nesting;
mod pace;
mod retries;
mod sharing;
mod slots;
mod stage;
