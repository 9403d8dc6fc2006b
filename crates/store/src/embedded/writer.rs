//! Writes the journal in groups: whatever has gathered during one commit goes into the next.
//!
//! The writer runs as a blocking task while there is something to write, rather than as a thread that waits: tokio
//! holds a test's paused clock still while a blocking task runs, so virtual time never races a real disk.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tracing::{error, info};

use super::error::CloseError;
use super::journal::Journal;
use super::metrics;
use super::rows::Row;

impl Journal {
    /// Starts writing. At most one writer runs: the caller has made sure of it.
    pub(super) fn start_writer(self: &Arc<Self>) {
        let journal = Arc::clone(self);
        self.runtime.spawn_blocking(move || journal.write_all());
    }

    /// Writes everything that is left, closes the file and lets go of the directory.
    ///
    /// Blocks for as long as the disk takes.
    pub(super) fn finish(&self) -> Result<(), CloseError> {
        self.close();
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut file) = slot.take() else { return Ok(()) };
        let mut failed = None;
        while failed.is_none()
            && let Some(batch) = self.take_batch()
        {
            failed = self.write(&mut file, batch).err();
        }
        let rows = self.give_up();
        let closed = file.close();
        match failed.or(closed.err()) {
            Some(error) => Err(CloseError { rows, detail: error.to_string() }),
            None => Ok(()),
        }
    }

    fn write_all(self: &Arc<Self>) {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = slot.as_mut() else { return };
        while let Some(batch) = self.take_batch() {
            if let Err(error) = self.write(file, batch) {
                error!(%error, "the store cannot be written: no new seats until it can");
                self.try_again_later();
                return;
            }
        }
    }

    fn write(&self, file: &mut super::file::SeatsFile, batch: Vec<Row>) -> rusqlite::Result<()> {
        let began = Instant::now();
        let limit = self.max_bytes.load(Ordering::Relaxed);
        let written = file.limit((limit > 0).then_some(limit)).and_then(|()| file.commit(&batch));
        if let Err(error) = written {
            self.put_back(batch);
            return Err(error);
        }
        if self.is_away() && !self.is_closed() {
            info!("the store can be written again");
        }
        self.totals.commits.fetch_add(1, Ordering::Relaxed);
        self.totals.rows.fetch_add(batch.len() as u64, Ordering::Relaxed);
        metrics::committed(batch.len(), began.elapsed());
        self.landed();
        Ok(())
    }

    fn try_again_later(self: &Arc<Self>) {
        let journal = Arc::clone(self);
        self.runtime.spawn(async move {
            tokio::time::sleep(TRY_AGAIN).await;
            journal.start_writer();
        });
    }
}

/// The pause between two tries while the store is away (D2).
const TRY_AGAIN: Duration = Duration::from_secs(1);
