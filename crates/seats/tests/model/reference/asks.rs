//! Asks, heartbeats, renewals, leaves and kicks.

use std::num::NonZeroU32;
use std::time::Duration;

use tidegate_seats::{
    Answer, Arrival, Ask, Asker, Beat, BeatAnswer, Departure, KickAnswer, KickTarget, Lost, Now, Position, Proof,
    Refusal, Renewal, RenewalAnswer, RetryAfter, SeatId, StreamId, TurnKind,
};

use super::{Blocked, Entry, Place, Reference, count};

impl Reference {
    pub(crate) fn ask(&mut self, stream: &StreamId, ask: &Ask<'_>, now: Now) -> Answer {
        self.bring_up_to(now);
        if self.stream(stream).is_none() {
            return Answer::Refused(Refusal::StreamNotFound);
        }
        let (mut found, mut lost) = (None, None);
        match ask.seat {
            Some(Ok(seat)) => {
                if let Some(left) = self.kicked(stream, seat) {
                    return Answer::Refused(Refusal::Kicked(left));
                }
                found = self.known(stream, seat, ask.proof);
                lost = found.is_none().then(|| self.lost(stream, seat));
            }
            Some(Err(())) => lost = Some(Lost::Unknown),
            None => found = ask.nonce.and_then(|nonce| self.index_where(stream, |entry| entry.nonce == Some(nonce))),
        }
        let viewer = ask.viewer.filter(|_| ask.asker == Asker::Backend);
        if self.stream(stream).is_some_and(|record| record.ended_at.is_some()) {
            return Answer::Refused(Refusal::StreamEnded);
        }
        if let Some(viewer) = viewer {
            if let Some(left) = self.blocked(stream, viewer) {
                return Answer::Refused(Refusal::Kicked(left));
            }
            found = found.or_else(|| self.index_where(stream, |entry| entry.viewer.as_deref() == Some(viewer)));
        }
        match found {
            Some(index) => self.refresh(index, ask),
            None => self.newcomer(stream, ask, viewer, lost),
        }
    }

    fn refresh(&mut self, index: usize, ask: &Ask<'_>) -> Answer {
        let spend_capped = self.spend_capped;
        let entry = &mut self.entries[index];
        entry.hidden = ask.hidden;
        entry.hls = ask.hls;
        let seat = entry.seat;
        let refused = Answer::Refused(Refusal::SpendCapReached { seat: Some(seat) });
        match entry.place {
            Place::Seated => {
                entry.token_until = ask.token_until;
                self.heard(index);
                Answer::In { seat, lost: None }
            }
            Place::Waiting(None) => self.wait(index, None),
            Place::Waiting(Some(_)) if spend_capped && ask.join => {
                self.heard(index);
                refused
            }
            Place::Waiting(Some(_)) if spend_capped => self.wait(index, None),
            Place::Frozen(_) if ask.join => refused,
            Place::Frozen(left) => Answer::Offer { seat, left, retry: OFFER_RETRY },
            Place::Waiting(Some(TurnKind::Hold)) => self.seat(index, ask.token_until),
            Place::Waiting(Some(TurnKind::Offer)) | Place::Offered if ask.join => self.seat(index, ask.token_until),
            Place::Waiting(Some(TurnKind::Offer)) => {
                entry.place = Place::Offered;
                entry.since = self.now.unix_s;
                self.heard(index);
                Answer::Offer { seat, left: self.settings.offer, retry: OFFER_RETRY }
            }
            Place::Offered => Answer::Offer { seat, left: entry.due - self.now.at, retry: OFFER_RETRY },
        }
    }

    fn newcomer(&mut self, stream: &StreamId, ask: &Ask<'_>, viewer: Option<&str>, lost: Option<Lost>) -> Answer {
        let settings = &self.stream(stream).expect("looked up before").settings;
        if ask.asker == Asker::Page && !settings.public {
            return Answer::Refused(Refusal::ServerAdmission);
        }
        if self.spend_capped {
            return Answer::Refused(Refusal::SpendCapReached { seat: None });
        }
        let somebody_waits_without_a_turn = self.line(stream).any(|entry| !entry.has_turn());
        if self.used(stream) < settings.viewer_cap && !somebody_waits_without_a_turn {
            if self.used_by_tenant() >= self.tenant_cap {
                return Answer::Refused(Refusal::TenantViewerCap(FULL_RETRY));
            }
            let index = self.enter(stream, ask, viewer);
            self.seat(index, ask.token_until);
            return Answer::In { seat: ask.fresh, lost };
        }
        if count(self.line(stream)) >= settings.queue_max {
            return Answer::Full { retry: FULL_RETRY, lost };
        }
        let index = self.enter(stream, ask, viewer);
        self.wait(index, lost)
    }

    fn enter(&mut self, stream: &StreamId, ask: &Ask<'_>, viewer: Option<&str>) -> usize {
        let index = self.enter_blank(stream, ask.fresh);
        let entry = &mut self.entries[index];
        entry.nonce = ask.nonce.filter(|_| ask.seat.is_none());
        entry.viewer = viewer.map(str::to_owned);
        entry.hidden = ask.hidden;
        entry.hls = ask.hls;
        index
    }

    fn enter_blank(&mut self, stream: &StreamId, seat: SeatId) -> usize {
        let arrival = Arrival(self.next_arrival);
        self.next_arrival += 1;
        self.entries.push(Entry {
            arrival,
            stream: stream.clone(),
            seat,
            nonce: None,
            viewer: None,
            place: Place::Waiting(None),
            since: self.now.unix_s,
            hidden: false,
            hls: false,
            token_until: 0,
            due: self.now.at,
        });
        self.entries.len() - 1
    }

    fn seat(&mut self, index: usize, token_until: u64) -> Answer {
        let entry = &mut self.entries[index];
        entry.place = Place::Seated;
        entry.since = self.now.unix_s;
        entry.token_until = token_until;
        let (seat, stream) = (entry.seat, entry.stream.clone());
        self.heard(index);
        let seats = count(self.of(&stream).filter(|entry| entry.place == Place::Seated));
        let record = self.stream_mut(&stream).expect("an entry's stream is there");
        record.peak = record.peak.max(seats);
        Answer::In { seat, lost: None }
    }

    fn wait(&mut self, index: usize, lost: Option<Lost>) -> Answer {
        self.heard(index);
        let entry = &self.entries[index];
        let ahead = count(self.line(&entry.stream).take_while(|other| other.arrival < entry.arrival));
        let position = Position(NonZeroU32::new(ahead + 1).unwrap());
        Answer::Wait { seat: entry.seat, position, retry: NEAR_RETRY, lost }
    }

    pub(crate) fn beat(&mut self, stream: &StreamId, beat: &Beat, now: Now) -> BeatAnswer {
        self.bring_up_to(now);
        match self.seated(stream, beat.seat, beat.proof) {
            Ok(index) => {
                let entry = &mut self.entries[index];
                entry.hidden = beat.hidden.unwrap_or(entry.hidden);
                entry.hls = beat.hls.unwrap_or(entry.hls);
                let next = Duration::from_secs(if entry.hidden { 20 } else { 5 });
                self.heard(index);
                BeatAnswer::Kept { next }
            }
            Err(NotSeated::NoStream) => BeatAnswer::StreamNotFound,
            Err(NotSeated::Kicked) => BeatAnswer::Kicked,
            Err(NotSeated::Ended) => BeatAnswer::StreamEnded,
            Err(NotSeated::Gone) => BeatAnswer::Gone,
        }
    }

    pub(crate) fn renew(&mut self, stream: &StreamId, renewal: &Renewal, now: Now) -> RenewalAnswer {
        self.bring_up_to(now);
        match self.seated(stream, renewal.seat, renewal.proof) {
            Ok(index) => {
                self.entries[index].token_until = renewal.token_until;
                RenewalAnswer::Granted
            }
            Err(NotSeated::NoStream) => RenewalAnswer::StreamNotFound,
            Err(NotSeated::Kicked) => RenewalAnswer::Kicked,
            Err(NotSeated::Ended) => RenewalAnswer::StreamEnded,
            Err(NotSeated::Gone) => RenewalAnswer::Gone,
        }
    }

    fn seated(&mut self, stream: &StreamId, seat: SeatId, proof: Option<Proof>) -> Result<usize, NotSeated> {
        let Some(record) = self.stream(stream) else { return Err(NotSeated::NoStream) };
        let ended = record.ended_at.is_some();
        if self.kicked(stream, seat).is_some() {
            return Err(NotSeated::Kicked);
        }
        match self.known(stream, seat, proof) {
            Some(index) if self.entries[index].place == Place::Seated => Ok(index),
            Some(_) | None if ended => Err(NotSeated::Ended),
            Some(_) | None => Err(NotSeated::Gone),
        }
    }

    pub(crate) fn leave(&mut self, stream: &StreamId, seat: SeatId, now: Now) {
        self.bring_up_to(now);
        if let Some(index) = self.index_where(stream, |entry| entry.seat == seat) {
            self.depart(self.entries[index].arrival, Departure::Left);
        }
    }

    pub(crate) fn kick(&mut self, stream: &StreamId, target: &KickTarget<'_>, now: Now) -> KickAnswer {
        self.bring_up_to(now);
        if self.stream(stream).is_none() {
            return KickAnswer::StreamNotFound;
        }
        let index = match target {
            KickTarget::Seat(seat) => self.index_where(stream, |entry| entry.seat == *seat),
            KickTarget::Viewer(viewer) => self.index_where(stream, |entry| entry.viewer.as_deref() == Some(*viewer)),
        };
        let entry = index.map(|index| self.entries[index].clone());
        let viewer = match target {
            KickTarget::Viewer(viewer) => Some((*viewer).to_owned()),
            KickTarget::Seat(_) => entry.as_ref().and_then(|entry| entry.viewer.clone()),
        };
        if let Some(viewer) = viewer {
            self.blocked.retain(|blocked| blocked.stream != *stream || blocked.viewer != viewer);
            let until = self.until(self.settings.kick_block);
            self.blocked.push(Blocked { stream: stream.clone(), viewer, until });
        }
        match (&entry, target) {
            (Some(entry), _) => self.depart(entry.arrival, Departure::Kicked),
            (None, KickTarget::Seat(seat)) => self.remember(stream, *seat, Departure::Kicked),
            (None, KickTarget::Viewer(_)) => {}
        }
        KickAnswer::Kicked { seat: entry.map(|entry| entry.seat) }
    }

    /// The living entry of a seat id, put back by its token if the store lost it (T5).
    fn known(&mut self, stream: &StreamId, seat: SeatId, proof: Option<Proof>) -> Option<usize> {
        if let Some(index) = self.index_where(stream, |entry| entry.seat == seat) {
            return Some(index);
        }
        let proof = proof.filter(|proof| proof.seat == seat)?;
        let ended = self.stream(stream).is_none_or(|record| record.ended_at.is_some());
        let in_use = self.entries.iter().any(|entry| entry.seat == seat);
        let out_of_date = proof.issued_at >= self.birth || proof.expires_at <= self.now.unix_s;
        if ended || in_use || out_of_date || self.departure(stream, seat).is_some() {
            return None;
        }
        let index = self.enter_blank(stream, seat);
        let arrival = self.entries[index].arrival;
        self.seat(index, proof.expires_at);
        // Over the cap only if need be: what was kept for somebody who was not told yet is given back first (S6).
        self.withdraw_over_caps();
        self.deal(TurnKind::Offer);
        self.index_of(arrival)
    }

    fn kicked(&self, stream: &StreamId, seat: SeatId) -> Option<RetryAfter> {
        let departed = self.departure(stream, seat).filter(|departed| departed.why == Departure::Kicked)?;
        Some(RetryAfter(departed.until.at - self.now.at))
    }

    fn lost(&self, stream: &StreamId, seat: SeatId) -> Lost {
        match self.departure(stream, seat).map(|departed| departed.why) {
            Some(Departure::Left) => Lost::Left,
            Some(Departure::Expired) => Lost::Expired,
            Some(Departure::Kicked) | None => Lost::Unknown,
        }
    }

    fn blocked(&self, stream: &StreamId, viewer: &str) -> Option<RetryAfter> {
        let mine = |blocked: &&Blocked| blocked.stream == *stream && blocked.viewer == viewer;
        let blocked = self.blocked.iter().filter(mine).find(|blocked| blocked.until.at > self.now.at)?;
        Some(RetryAfter(blocked.until.at - self.now.at))
    }
}

enum NotSeated {
    NoStream,
    Ended,
    Kicked,
    Gone,
}

/// S5.
const OFFER_RETRY: RetryAfter = RetryAfter(Duration::from_secs(2));
/// S4, S13.
const FULL_RETRY: RetryAfter = RetryAfter(Duration::from_secs(30));
/// S3 for the first hundred places, before the spread by seat.
pub(crate) const NEAR_RETRY: RetryAfter = RetryAfter(Duration::from_secs(2));
