//! Tidegate: flow control for live audiences.

mod cli;
mod failure;
mod limits;
mod load;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|failure| failure.report())
}
