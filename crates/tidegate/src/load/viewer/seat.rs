//! With the seat: heartbeats, renewals, and leaving.

use tokio::time::Instant;

use crate::load::book::Call;
use crate::load::judge::Span;
use crate::load::told::Told;
use crate::load::viewer::calls::Body;
use crate::load::viewer::{RENEWS, Stage, Viewer};

impl Viewer {
    /// Keeps the seat (S18).
    pub(super) async fn beat(&mut self) {
        let Stage::Seated { token, .. } = &self.stage else { return };
        let (begun, hidden) = (Instant::now(), self.hidden);
        let body = Body { seat: self.seat.as_deref(), token: Some(token), nonce: None, join: false, hidden };
        let body = body.to_json();
        let Some((reply, read)) = self.call(Call::Beat, body, begun).await else { return };
        let span = Span { sent: reply.sent, got: reply.got };
        let Told::Kept { next } = read.told else { return self.seat_is_refused(Call::Beat, read.told, span) };
        if let Some(entry) = &mut self.entry {
            self.shared.book().judge.beat_kept(entry, hidden, span);
        }
        self.call_again_at(Call::Beat, reply.got + next);
    }

    /// Asks for a new token before the old one ends (S20).
    pub(super) async fn renew(&mut self) {
        let Stage::Seated { token, .. } = &self.stage else { return };
        let body =
            Body { seat: self.seat.as_deref(), token: Some(token), nonce: None, join: false, hidden: self.hidden };
        let body = body.to_json();
        let Some((reply, read)) = self.call(Call::Renew, body, Instant::now()).await else { return };
        let Told::Renewed { token: new, token_life } = read.told else {
            return self.seat_is_refused(Call::Renew, read.told, Span { sent: reply.sent, got: reply.got });
        };
        if let Stage::Seated { token, renews_at, .. } = &mut self.stage {
            (*token, *renews_at) = (new, reply.got + token_life.mul_f64(RENEWS));
        }
    }

    /// A call that should have kept or renewed the seat was not taken.
    pub(super) fn seat_is_refused(&mut self, call: Call, told: Told, span: Span) {
        match told {
            Told::Gone => {
                let entry = self.entry.take();
                self.shared.book().judge.gone(entry, self.number, span);
                // The page asks with its old seat id, to learn how it was lost (S8).
                self.stage = Stage::Asking { at: span.got };
            }
            Told::Closed => {
                self.entry = None;
                self.stage = Stage::Closed;
            }
            Told::In { .. }
            | Told::Wait { .. }
            | Told::Offer { .. }
            | Told::Full { .. }
            | Told::Kept { .. }
            | Told::Renewed { .. }
            | Told::Done
            | Told::Problem { .. } => self.wait_a_little(call, told, span.got),
        }
    }

    /// Leaves the seat or place, if there is one.
    pub(super) async fn leave(&mut self) {
        let entry = self.entry.take();
        let Some(seat) = self.seat.take() else { return };
        let begun = Instant::now();
        let free_at = {
            let mut book = self.shared.book();
            book.departs(self.number);
            book.judge.left(entry, begun)
        };
        let body = Body { seat: Some(&seat), token: None, nonce: None, join: false, hidden: self.hidden }.to_json();
        let answered = self.call(Call::Leave, body, begun).await.is_some();
        if let Some(silent_at) = free_at {
            self.shared.book().judge.freed(if answered { begun } else { silent_at });
        }
    }
}
