//! One ask, heartbeat, renewal, leave or kick.

use std::time::Duration;

use super::{House, millis_u32, position_behind, seconds_u32};
use crate::deadlines::Tick;
use crate::entries::{Entry, Place, Slot, StreamNo};
use crate::line::Ticket;
use crate::{
    Answer, Ask, Asker, Beat, BeatAnswer, Change, Departure, KickAnswer, KickTarget, Lost, NonceHash, Now, Proof,
    Refusal, Renewal, RenewalAnswer, RetryAfter, SeatId, StreamId, TurnKind, retry,
};

/// Whom a call names.
enum Named {
    Living(Slot),
    Kicked(RetryAfter),
    /// Nobody who is here now; why, if it named a seat.
    Nobody(Option<Lost>),
}

impl House {
    /// Answers one ask for a seat (S2–S8, S11, S13, S15, S17, T5).
    pub fn handle_ask(&mut self, stream: &StreamId, ask: Ask<'_>, now: Now) -> Answer {
        let tick = self.catch_up(now);
        let Some(no) = self.stream_numbers.get(stream).copied() else {
            return Answer::Refused(Refusal::StreamNotFound);
        };
        let named = self.named_by(no, &ask, now, tick);
        let blocked = name_of(&ask).and_then(|viewer| self.departed.viewer_blocked(no, viewer, tick));
        match (named, blocked) {
            (Named::Kicked(left), _) => Answer::Refused(Refusal::Kicked(left)),
            _ if self.stream_at(no).ended() => Answer::Refused(Refusal::StreamEnded),
            (_, Some(until)) => Answer::Refused(Refusal::Kicked(RetryAfter(tick.until(until)))),
            (Named::Living(slot), None) => self.refresh(slot, &ask, now, tick),
            (Named::Nobody(lost), None) => self.newcomer(no, &ask, lost, now, tick),
        }
    }

    /// Keeps a seat (S18); a lost one comes back by its token (T5).
    pub fn handle_beat(&mut self, stream: &StreamId, beat: Beat, now: Now) -> BeatAnswer {
        let tick = self.catch_up(now);
        let Some(no) = self.stream_numbers.get(stream).copied() else { return BeatAnswer::StreamNotFound };
        let slot = match self.seated(no, beat.seat, beat.proof, now, tick) {
            Ok(slot) => slot,
            Err(Departure::Kicked) => return BeatAnswer::Kicked,
            Err(_) if self.stream_at(no).ended() => return BeatAnswer::StreamEnded,
            Err(Departure::Left | Departure::Expired) => return BeatAnswer::Gone,
        };
        let entry = self.entries.get(slot);
        let hidden = beat.hidden.unwrap_or(entry.hidden);
        let hls = beat.hls.unwrap_or(entry.hls);
        if self.note_how_it_watches(slot, hidden, hls) {
            self.entry_changed(slot);
        }
        self.heard(slot, tick);
        BeatAnswer::Kept { next: if hidden { NEXT_BEAT_HIDDEN } else { NEXT_BEAT } }
    }

    /// Says whether a seat may have a new token (S20), and counts it as given.
    pub fn handle_renewal(&mut self, stream: &StreamId, renewal: Renewal, now: Now) -> RenewalAnswer {
        let tick = self.catch_up(now);
        let Some(no) = self.stream_numbers.get(stream).copied() else { return RenewalAnswer::StreamNotFound };
        match self.seated(no, renewal.seat, renewal.proof, now, tick) {
            Ok(slot) => {
                self.token_given(slot, renewal.token_until);
                self.entry_changed(slot);
                RenewalAnswer::Granted
            }
            Err(Departure::Kicked) => RenewalAnswer::Kicked,
            Err(_) if self.stream_at(no).ended() => RenewalAnswer::StreamEnded,
            Err(Departure::Left | Departure::Expired) => RenewalAnswer::Gone,
        }
    }

    /// Frees a seat or place at once (S19); harmless when there is none.
    pub fn handle_leave(&mut self, stream: &StreamId, seat: SeatId, now: Now) {
        let tick = self.catch_up(now);
        let Some(no) = self.stream_numbers.get(stream).copied() else { return };
        if let Some(slot) = self.living(self.entries.by_seat(no, seat), now, tick) {
            self.remove_entry(slot, Departure::Left, now);
        }
    }

    /// Kicks a seat id or a viewer name; both stay refused for the block's time (S8, S21).
    ///
    /// A kicked entry's viewer name is blocked with it: otherwise its backend's next ask would seat it again.
    pub fn handle_kick(&mut self, stream: &StreamId, target: KickTarget<'_>, now: Now) -> KickAnswer {
        let tick = self.catch_up(now);
        let Some(no) = self.stream_numbers.get(stream).copied() else { return KickAnswer::StreamNotFound };
        let found = match target {
            KickTarget::Seat(seat) => self.entries.by_seat(no, seat),
            KickTarget::Viewer(viewer) => self.entries.by_viewer(no, viewer),
        };
        let found = self.living(found, now, tick);
        let viewer = match target {
            KickTarget::Viewer(viewer) => Some(viewer.to_owned()),
            KickTarget::Seat(_) => found.and_then(|slot| self.entries.viewer(slot)).map(str::to_owned),
        };
        if let Some(viewer) = viewer {
            let block = self.settings.kick_block;
            self.departed.block_viewer(no, &viewer, tick.after(block));
            self.changes.push(Change::ViewerKicked {
                stream: stream.clone(),
                viewer,
                until: now.unix_s + block.as_secs(),
            });
        }
        let seat = found.map(|slot| self.entries.get(slot).seat);
        match (found, target) {
            (Some(slot), _) => self.remove_entry(slot, Departure::Kicked, now),
            // Already gone here, but its token may still be out (T5): the id is dead all the same.
            (None, KickTarget::Seat(seat)) => {
                let departed = self.remember(no, seat, Departure::Kicked, now);
                self.changes.push(Change::Remembered(departed));
            }
            (None, KickTarget::Viewer(_)) => {}
        }
        KickAnswer::Kicked { seat }
    }

    /// The seat id of the living entry that a call names by seat, else by nonce (S16). Changes nothing.
    #[must_use]
    pub fn find(&self, stream: &StreamId, seat: Option<SeatId>, nonce: Option<NonceHash>, now: Now) -> Option<SeatId> {
        let no = *self.stream_numbers.get(stream)?;
        let slot = match (seat, nonce) {
            (Some(seat), _) => self.entries.by_seat(no, seat),
            (None, Some(nonce)) => self.entries.by_nonce(no, nonce),
            (None, None) => None,
        }?;
        let (entry, tick) = (self.entries.get(slot), self.tick(now));
        (self.due_of(entry) > tick || self.is_outage(tick)).then_some(entry.seat)
    }

    /// Whether a seat is known to have been given up: its tokens are dead and its sessions end (T6). One that this house
    /// has never heard of is not, for its memory may be what was lost (T5). Changes nothing.
    #[must_use]
    pub fn is_freed(&self, stream: &StreamId, seat: SeatId, now: Now) -> bool {
        let Some(no) = self.stream_numbers.get(stream).copied() else { return false };
        let tick = self.tick(now);
        match self.entries.by_seat(no, seat) {
            Some(slot) => self.due_of(self.entries.get(slot)) <= tick && !self.is_outage(tick),
            None => self.stream_at(no).ended() || self.departed.why(no, seat, tick).is_some(),
        }
    }

    fn named_by(&mut self, no: StreamNo, ask: &Ask<'_>, now: Now, tick: Tick) -> Named {
        let mut lost = None;
        let found = match (ask.seat, ask.nonce) {
            (Some(Ok(seat)), _) => match self.by_seat(no, seat, ask.proof, now, tick) {
                Ok(slot) => Some(slot),
                Err(Named::Nobody(why)) => {
                    lost = why;
                    None
                }
                Err(named) => return named,
            },
            (Some(Err(())), _) => {
                lost = Some(Lost::Unknown);
                None
            }
            (None, Some(nonce)) => self.living(self.entries.by_nonce(no, nonce), now, tick),
            (None, None) => None,
        };
        let found = match (found, name_of(ask)) {
            (None, Some(viewer)) => self.living(self.entries.by_viewer(no, viewer), now, tick),
            (found, _) => found,
        };
        found.map_or(Named::Nobody(lost), Named::Living)
    }

    fn by_seat(
        &mut self,
        no: StreamNo,
        seat: SeatId,
        proof: Option<Proof>,
        now: Now,
        tick: Tick,
    ) -> Result<Slot, Named> {
        if let Some(slot) = self.living(self.entries.by_seat(no, seat), now, tick) {
            return Ok(slot);
        }
        match self.departed.why(no, seat, tick) {
            Some((Departure::Kicked, until)) => Err(Named::Kicked(RetryAfter(tick.until(until)))),
            Some((Departure::Left, _)) => Err(Named::Nobody(Some(Lost::Left))),
            Some((Departure::Expired, _)) => Err(Named::Nobody(Some(Lost::Expired))),
            None => self.put_back(no, seat, proof, now, tick).ok_or(Named::Nobody(Some(Lost::Unknown))),
        }
    }

    /// The seated entry of a seat id, or how it is gone.
    fn seated(
        &mut self,
        no: StreamNo,
        seat: SeatId,
        proof: Option<Proof>,
        now: Now,
        tick: Tick,
    ) -> Result<Slot, Departure> {
        match self.by_seat(no, seat, proof, now, tick) {
            Ok(slot) if self.entries.get(slot).place == Place::Seated => Ok(slot),
            Ok(_) => Err(Departure::Expired),
            Err(Named::Kicked(_)) => Err(Departure::Kicked),
            Err(Named::Nobody(_) | Named::Living(_)) => Err(Departure::Expired),
        }
    }

    /// An entry whose time is over is gone, even when no sweep came by yet.
    fn living(&mut self, found: Option<Slot>, now: Now, tick: Tick) -> Option<Slot> {
        let slot = found?;
        if self.due_of(self.entries.get(slot)) > tick {
            return Some(slot);
        }
        self.remove_entry(slot, Departure::Expired, now);
        None
    }

    /// T5: a token from before the store's memory began restores its seat, over the cap if need be.
    fn put_back(&mut self, no: StreamNo, seat: SeatId, proof: Option<Proof>, now: Now, tick: Tick) -> Option<Slot> {
        let proof = proof?;
        let restores = proof.seat == seat && proof.issued_at < self.birth && proof.expires_at > now.unix_s;
        if !restores || self.stream_at(no).ended() || self.entries.knows_seat(seat) {
            return None;
        }
        let entry =
            Entry { token_until: seconds_u32(proof.expires_at), ..self.blank_entry(no, seat, Place::Seated, now) };
        let slot = self.settle_in(entry, None, tick);
        // Only if need be: what is kept for somebody who was not told of it is taken back first (S6, S10).
        self.withdraw_over_stream_cap(no);
        self.withdraw_over_tenant_cap();
        self.allot(no, TurnKind::Offer);
        Some(slot)
    }

    fn refresh(&mut self, slot: Slot, ask: &Ask<'_>, now: Now, tick: Tick) -> Answer {
        let watches_otherwise = self.note_how_it_watches(slot, ask.hidden, ask.hls);
        let (seat, place) = (self.entries.get(slot).seat, self.entries.get(slot).place);
        let takes_it = match place {
            Place::Seated => false,
            Place::Waiting { turn: Some(TurnKind::Hold), .. } => !self.spend_capped || ask.join,
            Place::Waiting { turn: Some(TurnKind::Offer), .. } | Place::Offered | Place::OfferedFrozen { .. } => {
                ask.join
            }
            Place::Waiting { turn: None, .. } => false,
        };
        let answer = match place {
            Place::Seated => {
                self.token_given(slot, ask.token_until);
                self.heard(slot, tick);
                self.entry_changed(slot);
                return Answer::In { seat, lost: None };
            }
            _ if takes_it && self.spend_capped => {
                self.heard_in_line(slot, tick);
                Answer::Refused(Refusal::SpendCapReached { seat: Some(seat) })
            }
            _ if takes_it => {
                self.take_seat(slot, ask.token_until, now, tick);
                return Answer::In { seat, lost: None };
            }
            Place::Waiting { turn: Some(TurnKind::Offer), .. } if !self.spend_capped => {
                self.tell_offer(slot, now, tick);
                return Answer::Offer { seat, left: self.settings.offer, retry: retry::OF_AN_OFFER };
            }
            Place::Offered => {
                let left = tick.until(self.due_of(self.entries.get(slot)));
                Answer::Offer { seat, left, retry: retry::OF_AN_OFFER }
            }
            Place::OfferedFrozen { left_ms } => {
                Answer::Offer { seat, left: Duration::from_millis(u64::from(left_ms)), retry: retry::OF_AN_OFFER }
            }
            Place::Waiting { .. } => self.wait_on(slot, None, tick),
        };
        if watches_otherwise {
            self.entry_changed(slot);
        }
        answer
    }

    fn newcomer(&mut self, no: StreamNo, ask: &Ask<'_>, lost: Option<Lost>, now: Now, tick: Tick) -> Answer {
        let stream = self.stream_at(no);
        if ask.asker == Asker::Page && !stream.record.settings.public {
            return Answer::Refused(Refusal::ServerAdmission);
        }
        if self.spend_capped {
            return Answer::Refused(Refusal::SpendCapReached { seat: None });
        }
        if stream.room() > 0 && stream.turnless() == 0 {
            if self.used >= self.limits.viewer_cap {
                return Answer::Refused(Refusal::TenantViewerCap(retry::OF_A_FULL_TENANT));
            }
            let entry = self.new_entry(no, ask, Place::Seated, now);
            self.settle_in(Entry { token_until: seconds_u32(ask.token_until), ..entry }, name_of(ask), tick);
            return Answer::In { seat: ask.fresh, lost };
        }
        if stream.line.len() >= stream.record.settings.queue_max {
            return Answer::Full { retry: retry::OF_A_FULL_LINE, lost };
        }
        let entry = self.new_entry(no, ask, Place::Waiting { turn: None, retry_ms: 0 }, now);
        let slot = self.add_entry(entry, name_of(ask), tick);
        self.entry_changed(slot);
        self.allot(no, TurnKind::Offer);
        self.wait_on(slot, lost, tick)
    }

    fn new_entry(&mut self, no: StreamNo, ask: &Ask<'_>, place: Place, now: Now) -> Entry {
        debug_assert!(!self.entries.knows_seat(ask.fresh), "a fresh seat id is drawn at random for each ask");
        // "Ignored beside `seat`" also means that it does not name the new entry.
        let nonce = ask.nonce.filter(|_| ask.seat.is_none());
        Entry { nonce, hidden: ask.hidden, hls: ask.hls, ..self.blank_entry(no, ask.fresh, place, now) }
    }

    fn blank_entry(&mut self, no: StreamNo, seat: SeatId, place: Place, now: Now) -> Entry {
        Entry {
            seat,
            nonce: None,
            arrival: self.new_arrival(),
            stream: no,
            place,
            ticket: Ticket::default(),
            due: Tick::NEVER,
            alarm: Tick::NEVER,
            since: seconds_u32(now.unix_s),
            token_until: 0,
            hidden: false,
            hls: false,
        }
    }

    /// Seats a new entry.
    fn settle_in(&mut self, entry: Entry, viewer: Option<&str>, tick: Tick) -> Slot {
        let no = entry.stream;
        let slot = self.add_entry(entry, viewer, tick);
        self.entry_changed(slot);
        self.note_peak(no);
        self.allot(no, TurnKind::Offer);
        slot
    }

    /// Tells a place where it stands, and when to ask again.
    fn wait_on(&mut self, slot: Slot, lost: Option<Lost>, tick: Tick) -> Answer {
        let entry = self.entries.get(slot);
        let ahead = self
            .stream_at(entry.stream)
            .line
            .ahead_of(entry.ticket)
            .expect("a waiting entry stands in its stream's line");
        let (seat, position) = (entry.seat, position_behind(ahead));
        let retry = retry::of_a_place(position, seat);
        if let Place::Waiting { retry_ms, .. } = &mut self.entries.get_mut(slot).place {
            *retry_ms = millis_u32(retry.0);
        }
        self.heard(slot, tick);
        Answer::Wait { seat, position, retry, lost }
    }

    /// An ask that keeps its place without hearing a position.
    fn heard_in_line(&mut self, slot: Slot, tick: Tick) {
        if matches!(self.entries.get(slot).place, Place::Waiting { .. }) {
            self.heard(slot, tick);
        }
    }

    fn note_how_it_watches(&mut self, slot: Slot, hidden: bool, hls: bool) -> bool {
        let entry = self.entries.get_mut(slot);
        let changed = entry.hidden != hidden || entry.hls != hls;
        let (no, seated, before) = (entry.stream, entry.place == Place::Seated, entry.hls);
        entry.hidden = hidden;
        entry.hls = hls;
        if seated && before != hls {
            let stream = self.stream_mut(no);
            stream.hls = stream.hls + u32::from(hls) - u32::from(before);
        }
        changed
    }

    fn token_given(&mut self, slot: Slot, until: u64) {
        let entry = self.entries.get_mut(slot);
        let (no, before, after) = (entry.stream, entry.token_until, seconds_u32(until));
        entry.token_until = after;
        let tokens = &mut self.stream_mut(no).tokens;
        tokens.remove(before);
        tokens.add(after);
    }
}

/// The viewer's name, which only a backend may give: a page could give anybody's.
fn name_of<'a>(ask: &Ask<'a>) -> Option<&'a str> {
    ask.viewer.filter(|_| ask.asker == Asker::Backend)
}

/// When a visible tab's next heartbeat is due. Rule S18.
const NEXT_BEAT: Duration = Duration::from_secs(5);
/// When a hidden tab's next heartbeat is due. Rule S18.
const NEXT_BEAT_HIDDEN: Duration = Duration::from_secs(20);
