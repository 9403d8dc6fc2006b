//! Each rule of seats and the waiting line, as a short scene with exact answers.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../shared/ids.rs"]
mod ids;
#[path = "../shared/rows.rs"]
mod rows;
mod stage;
mod words;

mod caps;
mod faults;
mod identity;
mod kicks;
mod line;
mod offers;
mod restore;
mod silence;
mod spend;
mod stats;
mod streams;
mod tenant;
