//! The commands and their flags.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Outcome;
use crate::settings::Settings;
use crate::{chat, check, gate, load, relay, tenant, up};

/// Flow control for live audiences: who gets a seat, who waits in line, and who is next.
#[derive(Parser)]
#[command(
    name = "tidegate",
    version,
    after_help = "Start here:\n  tidegate up --demo        # run everything, with a stream to try\n  \
                  tidegate load --server http://127.0.0.1:8080 --stream demo --viewers 50"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    #[command(after_help = "Examples:\n  tidegate up --demo\n  \
                            tidegate up --data /var/lib/tidegate --config /etc/tidegate.toml\n  \
                            TIDEGATE_KEY=$(openssl rand -base64 32) tidegate up --listen 0.0.0.0:8080")]
    Up(up::Up),

    /// Run the gate alone: the one way out to rate-limited services
    #[command(after_help = "Examples:\n  tidegate gate --config /etc/tidegate.toml\n  \
                            tidegate gate --config gate.toml --gate-listen 0.0.0.0:8090")]
    Gate(gate::Alone),

    /// Run a media relay: MoQ over WebTransport and QUIC, for holders of the control's tokens
    #[command(after_help = "Examples:\n  tidegate relay --control http://127.0.0.1:8080\n  \
                            tidegate relay --control https://seats.example.org --relay-listen 0.0.0.0:4443 \\\n    \
                            --config /etc/tidegate.toml --admission observe")]
    Relay(relay::Alone),

    /// Read a settings file and say in words what it means
    #[command(after_help = "Example:\n  tidegate check /etc/tidegate.toml")]
    Check {
        /// The settings file; the defaults unless given
        #[arg(value_name = "FILE", env = "TIDEGATE_CONFIG")]
        file: Option<PathBuf>,
        /// The data directory, whose tenants are checked too [default: as the file says]
        #[arg(long, value_name = "DIR", env = "TIDEGATE_DATA")]
        data: Option<PathBuf>,
    },

    /// Make, change and list tenants and their secret keys, whether or not a server runs
    #[command(subcommand)]
    Tenant(tenant::Command),

    /// Change the keys that sign tokens
    #[command(subcommand)]
    Keys(tenant::KeysCommand),

    /// Print a live chat, from a running server or straight from YouTube
    #[command(after_help = "Examples:\n  tidegate chat @handle --server http://127.0.0.1:8080\n  \
                            tidegate chat https://www.youtube.com/watch?v=VIDEO_ID --json\n  \
                            tidegate chat --decode captured.json")]
    Chat(chat::Chat),

    /// Run viewers that behave as pages do against a server, and check what they were promised
    #[command(after_help = "Examples:\n  \
                            tidegate load --server http://127.0.0.1:8080 --stream demo --viewers 20 --seconds 30\n  \
                            tidegate load --server http://127.0.0.1:8080 --stream launch --churn 20%/10s \\\n    \
                            --crash 2%/10s --key $TIDEGATE_KEY --json\n\n\
                            Exit code 1 if a promise was seen broken: a position that rose, more in than seats, a kept \
                            seat,\nplace or offer lost, somebody passed in line, a 5xx.")]
    Load(Box<load::Plan>),
}

/// Does what the command line says.
pub(crate) fn run() -> Outcome<ExitCode> {
    match Cli::parse().command {
        Command::Up(up) => up::run(up),
        Command::Gate(gate) => gate::run(gate),
        Command::Relay(relay) => relay::run(relay),
        Command::Check { file, data } => check::run(&Settings { config: file, data }),
        Command::Tenant(command) => tenant::run(command),
        Command::Keys(command) => tenant::run_keys(command),
        Command::Chat(chat) => chat::run(&chat),
        Command::Load(plan) => load::run(*plan),
    }
}
