//! The program as a shell sees it: what it prints, what it leaves behind, how it ends.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chat;
mod check;
mod demo;
mod first_start;
mod gate;
mod hls;
mod http;
mod load;
mod program;
mod relay;
mod reload;
mod stop;
mod tenants;
mod traces;
