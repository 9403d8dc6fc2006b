//! How late this process runs: what its viewers see late may be its own doing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// A timer that is asked every 20 ms how late it is.
pub(crate) struct Probe {
    late: Arc<Mutex<Vec<Duration>>>,
    asking: JoinHandle<()>,
}

impl Probe {
    pub(crate) fn start() -> Self {
        let late = Arc::<Mutex<Vec<Duration>>>::default();
        let noted = Arc::clone(&late);
        let asking = tokio::spawn(async move {
            loop {
                let due = Instant::now() + EVERY;
                sleep_until(due).await;
                noted.lock().unwrap_or_else(PoisonError::into_inner).push(due.elapsed());
            }
        });
        Self { late, asking }
    }

    /// Ends it: nine of ten timers were less late than this.
    pub(crate) fn p90_ms(self) -> f64 {
        self.asking.abort();
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner).clone();
        late.sort_unstable();
        late.get(late.len() * 9 / 10).map_or(0.0, |late| late.as_secs_f64() * 1e3)
    }
}

const EVERY: Duration = Duration::from_millis(20);
