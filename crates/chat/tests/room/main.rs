//! The room's machine and its ring: time is moved by hand.
#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test fails by panicking")]

mod days;
mod endings;
mod made;
mod resuming;
mod ring;
mod throttles;
mod waiting;
