//! Identical calls at once: how many reach the service, and how long the answers take.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::load::{burst, unique};
use super::millis;
use super::origin::LATE;
use super::peers::{GATE, Peer, start_nginx_lock};
use super::wire::{Target, ThreadLine};
use crate::http::median;

/// Identical calls at once.
const CALLS: usize = 200;

pub(crate) fn run(peers: &[Peer], origin: SocketAddr, folder: &Path, rounds: usize) -> anyhow::Result<()> {
    let direct = Target { address: origin, prefix: "" };
    let mut rows = vec![("direct", direct)];
    rows.extend(peers.iter().filter(|peer| peer.name == GATE).map(|peer| (peer.name, peer.target)));
    let lock = start_nginx_lock(origin, folder);
    match &lock {
        Ok((server, unstored)) => {
            rows.push(("nginx lock, stored", Target { address: server.address, prefix: "" }));
            rows.push(("nginx lock, not stored", Target { address: *unstored, prefix: "" }));
        }
        Err(error) => println!("nginx proxy_cache_lock: skipped: {error:#}"),
    }
    println!("\n{CALLS} identical GETs at once of an answer that takes {LATE:?}: medians of {rounds} rounds");
    println!("                        upstream calls    p50 ms    max ms");
    for (name, target) in rows {
        let seen = (0..rounds).map(|_| collapse(direct, target)).collect::<anyhow::Result<Vec<_>>>();
        let seen = seen.with_context(|| format!("collapsing through {name}"))?;
        println!(
            "{name:<22}  {:>14}  {:>8.1}  {:>8.1}",
            median(seen.iter().map(|seen| seen.calls as f64).collect()),
            median(seen.iter().map(|seen| millis(seen.p50)).collect()),
            median(seen.iter().map(|seen| millis(seen.max)).collect()),
        );
    }
    Ok(())
}

struct Seen {
    calls: u64,
    p50: Duration,
    max: Duration,
}

fn collapse(direct: Target, target: Target) -> anyhow::Result<Seen> {
    let before = calls(direct)?;
    let mut times = burst(target, &unique("/late"), CALLS)?;
    times.sort();
    Ok(Seen { calls: calls(direct)? - before, p50: times[CALLS / 2], max: times[CALLS - 1] })
}

/// Calls of the late answer that the origin has seen.
fn calls(direct: Target) -> anyhow::Result<u64> {
    let mut line = ThreadLine::open(direct)?;
    let answer = line.call(&direct.get("/late/calls"))?;
    let digits = answer.rsplit(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
    Ok(std::str::from_utf8(digits)?.parse()?)
}
