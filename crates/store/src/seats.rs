//! The state of seats and lines.

use std::time::Duration;

use async_trait::async_trait;
use tidegate_seats::{
    Answer, Arrival, Ask, Beat, BeatAnswer, KickAnswer, KickTarget, NonceHash, Renewal, RenewalAnswer, RetryAfter,
    SeatId, SeatListing, StreamId, StreamStats, TenantId,
};

/// The store cannot keep what it would answer (disk full, file gone, Redis away): `503 store_unavailable` (D2).
///
/// A call that comes while the store is away changes nothing. One that was under way when it went away may still
/// take effect when the store is back, like any call whose answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store cannot be written now; try again in {} s", retry.as_secs())]
pub struct StoreAway {
    /// When to try again.
    pub retry: Duration,
}

/// Says whether a call that names this live entry may go on, or when it may come again (S16). Asked while the entry is
/// held, so it must be quick.
pub type Toll<'a> = &'a (dyn Fn(SeatId) -> Result<(), RetryAfter> + Send + Sync);

/// What came of a call that takes effect only on a live entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<T> {
    /// It names one, and this is its answer.
    Answered(T),
    /// It names one, which called too often; nothing was changed.
    TooOften(RetryAfter),
    /// It names none; nothing was changed.
    Nobody,
}

impl<T> Named<T> {
    /// Goes on with whoever may go on.
    pub fn map<U>(self, go_on: impl FnOnce(T) -> U) -> Named<U> {
        match self {
            Self::Answered(answer) => Named::Answered(go_on(answer)),
            Self::TooOften(retry) => Named::TooOften(retry),
            Self::Nobody => Named::Nobody,
        }
    }
}

/// Seats and lines of every stream. The store owns the clock, so a fleet of controls decides by one time.
#[async_trait]
pub trait Seats: Send + Sync {
    /// Whether the store can be written now (`/readyz`, D2).
    async fn writable(&self) -> Result<(), StoreAway>;

    /// The tenant of a live or ended stream; `None` for an id that names nothing.
    async fn tenant_of(&self, stream: &StreamId) -> Option<TenantId>;

    /// The seat id of the live entry that a call names by seat or nonce (S16); never creates anything.
    async fn find(&self, stream: &StreamId, seat: Option<SeatId>, nonce: Option<NonceHash>) -> Option<SeatId>;

    /// Asks for a seat; what is answered is durable.
    async fn ask(&self, stream: &StreamId, ask: Ask<'_>) -> Result<Answer, StoreAway>;

    /// Asks for a live entry, found and tolled in the same breath: most asks are a place's next one, and must not look
    /// it up twice. Also names whom, while the store is away.
    async fn ask_named(&self, stream: &StreamId, ask: Ask<'_>, toll: Toll<'_>) -> Result<Named<Answer>, StoreAway>;

    /// Keeps a seat. Answers from memory, also while the store is away (D2).
    async fn beat(&self, stream: &StreamId, beat: Beat) -> BeatAnswer;

    /// Keeps the seat of a live entry, found and tolled in the same breath.
    async fn beat_named(&self, stream: &StreamId, beat: Beat, toll: Toll<'_>) -> Named<BeatAnswer>;

    /// Whether a seat may have a new token. Answers from memory, also while the store is away (S20).
    async fn renew(&self, stream: &StreamId, renewal: Renewal) -> RenewalAnswer;

    /// Frees a seat or place; harmless when there is none.
    async fn leave(&self, stream: &StreamId, seat: SeatId) -> Result<(), StoreAway>;

    /// Kicks a seat or a viewer name.
    async fn kick(&self, stream: &StreamId, target: KickTarget<'_>) -> Result<KickAnswer, StoreAway>;

    /// Whether a seat is known to have been given up (T6); not one that the store never heard of (T5). Answers from
    /// memory, also while the store is away.
    async fn is_freed(&self, stream: &StreamId, seat: SeatId) -> bool;

    /// Counts, with nothing expired in them; `None` for no such stream.
    async fn stats(&self, stream: &StreamId) -> Option<StreamStats>;

    /// Seats in order of arrival, after the cursor.
    async fn seats(&self, stream: &StreamId, after: Option<Arrival>, at_most: usize) -> Vec<SeatListing>;
}
