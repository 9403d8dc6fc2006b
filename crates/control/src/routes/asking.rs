//! One ask, from a page or from a backend for its viewer (S2–S8, S17).

use aws_lc_rs::digest;
use tidegate_seats::{Answer, Ask, Asker, NonceHash, SeatId, StreamId};
use tidegate_store::{Named, Toll};
use tidegate_wire::Problem;
use tidegate_wire::play::{Admission, AdmitRequest};

use super::play::present;
use crate::answers;
use crate::control::Shared;
use crate::tokens::{self, unix_now};

/// An ask, read.
pub(super) struct Asking<'a> {
    stream: &'a StreamId,
    request: &'a AdmitRequest,
    ask: Ask<'a>,
    now: u64,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        control: &Shared,
        stream: &'a StreamId,
        request: &'a AdmitRequest,
        asker: Asker,
        viewer: Option<&'a str>,
    ) -> Self {
        let now = unix_now();
        let seat = request.seat.as_deref();
        // Ignored beside `seat`, whatever became of that.
        let nonce = if seat.is_some() { None } else { request.nonce.as_deref() };
        let ask = Ask {
            asker,
            seat: seat.map(|seat| SeatId::parse(seat).ok_or(())),
            proof: None,
            nonce: nonce.map(|nonce| hash_nonce(stream, nonce)),
            viewer,
            join: request.join.unwrap_or(false),
            hidden: request.hidden.unwrap_or(false),
            hls: request.hls.unwrap_or(false),
            fresh: tokens::fresh_seat(),
            token_until: control.tokens.viewer_until(now),
        };
        Self { stream, request, ask, now }
    }

    /// Asks for the live entry that it names.
    pub(super) async fn as_named(&self, control: &Shared, toll: Toll<'_>) -> Result<Named<Answer>, Problem> {
        if self.named_seat().is_none() && self.ask.nonce.is_none() {
            return Ok(Named::Nobody);
        }
        control.seats.ask_named(self.stream, self.ask.clone(), toll).await.map_err(|away| control.store_away(away))
    }

    /// Asks, whoever it is.
    pub(super) async fn as_anybody(&self, control: &Shared) -> Result<Answer, Problem> {
        let token = self.request.token.as_deref();
        let shown = self.named_seat().and_then(|seat| present(control, self.stream, seat, token));
        let ask = Ask { proof: shown.map(|shown| shown.proof), ..self.ask.clone() };
        control.seats.ask(self.stream, ask).await.map_err(|away| control.store_away(away))
    }

    /// Writes what was answered.
    pub(super) async fn told(&self, control: &Shared, answer: Answer) -> Result<Admission, Problem> {
        let region = self.request.region.as_deref();
        answers::told(control, self.stream, answer, self.now, self.ask.token_until, region).await
    }

    fn named_seat(&self) -> Option<SeatId> {
        self.ask.seat.and_then(Result::ok)
    }
}

/// A nonce is kept as a hash, and a hash of its stream too: the same value elsewhere finds nothing.
fn hash_nonce(stream: &StreamId, nonce: &str) -> NonceHash {
    let mut hash = digest::Context::new(&digest::SHA256);
    hash.update(stream.as_str().as_bytes());
    hash.update(&[0]);
    hash.update(nonce.as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finish().as_ref()[..16]);
    NonceHash(short)
}
