//! The README, done as it says: each line typed into a real shell, each example run; every answer is the one it shows.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod gate;
mod readme;
mod seats;
