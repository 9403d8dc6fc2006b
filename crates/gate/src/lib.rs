//! Decides why a call to a rate-limited upstream starts now, waits, or is refused.
//!
//! Pure: no sockets, no clock, no randomness. Time ([`std::time::Instant`]), the wall clock of a response and
//! jitter are arguments, so every schedule can be replayed in a test. An [`Upstream`] is the machine of one
//! configured service: it queues calls by key and priority, spaces them, keeps cooldowns, reads each response
//! for signals and says whether a call is tried again. A shell drives it: it sleeps, calls and wakes.
//!
//! ```
//! use std::time::{Duration, Instant as Clock};
//! use tidegate_gate::{Call, Enqueued, Key, Next, Operation, Preset, Upstream};
//!
//! let mut youtube = Upstream::new(Preset::Youtube.settings());
//! let now = Clock::now(); // the shell's clock; nothing in here reads one
//! let call = || Call::new(Key::of("room-1"), Operation::new("POST get_live_chat"));
//!
//! // The first call starts at once; the second has to keep 250 ms of distance (G1).
//! let Ok(Enqueued::Started(slot)) = youtube.enqueue(call(), now) else { panic!("the gate was idle") };
//! let Ok(Enqueued::Queued(second)) = youtube.enqueue(call(), now) else { panic!("too early") };
//! assert_eq!(youtube.poll_start(now), Next::Wait(Some(now + Duration::from_millis(250))));
//! assert_eq!(youtube.poll_start(now + Duration::from_millis(250)), Next::Start(second));
//! youtube.handle_end(slot);
//! ```

mod answer;
mod budget;
mod call;
mod cooldown;
mod explain;
mod flight;
mod interval;
mod pace;
mod pacer;
mod preset;
mod retry;
mod route;
mod settings;
pub mod signal;
mod snapshot;
mod turns;
mod upstream;

pub use answer::{Claim, Enqueued, Heard, Joined, Next, Outcome, RateLimited, Refusal, Verdict};
pub use budget::{ErrorBudget, RetryBudget, Standing};
pub use call::{Call, Key, Operation, Priority, Resource, Seq, Slot, Ticket};
pub use cooldown::{Change, Cooldowns, Hold, Reach, Scope, SoftKind, budget_hold, rate_hold};
pub use flight::{Fingerprint, FingerprintParts};
pub use interval::Interval;
pub use preset::Preset;
pub use retry::{Jitter, RetryPolicy};
pub use route::{Route, RouteTemplate, TemplateError};
pub use settings::{Mode, SettingsError, ThrottleScope, UpstreamSettings, UpstreamToml};
pub use snapshot::{Counters, Snapshot};
pub use upstream::Upstream;
