//! A media relay that stays out of overload: MoQ over WebTransport and raw QUIC, with a token check, session limits
//! and edge admission in front.
//!
//! Decides nothing by itself: `tidegate-token` says whether a token is one, `tidegate-edge` whom to let in, and the
//! `moq` crates carry the media. One connection's way through, in the order of the files:
//!
//! ```text
//! relay ── knocking ── desk (may a handshake begin?) ── crowd ── arrival ── visit ── keys ── desk ── the media library
//! ```
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use tidegate_relay::{Control, Keys, Relay, RelaySettings};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let control = Control::at("http://127.0.0.1:8080")?;
//! let keys = Arc::new(Keys::new(control.keys().await?));
//! let relay = Relay::open("127.0.0.1:4443".parse()?, &RelaySettings::default(), Arc::clone(&keys))?;
//! tokio::select! {
//!     () = relay.serve(std::future::pending()) => {}
//!     never = control.follow(&keys) => match never {},
//! }
//! # Ok(())
//! # }
//! ```

mod settings;

mod certificate;
mod relay;

mod arrival;
mod crowd;
mod desk;
mod visit;

mod hls;

mod follow;
mod keys;
mod knocking;
mod links;
mod metrics;
mod report;
mod sampler;
mod trust;

pub use certificate::CertificateError;
pub use crowd::{Counted, Crowd};
pub use desk::Standing;
pub use follow::{Control, FetchError};
pub use hls::Hls;
pub use keys::Keys;
pub use relay::{OpenError, Relay};
pub use report::Site;
pub use settings::{Level, RelaySettings, Share};
pub use tidegate_edge::{Admission, Busy, Removal, State};
