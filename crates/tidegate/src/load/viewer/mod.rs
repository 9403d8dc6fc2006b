//! One viewer: does what a page does, when it is told to.

mod calls;
mod line;
mod seat;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::load::book::{Book, Call, Phase};
use crate::load::client::Line;
use crate::load::judge::Entry;
use crate::load::plan::Plan;

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

    /// The tab is hidden or shown; the page says so at once (S18).
    fn turn(&mut self) {
        self.hidden = !self.hidden;
        self.turns_at = Some(Instant::now() + self.between(20, 60));
        if self.entry.is_some() {
            self.call_again_at(Call::Beat, Instant::now());
        }
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
        // A thousand goodbyes a second: fast enough to wait for, slow enough not to be a test of its own.
        let window = Duration::from_millis(self.shared.plan.viewers.into()).min(GOODBYES_MAX);
        sleep(window.mul_f64(self.rng.random())).await;
        self.leave().await;
    }

    fn between(&mut self, from_s: u64, to_s: u64) -> Duration {
        Duration::from_millis(self.rng.random_range(from_s * 1000..to_s * 1000))
    }
}

async fn run_is_over(over: &mut watch::Receiver<bool>) {
    // The sender gone means the same.
    over.wait_for(|over| *over).await.ok();
}

/// A token is renewed after this part of its life.
const RENEWS: f64 = 2.0 / 3.0;

/// Nobody waits longer than this for a run's end.
const GOODBYES_MAX: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
