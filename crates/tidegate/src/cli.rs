//! The commands and their flags.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Outcome;
use crate::load;

/// Flow control for live audiences: seats, waiting lines, and who gets in next.
#[derive(Parser)]
#[command(name = "tidegate", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run viewers that behave as pages do against a server, and check what they were promised
    Load(Box<load::Plan>),
}

/// Does what the command line says.
pub(crate) fn run() -> Outcome<ExitCode> {
    match Cli::parse().command {
        Command::Load(plan) => load::run(*plan),
    }
}
