//! The gate as a user runs it: the real binary, with the stand-in of a rate-limited service behind it.
//!
//! Judged from the stand-in's own log. What needs an exact clock is proven in `crates/upstream` under virtual time;
//! here nothing may depend on how busy the machine is.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod clients;
mod pace;
mod sharing;
mod stage;
mod stopping;
mod throttle;
