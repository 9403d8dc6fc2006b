//! The embedded store, from outside: what it answers, what it keeps, and what it does when it cannot.

#![expect(clippy::unwrap_used, reason = "tests")]

mod away;
mod behaviour;
mod catalogue;
mod crash;
mod durable;
mod full_disk;
mod lost_memory;
mod opening;
mod places;
mod support;
