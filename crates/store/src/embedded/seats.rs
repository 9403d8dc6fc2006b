//! [`Seats`] on the engine in memory.

use async_trait::async_trait;
use tidegate_seats::{
    Answer, Arrival, Ask, Beat, BeatAnswer, KickAnswer, KickTarget, NonceHash, Refusal, Renewal, RenewalAnswer, SeatId,
    SeatListing, StreamId, StreamStats, TenantId,
};

use super::Embedded;
use crate::{Named, Seats, StoreAway, Toll};

#[async_trait]
impl Seats for Embedded {
    async fn writable(&self) -> Result<(), StoreAway> {
        self.journal.writable()
    }

    async fn tenant_of(&self, stream: &StreamId) -> Option<TenantId> {
        self.registry().streams.get(stream).map(|desk| desk.tenant.clone())
    }

    async fn find(&self, stream: &StreamId, seat: Option<SeatId>, nonce: Option<NonceHash>) -> Option<SeatId> {
        let desk = self.desk_of(stream)?;
        let mut at_desk = desk.take();
        let now = at_desk.now;
        at_desk.house().find(stream, seat, nonce, now)
    }

    async fn ask(&self, stream: &StreamId, ask: Ask<'_>) -> Result<Answer, StoreAway> {
        let Some(desk) = self.desk_of(stream) else { return Ok(Answer::Refused(Refusal::StreamNotFound)) };
        let (answer, ticket) = {
            let mut at_desk = desk.take_to_change()?;
            let now = at_desk.now;
            (at_desk.house().handle_ask(stream, ask, now), at_desk.publish())
        };
        self.journal.durable(ticket).await?;
        Ok(answer)
    }

    async fn ask_named(&self, stream: &StreamId, ask: Ask<'_>, toll: Toll<'_>) -> Result<Named<Answer>, StoreAway> {
        let Some(desk) = self.desk_of(stream) else { return Ok(Named::Nobody) };
        let (named, ticket) = {
            let mut at_desk = desk.take_swept();
            let now = at_desk.now;
            // A nonce is ignored beside a seat, also beside text that is none.
            let key = ask.seat.map_or((None, ask.nonce), |seat| (seat.ok(), None));
            let named = at_desk.named(stream, key, toll);
            let named = named.map(|_| self.journal.writable().map(|()| at_desk.house().handle_ask(stream, ask, now)));
            (named, at_desk.publish())
        };
        match named {
            Named::Answered(answer) => {
                let answer = answer?;
                self.journal.durable(ticket).await?;
                Ok(Named::Answered(answer))
            }
            Named::TooOften(retry) => Ok(Named::TooOften(retry)),
            Named::Nobody => Ok(Named::Nobody),
        }
    }

    async fn beat(&self, stream: &StreamId, beat: Beat) -> BeatAnswer {
        let Some(desk) = self.desk_of(stream) else { return BeatAnswer::StreamNotFound };
        let seat = beat.seat;
        let mut at_desk = desk.take();
        let now = at_desk.now;
        let answer = at_desk.house().handle_beat(stream, beat, now);
        at_desk.publish_quietly(seat);
        answer
    }

    async fn beat_named(&self, stream: &StreamId, beat: Beat, toll: Toll<'_>) -> Named<BeatAnswer> {
        let Some(desk) = self.desk_of(stream) else { return Named::Nobody };
        let seat = beat.seat;
        let mut at_desk = desk.take();
        let now = at_desk.now;
        let named = at_desk.named(stream, (Some(seat), None), toll);
        let named = named.map(|_| at_desk.house().handle_beat(stream, beat, now));
        at_desk.publish_quietly(seat);
        named
    }

    async fn renew(&self, stream: &StreamId, renewal: Renewal) -> RenewalAnswer {
        let Some(desk) = self.desk_of(stream) else { return RenewalAnswer::StreamNotFound };
        let seat = renewal.seat;
        let mut at_desk = desk.take();
        let now = at_desk.now;
        let answer = at_desk.house().handle_renewal(stream, renewal, now);
        at_desk.publish_quietly(seat);
        answer
    }

    async fn leave(&self, stream: &StreamId, seat: SeatId) -> Result<(), StoreAway> {
        let Some(desk) = self.desk_of(stream) else { return Ok(()) };
        let ticket = {
            let mut at_desk = desk.take_to_change()?;
            let now = at_desk.now;
            at_desk.house().handle_leave(stream, seat, now);
            at_desk.publish()
        };
        self.journal.durable(ticket).await
    }

    async fn kick(&self, stream: &StreamId, target: KickTarget<'_>) -> Result<KickAnswer, StoreAway> {
        let Some(desk) = self.desk_of(stream) else { return Ok(KickAnswer::StreamNotFound) };
        let (answer, ticket) = {
            let mut at_desk = desk.take_to_change()?;
            let now = at_desk.now;
            (at_desk.house().handle_kick(stream, target, now), at_desk.publish())
        };
        self.journal.durable(ticket).await?;
        Ok(answer)
    }

    async fn stats(&self, stream: &StreamId) -> Option<StreamStats> {
        let desk = self.desk_of(stream)?;
        let mut at_desk = desk.take_swept();
        let now = at_desk.now;
        let stats = at_desk.house().stats(stream, now);
        at_desk.publish();
        stats
    }

    async fn is_freed(&self, stream: &StreamId, seat: SeatId) -> bool {
        let Some(desk) = self.desk_of(stream) else { return false };
        let mut at_desk = desk.take();
        let now = at_desk.now;
        at_desk.house().is_freed(stream, seat, now)
    }

    async fn seats(&self, stream: &StreamId, after: Option<Arrival>, at_most: usize) -> Vec<SeatListing> {
        let Some(desk) = self.desk_of(stream) else { return Vec::new() };
        let mut at_desk = desk.take_swept();
        let seats = at_desk.house().seats(stream, after, at_most);
        at_desk.publish();
        seats
    }
}
