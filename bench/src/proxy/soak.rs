//! The gate at its full rate for minutes, with keys and operations that never come twice: its memory stays where it was.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::peers;
use super::wire::{Line, Target};
use crate::memory::resident_kib;

pub(crate) fn run(tidegate: &Path, seconds: u64) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let origin = peers::start_origin()?;
    let gate = peers::start_gate(tidegate, origin.address, folder.path(), "")?;
    let target = Target { address: gate.address, prefix: "/origin" };
    let (calls, length) = (Arc::new(AtomicU64::new(0)), Duration::from_secs(seconds));
    let load = {
        let calls = Arc::clone(&calls);
        std::thread::spawn(move || drive(target, &calls, length))
    };
    println!("seconds      calls  resident MiB");
    let (start, mut resident) = (Instant::now(), Vec::new());
    while !load.is_finished() {
        std::thread::sleep(length / LOOKS);
        resident.push(resident_kib(gate.process.id())? as f64 / 1024.0);
        let (passed, calls) = (start.elapsed().as_secs(), calls.load(Ordering::Relaxed));
        println!("{passed:>7}  {calls:>9}  {:>12.1}", resident[resident.len() - 1]);
    }
    load.join().ok().context("the load panicked")??;
    // By a quarter of the time every bounded memory of the gate is full, and the allocator has what it needs.
    let (filling, full) = resident.split_at(resident.len() / 4);
    let (early, late) = (most(&full[..filling.len()]), most(&full[full.len() - filling.len()..]));
    println!("second quarter at most {early:.1} MiB, last quarter at most {late:.1} MiB");
    ensure!(late <= early * GROWTH, "memory grew by more than a twentieth");
    Ok(())
}

/// A closed loop; now and then a caller goes away in the middle of its call.
fn drive(target: Target, calls: &Arc<AtomicU64>, length: Duration) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let end = Instant::now() + length;
        let connections = (0..CONNECTIONS).map(|_| {
            let calls = Arc::clone(calls);
            tokio::spawn(async move {
                let mut line = Line::open(target).await?;
                while Instant::now() < end {
                    let number = calls.fetch_add(1, Ordering::Relaxed);
                    if number.is_multiple_of(LEAVES) {
                        line.send(&request(target, "/late", number)).await?;
                        line = Line::open(target).await?;
                    } else {
                        line.call(&request(target, "/1kib", number)).await?;
                    }
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

/// A call of a key, an operation and a query of its own.
fn request(target: Target, path: &str, number: u64) -> Vec<u8> {
    format!(
        "GET {}{path}?n={number} HTTP/1.1\r\nhost: {}\r\ntidegate-key: key-{number}\r\n\
         tidegate-operation: operation-{number}\r\n\r\n",
        target.prefix, target.address
    )
    .into_bytes()
}

fn most(resident: &[f64]) -> f64 {
    resident.iter().copied().fold(0.0, f64::max)
}

const CONNECTIONS: usize = 32;
/// One call in so many is left by its caller.
const LEAVES: u64 = 50;
/// Looks at the memory in the whole time.
const LOOKS: u32 = 60;
const GROWTH: f64 = 1.05;
