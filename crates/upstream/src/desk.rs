//! One upstream's engine behind a mutex, and those who wait at it.
//!
//! ```text
//!  enter ─▶ Waiting ─▶ (woken) claim ─▶ HeldSlot ─▶ hear … ─▶ dropped: the slot goes back
//!              └── dropped: the place goes back
//! ```
//!
//! This is the seam to the engine: nothing else in the crate names it. The mutex is held for one step and never
//! across an await. Every step ends with [`Inner::settle`], which asks the engine what comes next and wakes exactly
//! those it names. A fleet's shared state (G4, G26) belongs here too: a start is asked for between a wake and its
//! claim, what [`Desk::hear`] changed is told, and what others heard is applied.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime};

use slab::Slab;
use tidegate_gate::signal::Head;
use tidegate_gate::{
    Call, Claim, Enqueued, Heard, Jitter, Mode, Next, Outcome, Refusal, RetryPolicy, Slot, Snapshot, Ticket, Upstream,
    UpstreamSettings, Verdict,
};
use tracing::info;

use crate::clock;
use crate::flight::Flight;
use crate::lease::{Lease, Progress};
use crate::series::{Series, Signal};
use crate::timer::Timer;

/// The desk of one upstream.
pub(crate) struct Desk {
    name: Arc<str>,
    /// A copy of the engine's, for what is asked before a call comes to the mutex.
    settings: RwLock<Arc<UpstreamSettings>>,
    inner: Mutex<Inner>,
    timer: Timer,
    series: Series,
}

/// What the mutex guards.
pub(crate) struct Inner {
    pub(crate) engine: Upstream,
    pub(crate) waiters: HashMap<Ticket, Waiter, foldhash::fast::RandomState>,
    pub(crate) flights: HashMap<Ticket, Arc<Flight>, foldhash::fast::RandomState>,
    running: Slab<Running>,
    /// When the timer will look here by itself.
    alarm: Option<Instant>,
    /// When bodies are looked at that may have stalled.
    sweep: Option<Instant>,
    /// A shared call lost its last caller; the engine is to be asked what that means.
    pub(crate) abandoned: bool,
}

/// Somebody who waits: for a start, or for a shared call.
#[derive(Default)]
pub(crate) struct Waiter {
    told: Told,
    waker: Option<Waker>,
}

#[derive(Default)]
enum Told {
    #[default]
    Nothing,
    Start,
    Refused(Refusal),
}

/// A call under way.
struct Running {
    /// `None`: taken back because its body stalled.
    slot: Option<Slot>,
    progress: Arc<Progress>,
}

/// What a step leaves to be done outside the mutex.
#[derive(Default)]
struct News {
    woken: Vec<Waker>,
    ring: bool,
    stalled: usize,
}

impl Desk {
    pub(crate) fn new(name: Arc<str>, settings: UpstreamSettings) -> Arc<Self> {
        Arc::new_cyclic(|desk| Self {
            series: Series::new(&name),
            name,
            settings: RwLock::new(Arc::new(settings.clone())),
            inner: Mutex::new(Inner {
                engine: Upstream::new(settings),
                waiters: HashMap::default(),
                flights: HashMap::default(),
                running: Slab::new(),
                alarm: None,
                sweep: None,
                abandoned: false,
            }),
            timer: Timer::new(desk.clone()),
        })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn settings(&self) -> Arc<UpstreamSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_settings(&self, settings: UpstreamSettings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings.clone());
        self.act(|inner, _| inner.engine.set_settings(settings));
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.lock().engine.snapshot(clock::now())
    }

    /// Brings the metrics up to date.
    pub(crate) fn publish(&self) {
        self.series.publish(&self.snapshot(), clock::now());
    }

    /// Waits for this call's turn.
    pub(crate) async fn slot(self: &Arc<Self>, call: Call) -> Result<HeldSlot, Refusal> {
        match self.enter(call)? {
            Entered::Started(slot) => Ok(slot),
            Entered::Waiting(waiting) => waiting.await,
        }
    }

    pub(crate) fn enter(self: &Arc<Self>, call: Call) -> Result<Entered, Refusal> {
        self.act(|inner, now| {
            let enqueued = inner.engine.enqueue(call, now)?;
            Ok(self.entered(inner, enqueued))
        })
    }

    /// Takes in what the engine said about a call that asks to go out.
    pub(crate) fn entered(self: &Arc<Self>, inner: &mut Inner, enqueued: Enqueued) -> Entered {
        match enqueued {
            Enqueued::Started(slot) => Entered::Started(self.hold(inner, slot)),
            Enqueued::Queued(ticket) => {
                inner.waiters.insert(ticket, Waiter::default());
                Entered::Waiting(Waiting { desk: Arc::clone(self), ticket })
            }
        }
    }

    /// Reads the head of a response.
    pub(crate) fn hear(&self, slot: &HeldSlot, head: Head<'_>) -> Heard {
        let heard = self.listen(slot, |engine, slot, now| engine.handle_response(slot, head, now, jitter()));
        self.count(&heard, || Signal::of_head(head.status));
        heard
    }

    /// Reads the beginning of a body, decoded.
    pub(crate) fn hear_body(&self, slot: &HeldSlot, heard: Heard, body: &[u8]) -> Heard {
        let known = heard.outcome == Outcome::Throttled;
        let heard = self.listen(slot, |engine, slot, now| engine.handle_body(slot, heard, body, now, jitter()));
        if !known {
            self.count(&heard, || Signal::Body);
        }
        heard
    }

    /// Takes a caller's own judgement.
    pub(crate) fn hear_finding(&self, slot: &HeldSlot, outcome: Outcome, asked: Option<Duration>) -> Heard {
        let heard = self.listen(slot, |engine, slot, now| engine.handle_finding(slot, outcome, asked, now, jitter()));
        self.count(&heard, || Signal::Caller);
        heard
    }

    /// Says what becomes of a response that was heard, for one of its callers.
    pub(crate) fn verdict(&self, heard: &Heard, call: &Call, policy: &RetryPolicy) -> Verdict {
        match heard.outcome {
            Outcome::Throttled => self.act(|inner, now| inner.engine.verdict(heard, call, policy, now, jitter())),
            Outcome::Fine | Outcome::ExpiredToken | Outcome::Gone | Outcome::Failed => Verdict::Pass,
        }
    }

    /// Lets the engine read something that a running call brought.
    fn listen(&self, slot: &HeldSlot, read: impl FnOnce(&mut Upstream, &Slot, Instant) -> Heard) -> Heard {
        self.act(|inner, now| {
            let running = inner.running.get(slot.index).and_then(|running| running.slot.as_ref());
            // Only a body's stall takes a slot away, and a body comes after everything that is heard.
            let heard = read(&mut inner.engine, running.expect("a call that is heard holds its slot"), now);
            let settings = inner.engine.settings();
            // A body may follow. What is only observed is left alone (G29).
            if inner.sweep.is_none() && settings.mode == Mode::On {
                inner.sweep = Some(now + sweep_pause(settings.stall));
            }
            heard
        })
    }

    fn count(&self, heard: &Heard, signal: impl FnOnce() -> Signal) {
        if heard.outcome == Outcome::Throttled {
            let signal = signal();
            self.series.throttled(signal);
            info!(upstream = %self.name, ?signal, "throttled");
        }
    }

    fn hold(self: &Arc<Self>, inner: &mut Inner, slot: Slot) -> HeldSlot {
        let (waited, leaves_later) = (slot.waited(), slot.leaves_later());
        self.series.waited(waited);
        let progress = Arc::<Progress>::default();
        let index = inner.running.insert(Running { slot: Some(slot), progress: Arc::clone(&progress) });
        HeldSlot { desk: Arc::clone(self), index, waited, leaves_later, progress }
    }

    /// What the timer does when it wakes. Answers when to come back.
    pub(crate) fn on_time(&self) -> Option<Instant> {
        let mut news = News::default();
        let alarm = {
            let mut inner = self.lock();
            let now = clock::now();
            if inner.alarm.is_some_and(|alarm| alarm <= now) {
                inner.alarm = None;
                inner.sweep_if_due(now, &mut news);
                inner.settle(now, &mut news);
            }
            inner.alarm
        };
        self.tell(News { ring: false, ..news });
        alarm
    }

    /// One step of the engine, and everything that follows from it.
    pub(crate) fn act<T>(&self, step: impl FnOnce(&mut Inner, Instant) -> T) -> T {
        let mut news = News::default();
        let answer = {
            let mut inner = self.lock();
            // Read under the lock, so that the engine's time never runs backwards.
            let now = clock::now();
            let answer = step(&mut inner, now);
            inner.settle(now, &mut news);
            answer
        };
        self.tell(news);
        answer
    }

    fn tell(&self, news: News) {
        for _ in 0..news.stalled {
            self.series.stalled();
        }
        if news.ring {
            self.timer.ring();
        }
        news.woken.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic in a step is a bug of the engine; refusing all later calls would make it everybody's.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Wakes whom the engine names, and sets the alarm for when it may name the next.
    fn settle(&mut self, now: Instant, news: &mut News) {
        // Nobody to wake and nobody to refuse: the way of every call that is not held up.
        let idle = self.waiters.is_empty() && !std::mem::take(&mut self.abandoned);
        let next = if idle { None } else { self.next_start(now, news) };
        let Some(at) = [next, self.sweep].into_iter().flatten().min() else { return };
        if self.alarm.is_none_or(|alarm| at < alarm) {
            self.alarm = Some(at);
            news.ring = true;
        }
    }

    fn next_start(&mut self, now: Instant, news: &mut News) -> Option<Instant> {
        loop {
            match self.engine.poll_start(now) {
                Next::Start(ticket) => match self.waiters.get_mut(&ticket) {
                    Some(waiter) => news.woken.extend(waiter.tell(Told::Start)),
                    None => self.engine.handle_cancel(ticket),
                },
                Next::Refuse(ticket, refusal) => {
                    let waiter = self.waiters.get_mut(&ticket);
                    news.woken.extend(waiter.and_then(|waiter| waiter.tell(Told::Refused(refusal))));
                }
                // Its last caller drops it.
                Next::Abandon(_) => {}
                Next::Wait(until) => return until,
            }
        }
    }

    /// Takes the slot from bodies that have not moved for too long (G3).
    fn sweep_if_due(&mut self, now: Instant, news: &mut News) {
        if self.sweep.is_none_or(|at| at > now) {
            return;
        }
        let stall = self.engine.settings().stall;
        for (_, running) in &mut self.running {
            if running.progress.still_for(stall, now)
                && let Some(slot) = running.slot.take()
            {
                self.engine.handle_end(slot);
                news.stalled += 1;
                news.woken.extend(running.progress.stall());
            }
        }
        // Also for calls that have no body yet: it may begin before the next answer sets this again.
        self.sweep = (!self.running.is_empty()).then(|| now + sweep_pause(stall));
    }
}

impl Waiter {
    fn tell(&mut self, told: Told) -> Option<Waker> {
        self.told = told;
        self.waker.take()
    }

    /// Whether it was refused; otherwise it will be woken when something is told.
    pub(crate) fn poll_refused(&mut self, cx: &Context<'_>) -> Poll<Refusal> {
        match std::mem::take(&mut self.told) {
            Told::Refused(refusal) => Poll::Ready(refusal),
            Told::Start | Told::Nothing => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The answer to a call that asks to go out.
pub(crate) enum Entered {
    Started(HeldSlot),
    Waiting(Waiting),
}

/// A call in line. Dropping it gives the place back.
pub(crate) struct Waiting {
    desk: Arc<Desk>,
    ticket: Ticket,
}

impl Future for Waiting {
    type Output = Result<HeldSlot, Refusal>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { desk, ticket } = &*self;
        desk.act(|inner, now| {
            let Some(waiter) = inner.waiters.get_mut(ticket) else { return Poll::Ready(Err(gone())) };
            match std::mem::take(&mut waiter.told) {
                Told::Refused(refusal) => return Poll::Ready(Err(refusal)),
                Told::Start => match inner.engine.claim(*ticket, now) {
                    Claim::Started(slot) => return Poll::Ready(Ok(desk.hold(inner, slot))),
                    Claim::Refused(refusal) => return Poll::Ready(Err(refusal)),
                    Claim::Gone => return Poll::Ready(Err(gone())),
                    Claim::Waits => {}
                },
                Told::Nothing => {}
            }
            waiter.waker = Some(cx.waker().clone());
            Poll::Pending
        })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.desk.act(|inner, _| {
            inner.waiters.remove(&self.ticket);
            inner.engine.handle_cancel(self.ticket);
        });
    }
}

/// The right to run one call. Dropping it gives the slot back (G3).
pub(crate) struct HeldSlot {
    desk: Arc<Desk>,
    index: usize,
    waited: Duration,
    leaves_later: bool,
    progress: Arc<Progress>,
}

impl HeldSlot {
    /// How long the call waited for it.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// What is to tell when the call leaves; `None` of one that left as it started.
    pub(crate) fn departure(&self) -> Option<Departure> {
        let (desk, index, progress) = (Arc::clone(&self.desk), self.index, Arc::clone(&self.progress));
        self.leaves_later.then(|| Departure {
            desk,
            index,
            progress,
            watched: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            told: AtomicBool::new(false),
        })
    }

    /// Keeps the slot for a body, for as long as it moves.
    pub(crate) fn lease(self) -> Lease {
        Lease::new(Arc::clone(&self.progress), self)
    }
}

impl Drop for HeldSlot {
    fn drop(&mut self) {
        self.desk.act(|inner, _| {
            if let Some(slot) = inner.running.remove(self.index).slot {
                inner.engine.handle_end(slot);
            }
        });
    }
}

/// Tells the desk when a call leaves that may have had to connect first: the upstream sees spacing by what arrives
/// (G1).
pub(crate) struct Departure {
    desk: Arc<Desk>,
    index: usize,
    /// Whose it is, for the index may be another call's by now.
    progress: Arc<Progress>,
    /// Whoever writes the request to its socket tells.
    watched: AtomicBool,
    /// The request's head was taken to be written.
    begun: AtomicBool,
    told: AtomicBool,
}

#[cfg(feature = "proxy")]
impl Departure {
    /// Leaves it to the caller to [tell](Self::written) when the head is written, which is later than when it is
    /// [begun](Self::begin): a process that loses its core between the two would shorten the next gap.
    pub(crate) fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// The request's head goes to its socket next.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
        if !self.watched.load(Ordering::Relaxed) {
            self.tell();
        }
    }

    /// What had begun is written.
    pub(crate) fn written(&self) {
        if self.begun.load(Ordering::Relaxed) {
            self.tell();
        }
    }

    /// The first time it is told counts.
    fn tell(&self) {
        if self.told.swap(true, Ordering::Relaxed) {
            return;
        }
        self.desk.act(|inner, now| {
            let running = inner.running.get_mut(self.index);
            let own = running.filter(|running| Arc::ptr_eq(&running.progress, &self.progress));
            if let Some(slot) = own.and_then(|running| running.slot.as_mut()) {
                inner.engine.handle_sent(slot, now);
            }
        });
    }
}

/// The head of a response as it came in just now.
pub(crate) fn head<'a>(status: http::StatusCode, headers: &'a http::HeaderMap) -> Head<'a> {
    Head { status, headers, wall: SystemTime::now() }
}

fn jitter() -> Jitter {
    Jitter::new(rand::random())
}

/// A ticket that the engine does not know any more: only a shared call whose callers have all gone has one.
fn gone() -> Refusal {
    Refusal::WaitExceeded { waited: Duration::ZERO, needed: None }
}

/// How often bodies are looked at: often enough that a stall ends within 1.25 of its time.
fn sweep_pause(stall: Duration) -> Duration {
    (stall / 4).max(Duration::from_millis(10))
}
