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

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::error;

use super::backlog::Backlog;
use super::file::SeatsFile;
use super::metrics;
use super::rows::Row;
use crate::StoreAway;

/// How far the journal must have come before an answer may leave. Later tickets are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

impl Ticket {
    /// Of what a closed journal did not take.
    const NEVER: Self = Self(u64::MAX);
}

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

#[derive(Default)]
struct Queue {
    rows: Backlog,
    /// Sorted by ticket.
    waiters: VecDeque<Waiter>,
    /// A writer runs, or will run again by itself.
    writing: bool,
    /// Since when a commit is under way. Real time: a disk does not stand still with a test's clock.
    in_flight: Option<Instant>,
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
            queue: Mutex::new(Queue::default()),
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

    /// Queues what one call changed, to be written behind all others and at once; the ticket is that of its last row.
    pub(super) fn push(self: &Arc<Self>, rows: impl Iterator<Item = Row>) -> Ticket {
        let mut queue = self.queue();
        if queue.closed {
            return Ticket::NEVER;
        }
        queue.rows.push(rows);
        self.pending.store(queue.rows.len(), Ordering::Relaxed);
        let ticket = Ticket(queue.rows.last());
        let writer_runs = queue.writing || queue.rows.is_empty();
        queue.writing |= !writer_runs;
        drop(queue);
        if !writer_runs {
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
        let batch = queue.rows.take(BATCH_ROWS);
        if batch.is_empty() {
            queue.writing = false;
            return None;
        }
        queue.in_flight = Some(Instant::now());
        self.pending.store(queue.rows.len(), Ordering::Relaxed);
        metrics::pending(queue.rows.len());
        Some(batch)
    }

    /// Everything taken so far is durable: wakes who waited for it.
    pub(super) fn landed(&self) {
        let mut queue = self.queue();
        queue.in_flight = None;
        queue.rows.fold_no_more();
        self.durable.store(queue.rows.taken(), Ordering::Release);
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
        queue.rows.put_back(batch);
        self.pending.store(queue.rows.len(), Ordering::Relaxed);
        self.set_away(&mut queue, true);
    }

    /// Notices a commit that takes too long, and sends away those who have waited long enough for one.
    ///
    /// Called several times a second.
    pub(super) fn watch(&self) {
        self.watch_for(PATIENCE);
    }

    fn watch_for(&self, patience: Duration) {
        let mut queue = self.queue();
        if queue.in_flight.is_some_and(|since| since.elapsed() >= patience) && !self.is_away() {
            error!("the disk does not answer: no new seats until it does");
            self.set_away(&mut queue, true);
        }
        if self.is_away() {
            let now = tokio::time::Instant::now();
            queue.waiters.retain(|waiter| now.duration_since(waiter.since) < patience);
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
        queue.rows.clear()
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
        if away {
            queue.rows.fold_from_now();
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
    fn wait(&mut self, waiter: Waiter) {
        // Nearly always at the end: few wait for less than the newest row.
        let at = self.waiters.partition_point(|other| other.ticket <= waiter.ticket);
        self.waiters.insert(at, waiter);
    }

    /// Whoever waits for what was taken.
    fn take_waiters(&mut self) -> Vec<Waiter> {
        let n = self.waiters.partition_point(|waiter| waiter.ticket <= self.rows.taken());
        self.waiters.drain(..n).collect()
    }
}

/// What a call is told while the store is away. Twice the writer's own pause, so that the next try may find it back.
pub(super) const AWAY: StoreAway = StoreAway { retry: Duration::from_secs(2) };
/// How long a call waits for a store that is away before it is told so, and how long a commit may take before the
/// store counts as away: "nothing hangs" (D2).
const PATIENCE: Duration = Duration::from_secs(2);
/// Rows in one commit, unless one call alone has more: what a thousand asks at once leave behind (a seat and a peak
/// each). A larger one makes everybody in it wait for longer than its fsync saves.
const BATCH_ROWS: usize = 2_000;
/// With so many rows waiting, no call may add more; a house's own sweep may.
const PENDING_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use tidegate_seats::{Change, StreamId};

    use super::*;

    /// A journal whose writer is the test.
    fn journal(dir: &std::path::Path) -> Arc<Journal> {
        let (file, _) = SeatsFile::open(dir).unwrap();
        let journal = Journal::new(file, None, Handle::current());
        journal.queue().writing = true;
        Arc::new(journal)
    }

    fn rows(n: u32) -> impl Iterator<Item = Row> {
        let stream = StreamId::parse("s").unwrap();
        (0..n).map(move |peak| Row::Seats(Change::Peak { stream: stream.clone(), peak }))
    }

    #[tokio::test]
    async fn d2_a_disk_that_does_not_answer_is_away_until_it_does() {
        let dir = tempfile::tempdir().unwrap();
        let journal = journal(dir.path());
        let ticket = journal.push(rows(1));
        let waiter = tokio::spawn({
            let journal = Arc::clone(&journal);
            async move { journal.durable(ticket).await }
        });
        tokio::task::yield_now().await;
        journal.take_batch().unwrap();
        journal.watch();
        assert_eq!(journal.writable(), Ok(()));
        journal.watch_for(Duration::ZERO);
        assert_eq!(journal.writable(), Err(AWAY));
        assert_eq!(waiter.await.unwrap(), Err(AWAY));
        journal.landed();
        assert_eq!(journal.writable(), Ok(()));
        assert_eq!(journal.durable(ticket).await, Ok(()));
    }

    #[tokio::test]
    async fn d1_a_commit_wakes_those_it_covers_and_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let journal = journal(dir.path());
        let early = journal.push(rows(1));
        let woken = journal.wait_for(early).unwrap();
        journal.take_batch().unwrap();
        let late = journal.push(rows(1));
        let mut waits = journal.wait_for(late).unwrap();
        // Also who comes to wait for the earlier one only now.
        let woken_too = journal.wait_for(early).unwrap();
        journal.landed();
        assert_eq!((woken.await, woken_too.await), (Ok(()), Ok(())));
        waits.try_recv().unwrap_err();
        journal.take_batch().unwrap();
        journal.landed();
        assert_eq!(waits.await, Ok(()));
        assert!(journal.wait_for(late).is_none());
    }

    #[tokio::test]
    async fn d2_a_crowded_journal_takes_no_more_calls() {
        let dir = tempfile::tempdir().unwrap();
        let journal = journal(dir.path());
        journal.push(rows(100_000));
        assert_eq!(journal.writable(), Ok(()));
        journal.push(rows(1));
        assert_eq!(journal.writable(), Err(AWAY));
        journal.take_batch().unwrap();
        assert_eq!(journal.writable(), Ok(()));
    }

    #[tokio::test]
    async fn o9_a_closed_journal_promises_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let journal = journal(dir.path());
        journal.finish().unwrap();
        let ticket = journal.push(rows(1));
        assert_eq!(journal.durable(ticket).await, Err(AWAY));
    }
}
