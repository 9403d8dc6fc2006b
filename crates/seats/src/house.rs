//! A tenant's streams and caps: the machine that answers.

use std::time::Instant;

use crate::*;

/// placeholder
pub struct House;
#[allow(unused_variables, missing_docs, clippy::todo)]
impl House {
    /// Rebuilds a house from a store's rows. Every entry gets a full fresh period from `now` (D1).
    pub fn restore(record: HouseRecord, settings: SeatSettings, now: Now) -> Self {
        todo!()
    }
    pub fn handle_ask(&mut self, stream: &StreamId, ask: Ask<'_>, now: Now) -> Answer {
        todo!()
    }
    pub fn handle_beat(&mut self, stream: &StreamId, beat: Beat, now: Now) -> BeatAnswer {
        todo!()
    }
    pub fn handle_renewal(&mut self, stream: &StreamId, renewal: Renewal, now: Now) -> RenewalAnswer {
        todo!()
    }
    pub fn handle_leave(&mut self, stream: &StreamId, seat: SeatId, now: Now) {
        todo!()
    }
    pub fn handle_kick(&mut self, stream: &StreamId, target: KickTarget<'_>, now: Now) -> KickAnswer {
        todo!()
    }
    /// Whether a call that names this names a live entry: then it draws on that entry's own bucket (S16).
    /// Returns the live entry's seat id.
    pub fn find(&self, stream: &StreamId, seat: Option<SeatId>, nonce: Option<NonceHash>, now: Now) -> Option<SeatId> {
        todo!()
    }
    pub fn open_stream(&mut self, record: StreamRecord, now: Now) -> Result<(), SettingsRefusal> {
        todo!()
    }
    pub fn change_stream(
        &mut self,
        stream: &StreamId,
        settings: StreamSettings,
        now: Now,
    ) -> Result<(), SettingsRefusal> {
        todo!()
    }
    pub fn end_stream(&mut self, stream: &StreamId, now: Now) -> bool {
        todo!()
    }
    pub fn delete_stream(&mut self, stream: &StreamId, now: Now) -> bool {
        todo!()
    }
    pub fn note_ingest_token(&mut self, stream: &StreamId, now: Now) -> bool {
        todo!()
    }
    pub fn set_limits(&mut self, limits: TenantLimits, now: Now) {
        todo!()
    }
    /// S15: while capped, no new seat; offers and holds freeze.
    pub fn set_spend_capped(&mut self, capped: bool, now: Now) {
        todo!()
    }
    pub fn set_settings(&mut self, settings: SeatSettings) {
        todo!()
    }
    pub fn streams(&self) -> impl Iterator<Item = &StreamRecord> {
        [].iter()
    }
    pub fn stream(&self, stream: &StreamId) -> Option<&StreamRecord> {
        todo!()
    }
    /// S22. The caller brings the house up to `now` first by `handle_timeout` until `Swept::Done`.
    pub fn stats(&self, stream: &StreamId, now: Now) -> Option<StreamStats> {
        todo!()
    }
    /// S21: seated seats in order of arrival, after the cursor.
    pub fn seats(&self, stream: &StreamId, after: Option<Arrival>, at_most: usize) -> Vec<SeatListing> {
        todo!()
    }
    /// S23: seats + offers + holds in use over all streams.
    pub fn seats_used(&self) -> u32 {
        todo!()
    }
    /// The tick and the sweep, bounded per call (D2: a gap of 3 s between ticks is an outage and forgiven).
    pub fn handle_timeout(&mut self, now: Now) -> Swept {
        todo!()
    }
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }
    /// What has to become durable since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        todo!()
    }
}
