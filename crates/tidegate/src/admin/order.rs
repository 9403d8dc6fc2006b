//! Orders and what came of them, as they travel over the socket.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tidegate_store::{Tenant, TenantSettings};
use tidegate_wire::tenant::{sessions_needed, sessions_warning};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Order {
    AddTenant { id: String, change: TenantChange },
    SetTenant { id: String, change: TenantChange },
    ListTenants,
    NewKey { id: String, only: bool },
    RotateTokenKeys,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub(crate) enum Done {
    Added { tenant: TenantRow, key: String },
    Set { tenant: TenantRow },
    Listed { tenants: Vec<TenantRow> },
    Key { id: String, key: String },
    Rotated { signer: String, overlap_s: u64 },
}

/// A tenant's settings, as far as they are to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
pub(crate) struct TenantChange {
    /// A label for people; the id unless given
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,

    /// Seats over all the tenant's streams
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) viewer_cap: Option<u32>,

    /// Publishers at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) publishers: Option<u32>,

    /// Sessions at relays; `auto` follows as 2 x viewer_cap + publishers
    #[arg(long, value_name = "N|auto")]
    pub(crate) max_sessions: Option<Sessions>,
}

impl TenantChange {
    /// Puts what is given over what there is.
    pub(crate) fn over(self, settings: TenantSettings) -> TenantSettings {
        TenantSettings {
            name: self.name.unwrap_or(settings.name),
            viewer_cap: self.viewer_cap.unwrap_or(settings.viewer_cap),
            publishers: self.publishers.unwrap_or(settings.publishers),
            max_sessions: match self.max_sessions {
                None => settings.max_sessions,
                Some(Sessions::Auto) => None,
                Some(Sessions::AtMost(sessions)) => Some(sessions),
            },
        }
    }
}

/// A tenant's sessions: following the other limits, or set (S23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sessions {
    Auto,
    AtMost(u32),
}

impl FromStr for Sessions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::AtMost).map_err(|_| "write a number, or auto".to_owned()),
        }
    }
}

/// A tenant as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TenantRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) viewer_cap: u32,
    /// Seats, offers and holds over its streams.
    pub(crate) seats_used: u32,
    pub(crate) publishers: u32,
    pub(crate) max_sessions: u32,
    pub(crate) keys: usize,
    /// What does not fit together in its limits (S23).
    pub(crate) warning: Option<String>,
}

impl From<Tenant> for TenantRow {
    fn from(tenant: Tenant) -> Self {
        let TenantSettings { name, viewer_cap, max_sessions, publishers } = tenant.settings;
        let max_sessions = max_sessions.unwrap_or_else(|| sessions_needed(viewer_cap, publishers));
        Self {
            id: tenant.id.to_string(),
            name,
            viewer_cap,
            seats_used: tenant.seats_used,
            publishers,
            max_sessions,
            keys: tenant.keys,
            warning: sessions_warning(viewer_cap, publishers, max_sessions),
        }
    }
}
