//! What the reader makes of captured and made-up answers of YouTube.
#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test fails by panicking")]

mod captures;
mod damage;
mod fixtures;
mod made;
mod pages;
mod polls;
mod reports;
mod streams;
