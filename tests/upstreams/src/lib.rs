//! A stand-in of a rate-limited service, for tests and demos of the gate.
//!
//! It answers by a [`Script`]: an address throttle, limits and budgets of single operations with the headers of
//! real services, and rules that give the n-th call of a route the n-th answer: a throttle inside a `200`, a body
//! that breaks off, a stream, a WebSocket. The same script on the same calls gives the same answers. It speaks
//! HTTP/1.1 and HTTP/2 in the clear on one port.
//!
//! It also judges who calls it: its [`Log`] holds when each request arrived and how many were running at that
//! instant, so spacing, concurrency and fairness are measured where they count, at the upstream's side.
//!
//! ```
//! use tidegate_upstreams::{Answer, Like, Rule, Script, Upstream};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let script = Script {
//!     rules: vec![Rule::new("POST /rooms/{id}/poll", [Answer::like(Like::ResourceExhausted), Answer::default()])?],
//!     ..Script::default()
//! };
//! let upstream = Upstream::with(script).await?;
//! // … calls to upstream.url("/rooms/1/poll"), through whatever is tested …
//! assert_eq!(upstream.log().max_in_flight(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All times are tokio's, so a test with paused time sees virtual time on both sides.

mod answer;
mod body;
mod budget;
mod clock;
mod control;
mod date;
mod desk;
mod echo;
mod family;
mod journal;
mod latch;
mod likeness;
mod limit;
mod log;
mod menu;
mod respond;
mod route;
mod script;
mod serve;
mod stamped;
mod throttle;
mod upstream;
mod websocket;

pub use answer::{Answer, Body, Fault, Pieces, Sse};
pub use budget::Budget;
pub use date::{RetryAfter, RetryForm};
pub use family::Family;
pub use likeness::Like;
pub use limit::Limit;
pub use log::{Aftermath, Entry, Log, Why};
pub use route::{Route, RouteError};
pub use script::{KeyFrom, Operation, Rule, Script, Then};
pub use throttle::Throttle;
pub use upstream::Upstream;
