//! The proxy over real sockets, in front of the stand-in of a rate-limited service.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod limits;
mod lines;
mod pace;
mod pass;
mod sharing;
mod slots;
mod stage;
mod stopping;
mod throttles;
mod tls;
mod upgrades;
