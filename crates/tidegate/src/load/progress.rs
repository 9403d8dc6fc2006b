//! One live line on a terminal; nothing where nobody watches.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::load::book::{Book, Phase};
use crate::load::viewer::Shared;

/// Shows how the run goes until the task is dropped.
pub(crate) async fn show(shared: &Shared, started: Instant) {
    if !stderr().is_terminal() {
        return std::future::pending().await;
    }
    let mut ticks = interval(Duration::from_millis(500));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut before = 0;
    loop {
        ticks.tick().await;
        let calls = shared.book().answers.values().sum::<u64>();
        let line = line(&shared.book(), started.elapsed(), shared.plan.seconds, (calls - before) * 2);
        before = calls;
        // The line is decoration: a closed terminal must not end the run.
        write!(stderr(), "\r\x1b[K{line}").ok();
    }
}

/// Takes the line away, before the summary.
pub(crate) fn clear() {
    if stderr().is_terminal() {
        write!(stderr(), "\r\x1b[K").ok();
    }
}

fn line(book: &Book, elapsed: Duration, of: u32, per_second: u64) -> String {
    format!(
        "{:>3}/{of} s  {} in  {} waiting  {} offered  {} away  {per_second} calls/s  {} without answer",
        elapsed.as_secs(),
        book.count(Phase::In),
        book.count(Phase::Waiting),
        book.count(Phase::Offered),
        book.count(Phase::Out),
        book.no_answers.values().sum::<u64>(),
    )
}
