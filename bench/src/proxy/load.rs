//! Three loads: closed for CPU, open for latency, and all at once for collapsing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::sync::Barrier;

use super::wire::{Line, Target, ThreadLine};

/// As many requests as there are, each connection sending its next when it has its answer.
pub(crate) fn closed(target: Target, path: &'static str, connections: usize, requests: usize) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let started = Arc::new(AtomicUsize::new(0));
        let connections = (0..connections).map(|_| {
            let started = started.clone();
            tokio::spawn(async move {
                let mut line = Line::open(target).await?;
                while started.fetch_add(1, Ordering::Relaxed) < requests {
                    line.call(&target.get(&unique(path))).await?;
                }
                anyhow::Ok(())
            })
        });
        for connection in connections.collect::<Vec<_>>() {
            connection.await??;
        }
        Ok(())
    })
}

/// Requests at fixed times, whatever the answers do; each is timed from when it was due, so that a stall counts for
/// all that it delays.
///
/// Threads, because a thread's sleep is exact to a tenth of a millisecond and a runtime's timer only to one.
pub(crate) fn open(
    target: Target,
    path: &'static str,
    per_second: u32,
    length: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let lines = (0..OPEN_LINES).map(|_| ThreadLine::open(target)).collect::<anyhow::Result<Vec<_>>>()?;
    let every = Duration::from_secs(1) / per_second;
    let start = Instant::now() + Duration::from_millis(20);
    let threads = (0_u32..).zip(lines).map(|(place, mut line)| {
        std::thread::spawn(move || {
            let mut times = Vec::new();
            let mut due = every * place;
            while due < length {
                std::thread::sleep((start + due).saturating_duration_since(Instant::now()));
                line.call(&target.get(&unique(path)))?;
                times.push((start + due).elapsed());
                due += every * OPEN_LINES;
            }
            anyhow::Ok(times)
        })
    });
    let mut times = Vec::new();
    for thread in threads.collect::<Vec<_>>() {
        times.extend(thread.join().ok().context("a thread of the load panicked")??);
    }
    Ok(times)
}

/// The same request on so many open connections at once; how long each answer took.
pub(crate) fn burst(target: Target, path: &str, connections: usize) -> anyhow::Result<Vec<Duration>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let request: Arc<[u8]> = target.get(path).into();
    let open = Arc::new(Barrier::new(connections));
    runtime.block_on(async {
        let calls = (0..connections).map(|_| {
            let (request, open) = (request.clone(), open.clone());
            tokio::spawn(async move {
                let line = Line::open(target).await;
                open.wait().await;
                let start = Instant::now();
                line?.call(&request).await?;
                anyhow::Ok(start.elapsed())
            })
        });
        let mut times = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            times.push(call.await??);
        }
        Ok(times)
    })
}

/// A path that nobody asked for before.
pub(crate) fn unique(path: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{path}?n={}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Connections of the open loop: none is needed again before its last answer came, unless something stalls.
const OPEN_LINES: u32 = 64;
