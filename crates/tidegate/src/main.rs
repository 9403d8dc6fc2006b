//! Tidegate: flow control for live audiences.

mod admin;
mod chat;
mod check;
mod cli;
mod config;
mod demo;
mod failure;
mod gate;
mod limits;
mod listen;
mod load;
mod page;
mod private_file;
mod relay;
mod relay_secret;
mod say;
mod secret;
mod settings;
mod signals;
mod telemetry;
mod tenant;
mod token_keys;
mod up;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|failure| failure.report())
}
