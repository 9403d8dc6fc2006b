//! Before the seat: asking, waiting, an offer.

use std::time::Duration;

use rand::RngExt;
use tokio::time::Instant;

use crate::load::book::Call;
use crate::load::judge::Span;
use crate::load::told::Told;
use crate::load::viewer::calls::Body;
use crate::load::viewer::{RENEWS, Stage, Viewer};

impl Viewer {
    /// Asks for a seat, or for news of the place.
    pub(super) async fn ask(&mut self) {
        let begun = Instant::now();
        // An ask that names a seat we know nothing of any more makes a new entry now, if any.
        let first = if self.seat.is_some() && self.entry.is_none() { begun } else { self.first_ask.unwrap_or(begun) };
        self.first_ask.get_or_insert(begun);
        let join = match self.stage {
            Stage::Offered { joins, .. } => joins,
            Stage::Asking { .. } | Stage::Seated { .. } | Stage::Closed => {
                self.shared.plan.auto_join && self.entry.is_some()
            }
        };
        let hidden = self.hidden;
        let asked = self.shared.book().judge.asking(self.number, first, hidden);
        let nonce = self.seat.is_none().then_some(self.nonce.as_str());
        let body = Body { seat: self.seat.as_deref(), token: None, nonce, join, hidden };
        let body = body.to_json();
        let Some((reply, read)) = self.call(Call::Ask, body, begun).await else { return };
        let span = Span { sent: reply.sent, got: reply.got };
        let known = self.entry.take();
        self.entry = self.shared.book().judge.ask_answered(known, &asked, &read.told, span);
        self.heed(read.told, reply.got);
    }

    /// Does as the answer to an ask says.
    pub(super) fn heed(&mut self, told: Told, now: Instant) {
        match told {
            Told::In { seat, token, token_life, beat } => {
                if matches!(self.stage, Stage::Offered { .. }) {
                    self.shared.book().offers.taken += 1;
                }
                self.seat = Some(seat);
                self.stage = Stage::Seated { token, renews_at: now + token_life.mul_f64(RENEWS), beats_at: now + beat };
            }
            Told::Wait { seat, retry, .. } => {
                self.seat = Some(seat);
                self.stage = Stage::Asking { at: now + self.timer(retry) };
            }
            Told::Offer { seat, left, retry } => {
                self.seat = Some(seat);
                self.consider(left, retry, now);
            }
            Told::Full { retry } => {
                (self.seat, self.first_ask) = (None, None);
                // The server says exactly 30 s; the spread is the page's own (S4).
                let spread = self.rng.random_range(1.0..1.25);
                self.stage = Stage::Asking { at: now + self.timer(retry.mul_f64(spread)) };
            }
            Told::Closed => self.stage = Stage::Closed,
            Told::Gone | Told::Done | Told::Kept { .. } | Told::Renewed { .. } | Told::Problem { .. } => {
                self.wait_a_little(Call::Ask, told, now);
            }
        }
    }

    /// The person at the page decides about an offer when first told of it.
    fn consider(&mut self, left: Duration, retry: Duration, now: Instant) {
        // A page that was hidden calls its person, who comes to look.
        self.hidden = false;
        if let Stage::Offered { joins, .. } = self.stage {
            // A join that was answered with the same offer again is not repeated in a rush.
            let at = now + if joins { retry.min(REJOINS) } else { retry };
            self.stage = Stage::Offered { at, joins };
            return;
        }
        let joins = self.shared.plan.auto_join || !self.rng.random_bool(self.shared.plan.lapse.0);
        let thinks = left.mul_f64(self.rng.random_range(0.02..0.4));
        self.stage = Stage::Offered { at: now + if joins { thinks } else { retry }, joins };
        let mut book = self.shared.book();
        book.offers.told += 1;
        if !joins {
            book.offers.let_lapse += 1;
            if let Some(entry) = &mut self.entry {
                book.judge.will_lapse(entry);
            }
        }
    }
}

/// An offer that was to be joined is asked for again after this, at the latest.
const REJOINS: Duration = Duration::from_millis(500);
