//! Measures the relay's own load, each second (E5).

use std::convert::Infallible;
use std::time::Duration;

use tidegate_edge::{Busy, Reading, lag_of};
use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::time::{Instant, sleep_until};

/// Measures the runtime that it runs on, and hands each second's reading to `each`.
///
/// Busy is what tokio's workers count themselves. They count a task when it ends or yields, so one that never yields
/// shows late; the probes of the timer show it at once.
pub(crate) async fn measure(mut each: impl FnMut(Reading)) -> Infallible {
    let workers = Workers::of(Handle::current().metrics());
    let mut probes = Vec::with_capacity(PROBES);
    let (mut began, mut busy) = (Instant::now(), workers.busy());
    loop {
        let due = Instant::now() + PROBE;
        sleep_until(due).await;
        let now = Instant::now();
        probes.push(now.saturating_duration_since(due));
        let window = now.saturating_duration_since(began);
        if window >= SECOND {
            let before = std::mem::replace(&mut busy, workers.busy());
            each(Reading {
                busy: workers.share(busy.saturating_sub(before), window),
                lag: lag_of(&mut probes),
                window,
            });
            probes.clear();
            began = now;
        }
    }
}

/// The work threads of this runtime.
pub(crate) fn threads() -> usize {
    Handle::current().metrics().num_workers()
}

struct Workers {
    runtime: RuntimeMetrics,
    count: usize,
}

impl Workers {
    fn of(runtime: RuntimeMetrics) -> Self {
        Self { count: runtime.num_workers().max(1), runtime }
    }

    /// How long all of them together were busy since they began.
    fn busy(&self) -> Duration {
        (0..self.count).map(|worker| self.runtime.worker_total_busy_duration(worker)).sum()
    }

    fn share(&self, busy: Duration, window: Duration) -> Busy {
        let threads = u32::try_from(self.count).unwrap_or(u32::MAX);
        Busy::from_share(busy.as_secs_f64() / (window.as_secs_f64() * f64::from(threads)))
    }
}

/// Between two probes of the timer. Rule E5.
const PROBE: Duration = Duration::from_millis(20);
/// Rule E5.
const SECOND: Duration = Duration::from_secs(1);
/// A second has about this many probes.
const PROBES: usize = 50;
