//! Decides whom a media relay lets in, whom it refuses, and whose session it ends.
//!
//! Pure: no sockets, no clock, no randomness. Time ([`std::time::Instant`]) and what was measured are arguments, so
//! every schedule can be replayed in a test. An [`Edge`] is the machine of one relay: it hears one [`Reading`] of the
//! relay's load each second, and answers each session that wants in. It knows nothing of signatures: a [`Pass`] is
//! what a token said after it was verified.
//!
//! ```
//! use std::time::{Duration, Instant as Clock};
//! use tidegate_edge::{Answer, Busy, Edge, EdgeSettings, Pass, Reading, Refusal, Role};
//!
//! let mut now = Clock::now(); // the shell's clock; nothing in here reads one
//! let mut edge = Edge::new(EdgeSettings::default(), 2, now);
//! let viewer = |seat: &str| Pass {
//!     token: format!("token-of-{seat}").into(),
//!     seat: seat.into(),
//!     stream: "launch".into(),
//!     tenant: "acme".into(),
//!     role: Role::Viewer,
//!     left: Duration::from_secs(120),
//!     back: false,
//! };
//! let Answer::In(first) = edge.handle_arrival(viewer("a"), now) else { panic!("the relay is idle") };
//!
//! // Two seconds at nine tenths: saturated (E6). Newcomers are refused, who watches is not (E9, E11).
//! for _ in 0..2 {
//!     now += Duration::from_secs(1);
//!     edge.handle_reading(Reading { busy: Busy::from_share(0.9), lag: Duration::ZERO, window: Duration::from_secs(1) }, now);
//! }
//! let Answer::Refused(Refusal::EdgeFull { retry, .. }) = edge.handle_arrival(viewer("b"), now) else { panic!() };
//! assert_eq!(retry, Duration::from_secs(2));
//! edge.handle_end(first.session, now);
//! assert!(matches!(edge.handle_arrival(viewer("a"), now), Answer::In(_)));
//! ```

mod answer;
mod edge;
mod fleet;
mod handshakes;
mod intake;
mod load;
mod pass;
mod removals;
mod saturation;
mod scopes;
mod sessions;
mod settings;

pub use answer::{Admitted, Answer, End, Ended, Entry, Full, Refusal};
pub use edge::Edge;
pub use fleet::{Fleet, InUse, Listed, Report, Reported, Site, Watching};
pub use load::{Busy, Reading, lag_of};
pub use pass::{Pass, Role, SessionId};
pub use removals::Removal;
pub use saturation::State;
pub use sessions::Session;
pub use settings::{Admission, EdgeSettings, OVERLAP, RETURN};
