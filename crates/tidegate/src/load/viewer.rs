//! One viewer: does what a page does, when it is told to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::load::book::{Book, Call, Phase};
use crate::load::client::{Line, NoAnswer, Reply};
use crate::load::judge::{Entry, Span};
use crate::load::plan::Plan;
use crate::load::told::{Read, Told, read};

/// What all viewers share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) book: Mutex<Book>,
    /// Becomes true when the run is over.
    pub(crate) over: watch::Receiver<bool>,
}

impl Shared {
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Viewer {
    number: u32,
    shared: Arc<Shared>,
    line: Line,
    rng: SmallRng,
    stage: Stage,
    /// The seat id that the page keeps, and what is known about it.
    seat: Option<String>,
    entry: Option<Entry>,
    nonce: String,
    /// When the first ask with this nonce was sent.
    first_ask: Option<Instant>,
    hidden: bool,
    turns_at: Option<Instant>,
    leaves_at: Option<Instant>,
    crashes_at: Option<Instant>,
    /// Calls without an answer in a row.
    unanswered: u32,
}

/// Where the page is.
enum Stage {
    /// Asks next at this time; in line or before it.
    Asking { at: Instant },
    /// Was told of an offer; asks next at this time, to take it or not.
    Offered { at: Instant, joins: bool },
    /// Holds a seat.
    Seated { token: String, renews_at: Instant, beats_at: Instant },
    /// Was told that there is nothing to wait for.
    Closed,
}

/// What a viewer does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Ask,
    Beat,
    Renew,
    /// The tab is hidden, or shown again.
    Turn,
    Leave,
    Crash,
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    join: bool,
    hidden: bool,
}

impl Viewer {
    /// A viewer who comes some time within the plan's time of arrival.
    pub(crate) fn new(number: u32, shared: Arc<Shared>, line: Line) -> Self {
        let seed = shared.plan.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(number));
        let mut rng = SmallRng::seed_from_u64(seed);
        let comes_in = shared.plan.arrive.mul_f64(rng.random());
        let mut viewer = Self {
            number,
            shared,
            line,
            rng,
            stage: Stage::Closed,
            seat: None,
            entry: None,
            nonce: String::new(),
            first_ask: None,
            hidden: false,
            turns_at: None,
            leaves_at: None,
            crashes_at: None,
            unanswered: 0,
        };
        viewer.come_anew(comes_in);
        viewer
    }

    /// Lives until the run is over, then says goodbye.
    pub(crate) async fn live(mut self) {
        let mut over = self.shared.over.clone();
        while let Some((at, deed)) = self.next() {
            tokio::select! {
                biased;
                () = run_is_over(&mut over) => break,
                () = sleep_until(at) => {}
            }
            // Outside the select: a call under way is always brought to its end, so its answer is never unknown.
            self.act(deed).await;
            let phase = self.phase();
            self.shared.book().phases[self.number as usize] = phase;
        }
        run_is_over(&mut over).await;
        self.say_goodbye().await;
    }

    fn next(&self) -> Option<(Instant, Deed)> {
        let own = match &self.stage {
            Stage::Asking { at } | Stage::Offered { at, .. } => [Some((*at, Deed::Ask)), None],
            Stage::Seated { renews_at, beats_at, .. } => {
                [Some((*beats_at, Deed::Beat)), Some((*renews_at, Deed::Renew))]
            }
            Stage::Closed => return None,
        };
        let whims = [(self.turns_at, Deed::Turn), (self.leaves_at, Deed::Leave), (self.crashes_at, Deed::Crash)];
        let whims = whims.into_iter().filter_map(|(at, deed)| Some((at?, deed)));
        own.into_iter().flatten().chain(whims).min_by_key(|(at, _)| *at)
    }

    const fn phase(&self) -> Phase {
        match self.stage {
            Stage::Asking { .. } if self.entry.is_some() => Phase::Waiting,
            Stage::Asking { .. } => Phase::Out,
            Stage::Offered { .. } => Phase::Offered,
            Stage::Seated { .. } => Phase::In,
            Stage::Closed => Phase::Closed,
        }
    }

    async fn act(&mut self, deed: Deed) {
        match deed {
            Deed::Ask => self.ask().await,
            Deed::Beat => self.beat().await,
            Deed::Renew => self.renew().await,
            Deed::Turn => self.turn(),
            Deed::Leave => {
                self.leave().await;
                self.come_again();
            }
            Deed::Crash => {
                self.line.hang_up();
                let entry = self.entry.take();
                let mut book = self.shared.book();
                book.departs(self.number);
                book.judge.crashed(entry);
                drop(book);
                self.come_again();
            }
        }
    }

    /// Asks for a seat, or for news of the place.
    async fn ask(&mut self) {
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
        let body = to_json(&body);
        let Some((reply, read)) = self.call(Call::Ask, body, begun).await else { return };
        let span = Span { sent: reply.sent, got: reply.got };
        let known = self.entry.take();
        self.entry = self.shared.book().judge.ask_answered(known, &asked, &read.told, span);
        self.heed(read.told, reply.got);
    }

    /// Does as the answer to an ask says.
    fn heed(&mut self, told: Told, now: Instant) {
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
            let at = now + if joins { Duration::ZERO } else { retry };
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

    /// Keeps the seat (S18).
    async fn beat(&mut self) {
        let Stage::Seated { token, .. } = &self.stage else { return };
        let (begun, hidden) = (Instant::now(), self.hidden);
        let body = Body { seat: self.seat.as_deref(), token: Some(token), nonce: None, join: false, hidden };
        let body = to_json(&body);
        let Some((reply, read)) = self.call(Call::Beat, body, begun).await else { return };
        let span = Span { sent: reply.sent, got: reply.got };
        let Told::Kept { next } = read.told else { return self.seat_is_refused(Call::Beat, read.told, span) };
        if let Some(entry) = &mut self.entry {
            self.shared.book().judge.beat_kept(entry, hidden, span);
        }
        self.call_again_at(Call::Beat, reply.got + next);
    }

    /// Asks for a new token before the old one ends (S20).
    async fn renew(&mut self) {
        let Stage::Seated { token, .. } = &self.stage else { return };
        let body =
            Body { seat: self.seat.as_deref(), token: Some(token), nonce: None, join: false, hidden: self.hidden };
        let body = to_json(&body);
        let Some((reply, read)) = self.call(Call::Renew, body, Instant::now()).await else { return };
        let Told::Renewed { token: new, token_life } = read.told else {
            return self.seat_is_refused(Call::Renew, read.told, Span { sent: reply.sent, got: reply.got });
        };
        if let Stage::Seated { token, renews_at, .. } = &mut self.stage {
            (*token, *renews_at) = (new, reply.got + token_life.mul_f64(RENEWS));
        }
    }

    /// A call that should have kept or renewed the seat was not taken.
    fn seat_is_refused(&mut self, call: Call, told: Told, span: Span) {
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

    /// An answer that decides nothing: the same again, when it says so.
    fn wait_a_little(&mut self, call: Call, told: Told, now: Instant) {
        let told = if let Told::Problem { retry } = told { retry } else { None };
        let pause = told.unwrap_or_else(|| self.backoff());
        self.call_again_at(call, now + pause);
    }

    /// Puts the next call of this kind off, or brings it forward.
    const fn call_again_at(&mut self, call: Call, when: Instant) {
        match (&mut self.stage, call) {
            (Stage::Asking { at } | Stage::Offered { at, .. }, _) => *at = when,
            (Stage::Seated { renews_at, .. }, Call::Renew) => *renews_at = when,
            (Stage::Seated { beats_at, .. }, _) => *beats_at = when,
            (Stage::Closed, _) => {}
        }
    }

    /// The tab is hidden or shown; the page says so at once (S18).
    fn turn(&mut self) {
        self.hidden = !self.hidden;
        self.turns_at = Some(Instant::now() + self.between(20, 60));
        if self.entry.is_some() {
            self.call_again_at(Call::Beat, Instant::now());
        }
    }

    async fn leave(&mut self) {
        let entry = self.entry.take();
        let Some(seat) = self.seat.take() else { return };
        let begun = Instant::now();
        {
            let mut book = self.shared.book();
            book.departs(self.number);
            book.judge.left(entry, begun);
        }
        let body = to_json(&Body { seat: Some(&seat), token: None, nonce: None, join: false, hidden: self.hidden });
        self.call(Call::Leave, body, begun).await;
    }

    /// Somebody new comes in this one's place.
    fn come_again(&mut self) {
        let pause = self.between(1, 5);
        self.come_anew(pause);
    }

    fn come_anew(&mut self, pause: Duration) {
        let comes_at = Instant::now() + pause;
        let spared = |rng: &mut SmallRng, rate: crate::load::plan::Rate| {
            rate.spared(1.0 - rng.random::<f64>()).and_then(|spared| comes_at.checked_add(spared))
        };
        self.leaves_at = spared(&mut self.rng, self.shared.plan.churn);
        self.crashes_at = spared(&mut self.rng, self.shared.plan.crash);
        self.hidden = self.rng.random_bool(self.shared.plan.hidden.0);
        self.turns_at = self.hidden.then(|| comes_at + self.between(20, 60));
        // Not from the seed: the same nonce in a second run would find the first run's entries.
        self.nonce = BASE64URL_NOPAD.encode(&rand::random::<[u8; 16]>());
        (self.seat, self.entry, self.first_ask, self.unanswered) = (None, None, None, 0);
        self.stage = Stage::Asking { at: comes_at };
    }

    /// At the end of the run, so that the stream is free for the next.
    async fn say_goodbye(&mut self) {
        // 4,000 goodbyes a second: fast enough to wait for, slow enough not to be a test of its own.
        let window = Duration::from_secs_f64(f64::from(self.shared.plan.viewers) / 4000.0);
        tokio::time::sleep(window.mul_f64(self.rng.random())).await;
        self.leave().await;
    }

    /// Makes one call and notes its answer, or its absence.
    async fn call(&mut self, call: Call, body: Vec<u8>, begun: Instant) -> Option<(Reply, Read)> {
        let path = format!("/v1/play/{}/{}", self.shared.plan.stream, call.route());
        match self.line.post(&path, body).await {
            Ok(reply) => {
                self.unanswered = 0;
                let read = read(&reply);
                self.shared.book().answered(self.number, call, &reply, &read);
                Some((reply, read))
            }
            Err(why) => {
                self.no_answer(call, why, begun);
                None
            }
        }
    }

    fn no_answer(&mut self, call: Call, why: NoAnswer, begun: Instant) {
        self.unanswered += 1;
        {
            let mut book = self.shared.book();
            book.unanswered(why);
            if let (Some(entry), NoAnswer::Lost | NoAnswer::Late) = (&mut self.entry, why) {
                book.judge.unanswered(entry, self.hidden, begun);
            }
        }
        let pause = self.backoff();
        self.call_again_at(call, Instant::now() + pause);
    }

    /// A quarter of a second, doubling to four, each with a spread so that pages do not return in step.
    fn backoff(&mut self) -> Duration {
        let doubled = Duration::from_millis(250) * 2_u32.pow(self.unanswered.saturating_sub(1).min(4));
        doubled.mul_f64(self.rng.random_range(0.5..1.5))
    }

    /// How long a page's timer takes: in a hidden tab browsers fire them once a minute (S3).
    fn timer(&self, told: Duration) -> Duration {
        if self.hidden { told.max(Duration::from_secs(60)) } else { told }
    }

    fn between(&mut self, from_s: u64, to_s: u64) -> Duration {
        Duration::from_millis(self.rng.random_range(from_s * 1000..to_s * 1000))
    }
}

async fn run_is_over(over: &mut watch::Receiver<bool>) {
    // The sender gone means the same.
    over.wait_for(|over| *over).await.ok();
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(value: &bool) -> bool {
    !*value
}

fn to_json(body: &Body<'_>) -> Vec<u8> {
    serde_json::to_vec(body).expect("plain fields")
}

/// A token is renewed after this part of its life.
const RENEWS: f64 = 2.0 / 3.0;
