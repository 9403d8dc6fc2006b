//! The HTTP API of seats: the page's own calls, a tenant's calls, and what a socket may cost.
//!
//! Decides nothing about seats: a request becomes an ask, the store answers, the answer becomes a body. What is
//! decided here is who speaks ([`auth`], [`addresses`]), how often ([`ControlSettings`]), and what is signed
//! ([`Tokens`]). One request's way through, in the order of the files:
//!
//! ```text
//! server ── connection ── front ── routes/* ── body, auth, bucket ── store ── answers ── reply
//! ```
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use tidegate_control::{Control, ControlSettings, TokenSettings, Tokens, fresh_seed, recorder};
//! use tidegate_store::{Embedded, EmbeddedSettings};
//! use tidegate_token::KeySet;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let prometheus = recorder().install_recorder()?; // before the control, which registers its series
//! let store = Embedded::open("tidegate-data".as_ref(), EmbeddedSettings::default())?;
//! let tokens = Arc::new(Tokens::new(KeySet::generate(fresh_seed(), 0), TokenSettings::default()));
//! let control = Control::new(ControlSettings::default(), store.clone(), store, tokens, prometheus);
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! control.serve(listener, std::future::pending()).await;
//! # Ok(())
//! # }
//! ```

mod settings;

mod connection;
mod front;
mod request_id;
mod server;
mod takeover;

pub mod addresses;
pub mod auth;
mod body;
mod buckets;
mod cors;

mod control;
mod routes;

mod answers;
mod departures;
mod metrics;
mod openapi;
mod outage;
mod relays;
mod reply;
mod tokens;

pub use control::Control;
pub use metrics::recorder;
pub use settings::{ControlSettings, ForwardedHeader, Networks, TokenSettings};
pub use tokens::{Tokens, fresh_seed};
