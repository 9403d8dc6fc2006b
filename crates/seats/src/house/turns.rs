//! Who gets a freed seat: offers, holds, and their taking (S5–S7, S10, S11, S13).

use super::{House, seconds_u32};
use crate::deadlines::Tick;
use crate::entries::{Place, Slot, StreamNo};
use crate::{Arrival, Change, Now, TurnKind};

impl House {
    /// Keeps free seats for those who wait longest, as far as the stream's and the tenant's caps allow.
    ///
    /// `changed` is the stream that something happened to. Every other hungry stream waits for the tenant's cap, so
    /// while that has room, only this one can be hungry.
    pub(super) fn allot(&mut self, changed: StreamNo, kind: TurnKind) {
        self.note_hunger(changed);
        self.allot_to_the_hungry(kind);
    }

    pub(super) fn allot_everywhere(&mut self, kind: TurnKind) {
        let streams: Vec<StreamNo> = self.streams.keys().copied().collect();
        // All of them first: whoever waits longest may wait in any.
        for no in streams {
            self.note_hunger(no);
        }
        self.allot_to_the_hungry(kind);
    }

    fn allot_to_the_hungry(&mut self, kind: TurnKind) {
        while !self.spend_capped && self.used < self.limits.viewer_cap {
            let Some((_, no)) = self.hungry.iter().map(|no| (self.first_turnless(*no), *no)).min() else { return };
            let stream = self.stream_mut(no);
            let slot = stream.line.nth(stream.untold).expect("a hungry stream has a place without a turn");
            stream.untold += 1;
            self.used += 1;
            self.set_turn(slot, Some(kind));
            self.note_hunger(no);
        }
    }

    /// Takes untold turns back, the latest comers' first, until the stream fits its lowered cap (S10).
    pub(super) fn withdraw_over_stream_cap(&mut self, no: StreamNo) {
        while self.stream_at(no).used() > self.stream_at(no).record.settings.viewer_cap && self.stream_at(no).untold > 0
        {
            self.withdraw_last(no);
        }
    }

    /// The same over all streams for a tenant's lowered cap.
    pub(super) fn withdraw_over_tenant_cap(&mut self) {
        while self.used > self.limits.viewer_cap {
            let last = |no: &StreamNo| {
                let stream = self.stream_at(*no);
                let slot = stream.line.nth(stream.untold.checked_sub(1)?)?;
                Some((self.entries.get(slot).arrival, *no))
            };
            let Some((_, no)) = self.streams.keys().filter_map(last).max() else { return };
            self.withdraw_last(no);
        }
    }

    /// Begins an offer's seconds: from now on it counts in no line (S5, S6).
    pub(super) fn tell_offer(&mut self, slot: Slot, now: Now, tick: Tick) {
        let (no, arrival) = self.leave_line(slot);
        self.stream_mut(no).offered.insert(arrival, slot);
        let entry = self.entries.get_mut(slot);
        entry.place = Place::Offered;
        entry.since = seconds_u32(now.unix_s);
        self.heard(slot, tick);
        self.entry_changed(slot);
    }

    /// Seats an entry that a seat is kept for.
    pub(super) fn take_seat(&mut self, slot: Slot, token_until: u64, now: Now, tick: Tick) {
        let (no, arrival) = self.leave_line(slot);
        let entry = self.entries.get_mut(slot);
        entry.place = Place::Seated;
        entry.since = seconds_u32(now.unix_s);
        entry.token_until = seconds_u32(token_until);
        let (hls, token_until) = (entry.hls, entry.token_until);
        let stream = self.stream_mut(no);
        stream.offered.remove(&arrival);
        stream.seated.insert(arrival, slot);
        stream.hls += u32::from(hls);
        stream.tokens.add(token_until);
        self.heard(slot, tick);
        self.entry_changed(slot);
        self.note_peak(no);
    }

    pub(super) fn note_peak(&mut self, no: StreamNo) {
        let stream = self.stream_mut(no);
        let seats = stream.seats();
        if seats > stream.record.peak {
            stream.record.peak = seats;
            let stream = stream.record.id.clone();
            self.changes.push(Change::Peak { stream, peak: seats });
        }
    }

    pub(super) fn note_hunger(&mut self, no: StreamNo) {
        if self.streams.get(&no).is_some_and(crate::stream::Stream::hungry) {
            self.hungry.insert(no);
        } else {
            self.hungry.remove(&no);
        }
    }

    fn first_turnless(&self, no: StreamNo) -> Option<Arrival> {
        let stream = self.stream_at(no);
        stream.line.nth(stream.untold).map(|slot| self.entries.get(slot).arrival)
    }

    fn withdraw_last(&mut self, no: StreamNo) {
        let stream = self.stream_mut(no);
        stream.untold -= 1;
        let slot = stream.line.nth(stream.untold).expect("an untold turn belongs to a place in the line");
        self.used -= 1;
        self.set_turn(slot, None);
        self.note_hunger(no);
    }

    fn set_turn(&mut self, slot: Slot, new: Option<TurnKind>) {
        if let Place::Waiting { turn, .. } = &mut self.entries.get_mut(slot).place {
            *turn = new;
        }
        self.entry_changed(slot);
    }

    /// Takes a place with a turn out of its line; what is kept for it stays kept.
    fn leave_line(&mut self, slot: Slot) -> (StreamNo, Arrival) {
        let entry = self.entries.get(slot);
        let (no, arrival, ticket) = (entry.stream, entry.arrival, entry.ticket);
        if matches!(entry.place, Place::Waiting { turn: Some(_), .. }) {
            let stream = self.stream_mut(no);
            stream.line.remove(ticket);
            stream.untold -= 1;
        }
        (no, arrival)
    }
}
