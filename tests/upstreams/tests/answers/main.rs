//! Each form of a script really answers so, over real sockets.
#![expect(clippy::unwrap_used, reason = "tests")]

mod caller;
mod control;
mod faults;
mod forms;
mod judged;
mod limits;
mod streams;
