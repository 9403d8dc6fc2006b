//! The queue between the houses and the file.
//!
//! A house pushes its changes while it is locked, so the queue's order is the engine's order; each push is known by
//! a [`Ticket`]. The writer takes what is there, commits it, and wakes whoever waited for a ticket up to there.
//!
//! ```text
//!            push                 take                    landed
//!  house ───────────▶ pending ───────────▶ in flight ───────────────▶ durable, waiters wake
//!                        ▲                     │ failed: away, and again every second
//!                        └─────────────────────┘
//! ```

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use tidegate_seats::{Arrival, Change, StandingRecord, StreamId};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::error;

use super::file::SeatsFile;
use super::metrics;
use super::rows::Row;
use crate::StoreAway;

/// How far the journal must have come before an answer may leave. Later tickets are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// The queue, and the file that it is written to.
pub(super) struct Journal {
    queue: Mutex<Queue>,
    /// Locked only by whoever commits; `None` once closed.
    pub(super) file: Mutex<Option<SeatsFile>>,
    /// The last ticket that is durable.
    durable: AtomicU64,
    /// Nothing can be written now (D2).
    away: AtomicBool,
    pending: AtomicUsize,
    /// `file_max_bytes`; 0 for none.
    pub(super) max_bytes: AtomicU64,
    pub(super) totals: Totals,
    pub(super) runtime: Handle,
}

/// What was committed since the store was opened.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) commits: AtomicU64,
    pub(super) rows: AtomicU64,
}

struct Queue {
    rows: VecDeque<Row>,
    /// The ticket of the last row that left the queue.
    taken: u64,
    /// Sorted by ticket.
    waiters: VecDeque<Waiter>,
    /// A writer runs, or will run again by itself.
    writing: bool,
    /// Since when a commit is under way. Real time: a disk does not stand still with a test's clock.
    in_flight: Option<Instant>,
    /// While away: each entry's last row, so that renewals of one seat stay one row however long it takes.
    latest: Option<HashMap<(StreamId, Arrival), u64, RandomState>>,
    closed: bool,
}

struct Waiter {
    ticket: u64,
    since: tokio::time::Instant,
    /// Dropped to say that the store is away.
    wake: oneshot::Sender<()>,
}

impl Journal {
    pub(super) fn new(file: SeatsFile, max_bytes: Option<u64>, runtime: Handle) -> Self {
        Self {
            queue: Mutex::new(Queue::new()),
            file: Mutex::new(Some(file)),
            durable: AtomicU64::new(0),
            away: AtomicBool::new(false),
            pending: AtomicUsize::new(0),
            max_bytes: AtomicU64::new(max_bytes.unwrap_or(0)),
            totals: Totals::default(),
            runtime,
        }
    }

    /// Whether a call that changes something may begin (D2).
    pub(super) fn writable(&self) -> Result<(), StoreAway> {
        let crowded = self.pending.load(Ordering::Relaxed) > PENDING_MAX;
        if self.is_away() || crowded { Err(AWAY) } else { Ok(()) }
    }

    /// Whether the file cannot be written now. Nobody's time runs meanwhile.
    pub(super) fn is_away(&self) -> bool {
        self.away.load(Ordering::Acquire)
    }

    /// Queues rows behind all others and has them written; the ticket is that of the last one.
    pub(super) fn push(self: &Arc<Self>, rows: impl Iterator<Item = Row>) -> Ticket {
        let mut queue = self.queue();
        for row in rows {
            queue.push(row);
        }
        self.pending.store(queue.rows.len(), Ordering::Relaxed);
        let ticket = Ticket(queue.last());
        let idle = !queue.writing && !queue.closed && !queue.rows.is_empty();
        if idle {
            queue.writing = true;
        }
        drop(queue);
        if idle {
            self.start_writer();
        }
        ticket
    }

    /// Returns when everything up to the ticket is durable; at once when it is.
    pub(super) async fn durable(&self, ticket: Ticket) -> Result<(), StoreAway> {
        if self.durable.load(Ordering::Acquire) >= ticket.0 {
            return Ok(());
        }
        match self.wait_for(ticket) {
            Some(woken) => woken.await.map_err(|_| AWAY),
            None => Ok(()),
        }
    }

    /// Takes the next rows for a commit; with none left the writer is done, and the next push starts another.
    pub(super) fn take_batch(&self) -> Option<Vec<Row>> {
        let mut queue = self.queue();
        let n = queue.rows.len().min(BATCH_ROWS);
        if n == 0 {
            queue.writing = false;
            return None;
        }
        let batch: Vec<Row> = queue.rows.drain(..n).collect();
        queue.taken += n as u64;
        queue.in_flight = Some(Instant::now());
        self.pending.store(queue.rows.len(), Ordering::Relaxed);
        metrics::pending(queue.rows.len());
        Some(batch)
    }

    /// Everything taken so far is durable: wakes who waited for it.
    pub(super) fn landed(&self) {
        let mut queue = self.queue();
        queue.in_flight = None;
        queue.latest = None;
        self.durable.store(queue.taken, Ordering::Release);
        let woken = queue.take_waiters();
        self.set_away(&mut queue, false);
        drop(queue);
        for waiter in woken {
            // Whoever no longer waits needs no answer.
            let _ = waiter.wake.send(());
        }
    }

    /// The batch could not be written: it goes back to where it was, and the store is away.
    pub(super) fn put_back(&self, batch: Vec<Row>) {
        let mut queue = self.queue();
        queue.in_flight = None;
        queue.taken -= batch.len() as u64;
        for row in batch.into_iter().rev() {
            queue.rows.push_front(row);
        }
        self.pending.store(queue.rows.len(), Ordering::Relaxed);
        self.set_away(&mut queue, true);
    }

    /// Notices a commit that takes too long, and sends away those who have waited long enough for one.
    ///
    /// Called several times a second.
    pub(super) fn watch(&self) {
        let mut queue = self.queue();
        if queue.in_flight.is_some_and(|since| since.elapsed() >= PATIENCE) && !self.is_away() {
            error!("the disk does not answer: no new seats until it does");
            self.set_away(&mut queue, true);
        }
        if self.is_away() {
            let now = tokio::time::Instant::now();
            queue.waiters.retain(|waiter| now.duration_since(waiter.since) < PATIENCE);
        }
    }

    /// Takes no more rows, and sends everyone away who still waits once the rest has been tried.
    pub(super) fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        self.away.store(true, Ordering::Release);
    }

    /// Whether the journal takes no more rows.
    pub(super) fn is_closed(&self) -> bool {
        self.queue().closed
    }

    /// What nobody will write any more, and nobody may wait for.
    pub(super) fn give_up(&self) -> usize {
        let mut queue = self.queue();
        queue.waiters.clear();
        queue.rows.drain(..).count()
    }

    fn wait_for(&self, ticket: Ticket) -> Option<oneshot::Receiver<()>> {
        let (wake, woken) = oneshot::channel();
        let since = tokio::time::Instant::now();
        let mut queue = self.queue();
        // Under the lock, so that no commit lands between the look and the wait.
        if self.durable.load(Ordering::Acquire) >= ticket.0 {
            return None;
        }
        let gone = queue.closed && queue.rows.is_empty() && queue.in_flight.is_none();
        if !gone {
            queue.wait(Waiter { ticket: ticket.0, since, wake });
        }
        Some(woken)
    }

    fn set_away(&self, queue: &mut Queue, away: bool) {
        let away = away || queue.closed;
        if away && queue.latest.is_none() {
            queue.index();
        }
        if self.away.swap(away, Ordering::AcqRel) != away {
            metrics::away(away);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn new() -> Self {
        Self {
            rows: VecDeque::new(),
            taken: 0,
            waiters: VecDeque::new(),
            writing: false,
            in_flight: None,
            latest: None,
            closed: false,
        }
    }

    /// The ticket of the last row.
    fn last(&self) -> u64 {
        self.taken + self.rows.len() as u64
    }

    fn push(&mut self, row: Row) {
        if self.closed {
            return;
        }
        if let Some(row) = self.fold(row) {
            self.rows.push_back(row);
            self.note_last();
        }
    }

    /// While away, lets a row take the place of the same entry's older one; gives back what has none.
    ///
    /// Only where the entry stands as it stood: a row that tells of a new standing must not overtake those
    /// before it, or a crash between two commits could keep a seat given and not the one freed for it.
    fn fold(&mut self, row: Row) -> Option<Row> {
        let older = key_of(&row).and_then(|key| self.latest.as_ref()?.get(&key).copied());
        let older = older.and_then(|ticket| ticket.checked_sub(self.taken + 1));
        let Some(older) = older.and_then(|index| self.rows.get_mut(usize::try_from(index).ok()?)) else {
            return Some(row);
        };
        if standing_in(older) != standing_in(&row) {
            return Some(row);
        }
        *older = row;
        None
    }

    fn note_last(&mut self) {
        let last = self.last();
        let key = self.rows.back().and_then(key_of);
        if let (Some(latest), Some(key)) = (&mut self.latest, key) {
            latest.insert(key, last);
        }
    }

    fn index(&mut self) {
        let tickets = (self.taken + 1..).zip(&self.rows);
        self.latest = Some(tickets.filter_map(|(ticket, row)| Some((key_of(row)?, ticket))).collect());
    }

    fn wait(&mut self, waiter: Waiter) {
        // Nearly always at the end: few wait for less than the newest row.
        let at = self.waiters.partition_point(|other| other.ticket <= waiter.ticket);
        self.waiters.insert(at, waiter);
    }

    /// Whoever waits for what was taken.
    fn take_waiters(&mut self) -> Vec<Waiter> {
        let n = self.waiters.partition_point(|waiter| waiter.ticket <= self.taken);
        self.waiters.drain(..n).collect()
    }
}

fn key_of(row: &Row) -> Option<(StreamId, Arrival)> {
    match row {
        Row::Seats(Change::Entry(entry)) => Some((entry.stream.clone(), entry.arrival)),
        Row::Seats(_) | Row::Tenant { .. } | Row::Key { .. } | Row::Stream { .. } => None,
    }
}

fn standing_in(row: &Row) -> Option<StandingRecord> {
    match row {
        Row::Seats(Change::Entry(entry)) => Some(entry.standing),
        Row::Seats(_) | Row::Tenant { .. } | Row::Key { .. } | Row::Stream { .. } => None,
    }
}

/// What a call is told while the store is away. Twice the writer's own pause, so that the next try may find it back.
pub(super) const AWAY: StoreAway = StoreAway { retry: Duration::from_secs(2) };
/// How long a call waits for a store that is away before it is told so, and how long a commit may take before the
/// store counts as away: "nothing hangs" (D2).
const PATIENCE: Duration = Duration::from_secs(2);
/// Rows in one commit. A larger one makes everybody in it wait for longer than its fsync saves.
const BATCH_ROWS: usize = 1000;
/// With so many rows waiting, no call may add more; a house's own sweep may.
const PENDING_MAX: usize = 100_000;
