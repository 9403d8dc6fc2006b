//! `tidegate tenant` and `tidegate keys`: orders for the office, and what came of them in words.

use std::process::ExitCode;

use crate::admin::{self, Done, Order, TenantChange, TenantRow};
use crate::failure::Outcome;
use crate::say::say;
use crate::settings::Settings;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Make a tenant and print its first secret key
    #[command(after_help = "Example:\n  tidegate tenant add acme --viewer-cap 500")]
    Add {
        /// 1 to 40 of a-z, 0-9, - and _
        id: String,
        #[command(flatten)]
        change: TenantChange,
        #[command(flatten)]
        settings: Settings,
    },
    /// Change a tenant's limits; what is not named stays
    #[command(after_help = "Example:\n  tidegate tenant set main --viewer-cap 2000 --max-sessions auto")]
    Set {
        id: String,
        #[command(flatten)]
        change: TenantChange,
        #[command(flatten)]
        settings: Settings,
    },
    /// List tenants, their limits and what is used
    #[command(after_help = "Example:\n  tidegate tenant list --json | jq '.[].id'")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Make a new secret key for a tenant and print it once
    #[command(after_help = "Example:\n  tidegate tenant key main          # the older ones go on\n  \
                            tidegate tenant key main --only   # the older ones end")]
    Key {
        id: String,
        /// Retire every older key of the tenant
        #[arg(long)]
        only: bool,
        #[command(flatten)]
        settings: Settings,
    },
}

#[derive(clap::Subcommand)]
pub(crate) enum KeysCommand {
    /// Put a new token signing key in front; tokens of the older one are good until they end
    #[command(after_help = "Example:\n  tidegate keys rotate --data /var/lib/tidegate")]
    Rotate {
        #[command(flatten)]
        settings: Settings,
    },
}

/// `tidegate tenant …`
pub(crate) fn run(command: Command) -> Outcome<ExitCode> {
    let (settings, order, json) = match command {
        Command::Add { id, change, settings } => (settings, Order::AddTenant { id, change }, false),
        Command::Set { id, change, settings } => (settings, Order::SetTenant { id, change }, false),
        Command::List { json, settings } => (settings, Order::ListTenants, json),
        Command::Key { id, only, settings } => (settings, Order::NewKey { id, only }, false),
    };
    order_and_tell(&settings, order, json)
}

/// `tidegate keys …`
pub(crate) fn run_keys(command: KeysCommand) -> Outcome<ExitCode> {
    let KeysCommand::Rotate { settings } = command;
    order_and_tell(&settings, Order::RotateTokenKeys, false)
}

fn order_and_tell(settings: &Settings, order: Order, json: bool) -> Outcome<ExitCode> {
    let done = admin::carry_out_now(&settings.config()?, order)?;
    match done {
        Done::Added { tenant, key } => {
            warn(&tenant);
            say(format_args!("tenant {} is made; its secret key, shown this once:\n\n{key}", tenant.id));
        }
        Done::Set { tenant } => {
            warn(&tenant);
            say(table(&[tenant]).trim_end());
        }
        Done::Listed { tenants } if json => {
            say(serde_json::to_string_pretty(&tenants).expect("plain fields"));
        }
        Done::Listed { tenants } => {
            tenants.iter().for_each(warn);
            say(table(&tenants).trim_end());
        }
        Done::Key { id, key } => say(format_args!("a new secret key of tenant {id}, shown this once:\n\n{key}")),
        Done::Rotated { signer, overlap_s } => {
            say(format_args!("key {signer} signs from now on; the one before verifies for {overlap_s} s more"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// S23: an explicit lower limit is taken, with a word about what follows.
fn warn(tenant: &TenantRow) {
    if let Some(warning) = &tenant.warning {
        eprintln!("warning: tenant {}: {warning}", tenant.id);
    }
}

/// Rows under a header, columns as wide as their widest.
fn table(tenants: &[TenantRow]) -> String {
    let header = ["TENANT", "NAME", "SEATS", "VIEWER CAP", "PUBLISHERS", "MAX SESSIONS", "KEYS"].map(str::to_owned);
    let row = |tenant: &TenantRow| {
        [
            tenant.id.clone(),
            tenant.name.clone(),
            tenant.seats_used.to_string(),
            tenant.viewer_cap.to_string(),
            tenant.publishers.to_string(),
            tenant.max_sessions.to_string(),
            tenant.keys.to_string(),
        ]
    };
    let rows: Vec<_> = std::iter::once(header).chain(tenants.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
