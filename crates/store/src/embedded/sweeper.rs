//! Lets time pass in every house: expires what is due even where nobody asks.

use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use tidegate_seats::Swept;

use super::desk::Desk;
use super::journal::Journal;
use super::registry::Registry;

/// Sweeps until the store is dropped or closed.
///
/// It never holds the store itself: whoever drops that finds the directory free at once.
pub(super) async fn run(registry: Weak<RwLock<Registry>>, journal: Arc<Journal>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(desks) = desks(&registry) else { return };
        if journal.is_closed() {
            return;
        }
        journal.watch();
        for desk in desks {
            // While the store is away nobody's time runs, and the houses forgive the gap (D2).
            while !journal.is_away() && sweep(&desk) == Swept::More {
                tokio::task::yield_now().await;
            }
        }
    }
}

fn desks(registry: &Weak<RwLock<Registry>>) -> Option<Vec<Arc<Desk>>> {
    let registry = registry.upgrade()?;
    let registry = registry.read().unwrap_or_else(PoisonError::into_inner);
    Some(registry.desks.values().cloned().collect())
}

/// One bounded round, so that no call waits long for the lock.
fn sweep(desk: &Desk) -> Swept {
    let mut at_desk = desk.take();
    let swept = at_desk.sweep();
    at_desk.publish();
    swept
}

/// Between two rounds. Well under the 3 s that count as an outage, and small beside the 2 s within which a freed
/// seat's session ends (T6).
const EVERY: Duration = Duration::from_millis(100);
