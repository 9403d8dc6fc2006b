//! The running log: who is in flight, and who waits for it to change.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::clock::Clock;
use crate::log::{Entry, Log};

/// Written by the flights of requests, read by tests.
#[derive(Debug)]
pub(crate) struct Journal {
    clock: Clock,
    pages: Mutex<Pages>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Pages {
    log: Log,
    running: u32,
    /// Counts resets: a request of an earlier run changes `running` and no entry.
    run: u64,
}

impl Journal {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, pages: Mutex::default(), changed: watch::Sender::new(()) }
    }

    /// Notes an arrival; its time and the number in flight are filled in here, so that they are in order.
    pub(crate) fn arrive(self: &Arc<Self>, mut entry: Entry) -> Flight {
        let mut pages = self.pages();
        pages.running += 1;
        entry.at_ns = self.now_ns();
        entry.in_flight = pages.running;
        let place = pages.log.entries.len();
        let logged = place < ENTRIES_MAX;
        if logged {
            pages.log.entries.push(entry);
        } else {
            pages.log.unlogged += 1;
        }
        let flight =
            Flight { journal: self.clone(), run: pages.run, place: logged.then_some(place), slot: true, ended: false };
        drop(pages);
        self.changed.send_replace(());
        flight
    }

    pub(crate) fn log(&self) -> Log {
        self.pages().log.clone()
    }

    pub(crate) fn reset(&self) {
        let mut pages = self.pages();
        *pages = Pages { log: Log::default(), running: pages.running, run: pages.run + 1 };
    }

    /// Waits until the log is so, and returns it.
    pub(crate) async fn wait_until(&self, so: impl Fn(&Log) -> bool) -> Log {
        let mut changed = self.changed.subscribe();
        loop {
            {
                let pages = self.pages();
                if so(&pages.log) {
                    return pages.log.clone();
                }
            }
            // The sender is a part of this value.
            let _ = changed.changed().await;
        }
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.clock.now().as_nanos()).unwrap_or(u64::MAX)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes an entry, if it is of this run and was logged.
    fn change(&self, flight: &Flight, frees: bool, change: impl FnOnce(&mut Entry, u64)) {
        let now_ns = self.now_ns();
        let mut pages = self.pages();
        pages.running -= u32::from(frees);
        if flight.run == pages.run
            && let Some(entry) = flight.place.and_then(|place| pages.log.entries.get_mut(place))
        {
            change(entry, now_ns);
        }
        drop(pages);
        self.changed.send_replace(());
    }
}

/// One request between its arrival and the end of its answer, however that comes.
#[derive(Debug)]
pub(crate) struct Flight {
    journal: Arc<Journal>,
    run: u64,
    place: Option<usize>,
    slot: bool,
    ended: bool,
}

impl Flight {
    /// The head of the answer is given.
    pub(crate) fn head(&mut self, status: u16, streams: bool) {
        let frees = streams && std::mem::take(&mut self.slot);
        self.journal.change(self, frees, |entry, now_ns| {
            entry.answered_ns = Some(now_ns);
            entry.status = Some(status);
            entry.streams = streams;
        });
    }

    /// So many bytes of the request's body were read.
    pub(crate) fn read(&self, bytes: usize) {
        self.journal.change(self, false, |entry, _| entry.body_bytes += bytes as u64);
    }

    /// The answer ended.
    pub(crate) fn finish(&mut self) {
        self.end(true);
    }

    fn end(&mut self, whole: bool) {
        if !std::mem::replace(&mut self.ended, true) {
            let frees = std::mem::take(&mut self.slot);
            self.journal.change(self, frees, |entry, now_ns| {
                entry.ended_ns = Some(now_ns);
                entry.whole = whole;
            });
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Bounds the memory of a long run.
const ENTRIES_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Arc<Journal> {
        Arc::new(Journal::new(Clock::start()))
    }

    #[test]
    fn g3_a_slot_ends_with_the_answer_and_a_streams_with_its_head() {
        let journal = journal();
        let mut stream = journal.arrive(Entry::default());
        stream.head(200, true);
        let mut plain = journal.arrive(Entry::default());
        plain.head(200, false);
        let third = journal.arrive(Entry::default());
        plain.finish();
        drop(third);
        drop(journal.arrive(Entry::default()));
        let log = journal.log();
        assert_eq!(log.entries.iter().map(|entry| entry.in_flight).collect::<Vec<_>>(), [1, 1, 2, 1]);
        assert_eq!(log.entries.iter().map(|entry| entry.whole).collect::<Vec<_>>(), [false, true, false, false]);
        assert_eq!(log.entries[0].ended_ns, None);
    }

    #[test]
    fn a_request_of_an_earlier_run_still_counts_as_running_and_changes_no_entry() {
        let journal = journal();
        let mut old = journal.arrive(Entry::default());
        journal.reset();
        let _new = journal.arrive(Entry::default());
        old.head(429, false);
        drop(old);
        let log = journal.log();
        assert_eq!((log.len(), log.entries[0].in_flight, log.entries[0].status), (1, 2, None));
        drop(journal.arrive(Entry::default()));
        assert_eq!(journal.log().entries[1].in_flight, 2);
    }

    #[test]
    fn the_log_is_bounded() {
        let journal = journal();
        for _ in 0..ENTRIES_MAX + 3 {
            drop(journal.arrive(Entry::default()));
        }
        let log = journal.log();
        assert_eq!((log.len(), log.unlogged), (ENTRIES_MAX, 3));
    }
}
