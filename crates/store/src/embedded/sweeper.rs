//! Lets time pass in every house: expires what is due even where nobody asks.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tidegate_seats::Swept;

use super::{Desk, Embedded};

/// Sweeps until the store is dropped or closed.
pub(super) async fn run(store: Weak<Embedded>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(store) = store.upgrade() else { return };
        if store.journal.is_closed() {
            return;
        }
        store.journal.watch();
        for desk in store.desks() {
            // While the store is away nobody's time runs, and the houses forgive the gap (D2).
            while !store.journal.is_away() && sweep(&desk) == Swept::More {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// One bounded round, so that no call waits long for the lock.
fn sweep(desk: &Arc<Desk>) -> Swept {
    let mut at_desk = desk.take();
    let swept = at_desk.sweep();
    at_desk.publish();
    swept
}

/// Between two rounds. Well under the 3 s that count as an outage, and small beside the 2 s within which a freed
/// seat's session ends (T6).
const EVERY: Duration = Duration::from_millis(100);
