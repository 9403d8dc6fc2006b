//! Decides who gets a seat of a stream, who waits in line, and who is turned away.
//!
//! Pure: no sockets, no clock, no randomness. Time ([`Now`]) and fresh seat ids are arguments, so every
//! schedule can be replayed in a test. A [`House`] is one tenant's streams, their seats and lines, and the
//! tenant's own caps; it answers at once and hands out what has to outlive the process as [`Change`]s.

mod answer;
mod ask;
mod deadlines;
mod departed;
mod entries;
mod house;
mod ids;
mod index;
mod line;
mod now;
mod record;
mod report;
mod retry;
mod settings;
mod stream;

pub use answer::{Answer, BeatAnswer, KickAnswer, Lost, Refusal, RenewalAnswer, RetryAfter};
pub use ask::{Ask, Asker, Beat, KickTarget, Proof, Renewal};
pub use house::House;
pub use ids::{Arrival, NonceHash, Position, SeatId, StreamId, TenantId};
pub use now::Now;
pub use record::{
    Change, DepartedRecord, Departure, EntryRecord, HouseRecord, StandingRecord, StreamRecord, StreamSettings,
    TenantLimits, TurnKind,
};
pub use report::{SeatListing, StreamStats, Swept};
pub use settings::{SeatSettings, SettingsRefusal};
