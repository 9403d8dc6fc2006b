//! Streams and limits: opened, changed, ended, counted.

use super::House;
use crate::entries::{Slot, StreamNo};
use crate::stream::Stream;
use crate::{
    Arrival, Change, Now, SeatListing, SettingsRefusal, StreamId, StreamRecord, StreamSettings, StreamStats,
    TenantLimits, TurnKind,
};

impl House {
    /// Opens a stream (S12). Its id must be new to the whole deployment, which the caller sees to.
    ///
    /// # Errors
    /// When its cap is over the tenant's.
    pub fn open_stream(&mut self, record: StreamRecord, now: Now) -> Result<(), SettingsRefusal> {
        self.catch_up(now);
        self.check_cap(&record.settings)?;
        self.changes.push(Change::Stream(record.clone()));
        self.add_stream(record);
        Ok(())
    }

    /// Changes a stream under the same rules as creation; unseats nobody (S9–S12).
    ///
    /// # Errors
    /// When its cap is over the tenant's, or there is no such stream, or it has ended.
    pub fn change_stream(
        &mut self,
        stream: &StreamId,
        settings: StreamSettings,
        now: Now,
    ) -> Result<(), SettingsRefusal> {
        self.catch_up(now);
        let no = *self.stream_numbers.get(stream).ok_or(SettingsRefusal::StreamNotFound)?;
        if self.stream_at(no).ended() {
            return Err(SettingsRefusal::StreamEnded);
        }
        self.check_cap(&settings)?;
        let record = &mut self.stream_mut(no).record;
        let raised = settings.viewer_cap > record.settings.viewer_cap;
        record.settings = settings;
        let record = record.clone();
        self.changes.push(Change::Stream(record));
        self.withdraw_over_stream_cap(no);
        self.allot(no, if raised { TurnKind::Hold } else { TurnKind::Offer });
        Ok(())
    }

    /// Ends a stream: its seats end and its places are freed (S25). `false` for no such stream; harmless when ended.
    pub fn end_stream(&mut self, stream: &StreamId, now: Now) -> bool {
        self.catch_up(now);
        let Some(no) = self.stream_numbers.get(stream).copied() else { return false };
        if !self.stream_at(no).ended() {
            self.clear_entries(no);
            self.stream_mut(no).record.ended_at = Some(now.unix_s);
            let record = self.stream_at(no).record.clone();
            self.changes.push(Change::EntriesCleared { stream: stream.clone() });
            self.changes.push(Change::Stream(record));
            self.allot(no, TurnKind::Offer);
        }
        true
    }

    /// Deletes a stream and everything of it. `false` for no such stream.
    pub fn delete_stream(&mut self, stream: &StreamId, now: Now) -> bool {
        self.catch_up(now);
        let Some(no) = self.stream_numbers.remove(stream) else { return false };
        self.clear_entries(no);
        self.streams.remove(&no);
        self.changes.push(Change::StreamDeleted(stream.clone()));
        self.allot(no, TurnKind::Offer);
        true
    }

    /// Notes that a publisher's token was given out (S24). `false` for no such stream.
    pub fn note_ingest_token(&mut self, stream: &StreamId, now: Now) -> bool {
        let Some(no) = self.stream_numbers.get(stream).copied() else { return false };
        let record = &mut self.stream_mut(no).record;
        record.ingest_token_at = Some(now.unix_s);
        let record = record.clone();
        self.changes.push(Change::Stream(record));
        true
    }

    /// Moves the tenant's limits; unseats nobody. New room is held for those who wait (S11, S13).
    pub fn set_limits(&mut self, limits: TenantLimits, now: Now) {
        self.catch_up(now);
        let raised = limits.viewer_cap > self.limits.viewer_cap;
        self.limits = limits;
        self.changes.push(Change::Limits(limits));
        self.withdraw_over_tenant_cap();
        self.allot_everywhere(if raised { TurnKind::Hold } else { TurnKind::Offer });
    }

    /// Its limits.
    #[must_use]
    pub const fn limits(&self) -> TenantLimits {
        self.limits
    }

    /// Its streams, in order of opening.
    pub fn streams(&self) -> impl Iterator<Item = &StreamRecord> {
        self.streams.values().map(|stream| &stream.record)
    }

    /// One stream's row.
    #[must_use]
    pub fn stream(&self, stream: &StreamId) -> Option<&StreamRecord> {
        Some(&self.streams.get(self.stream_numbers.get(stream)?)?.record)
    }

    /// Counts of one stream (S22). Call [`House::handle_timeout`] until done first, so that nothing due is counted.
    #[must_use]
    pub fn stats(&self, stream: &StreamId, now: Now) -> Option<StreamStats> {
        Some(self.streams.get(self.stream_numbers.get(stream)?)?.stats(now.unix_s))
    }

    /// Seats in order of coming, after the cursor (S21); none for no such stream.
    #[must_use]
    pub fn seats(&self, stream: &StreamId, after: Option<Arrival>, at_most: usize) -> Vec<SeatListing> {
        let Some(stream) = self.stream_numbers.get(stream).and_then(|no| self.streams.get(no)) else {
            return Vec::new();
        };
        let from = after.map_or(Arrival(0), |after| Arrival(after.0.saturating_add(1)));
        stream.seated.range(from..).take(at_most).map(|(_, slot)| self.listing(*slot)).collect()
    }

    pub(super) fn add_stream(&mut self, record: StreamRecord) {
        let no = StreamNo(self.next_stream);
        self.next_stream += 1;
        self.stream_numbers.insert(record.id.clone(), no);
        self.streams.insert(no, Stream::new(record));
    }

    fn listing(&self, slot: Slot) -> SeatListing {
        let entry = self.entries.get(slot);
        SeatListing {
            arrival: entry.arrival,
            seat: entry.seat,
            viewer: self.entries.viewer(slot).map(str::to_owned),
            since: u64::from(entry.since),
            hidden: entry.hidden,
            hls: entry.hls,
        }
    }

    fn check_cap(&self, settings: &StreamSettings) -> Result<(), SettingsRefusal> {
        let limit = self.limits.viewer_cap;
        if settings.viewer_cap > limit { Err(SettingsRefusal::OverTenantCap { limit }) } else { Ok(()) }
    }

    /// Takes everybody out of a stream at once; the stream itself says why (ended, or not there).
    fn clear_entries(&mut self, no: StreamNo) {
        let stream = self.stream_mut(no);
        let fresh = Stream::new(stream.record.clone());
        let cleared = std::mem::replace(stream, fresh);
        self.used -= cleared.used();
        for slot in cleared.line.iter().chain(cleared.offered.into_values()).chain(cleared.seated.into_values()) {
            self.entries.remove(slot);
        }
    }
}
