//! What an operator sees of the store.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

/// A commit reached the disk.
pub(super) fn committed(rows: usize, took: Duration) {
    counter!("tidegate_store_commits_total").increment(1);
    histogram!("tidegate_store_commit_rows").record(rows as f64);
    histogram!("tidegate_store_commit_seconds").record(took);
}

/// Rows that wait for the commit after the one under way.
pub(super) fn pending(rows: usize) {
    gauge!("tidegate_store_pending_rows").set(rows as f64);
}

/// 1 while the store cannot be written.
pub(super) fn away(away: bool) {
    gauge!("tidegate_store_away").set(if away { 1.0 } else { 0.0 });
}
