//! The gate around a call: every call to a rate-limited upstream waits here for its turn.
//!
//! The decisions are [`tidegate_gate`]'s; this crate owns the waiting. Three ways in, over one engine for each
//! upstream: [`Gate::call`] around any future, [`GateLayer`] around any HTTP client, and (feature `proxy`) a reverse
//! proxy that any language reaches by changing its base URL.

mod body;
mod client;
mod clock;
mod desk;
mod error;
mod exchange;
mod flight;
mod inside;
mod kept;
mod layer;
mod lease;
mod look;
mod options;
#[cfg(feature = "proxy")]
mod outgoing;
#[cfg(feature = "proxy")]
mod outlet;
#[cfg(feature = "proxy")]
mod proxy;
mod replay;
mod reveal;
#[cfg(feature = "proxy")]
mod sending;
mod series;
#[cfg(feature = "proxy")]
mod socket;
mod timer;
mod way;

pub use body::GateBody;
pub use client::{Done, Gate};
pub use error::{CallError, Failure, GateError, Stalled, UnknownUpstream};
pub use exchange::Report;
pub use layer::{GateLayer, GateService};
pub use options::CallOptions;
pub use replay::{Once, Replay};
pub use reveal::{Reveal, Seen};
pub use way::SetupError;
#[cfg(feature = "proxy")]
pub use {
    outlet::OutletError,
    proxy::{Page, Proxy, ProxyBody, ServerSettings, Stopped, serve},
    sending::SendError,
};

// The engine's words, so that a caller needs one crate.
pub use tidegate_gate::{
    ErrorBudget, Hold, Interval, Jitter, Key, Mode, Operation, Outcome, Preset, Priority, RateLimited, Refusal,
    Resource, Scope, SettingsError, Snapshot, Standing, UpstreamSettings, UpstreamToml,
};
