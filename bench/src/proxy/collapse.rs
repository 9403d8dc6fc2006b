//! Identical calls at once: how many reach the service, and how long the answers take.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::load::{burst, unique};
use super::millis;
use super::origin::LATE;
use super::peers::{Peer, SHARING, start_nginx_lock};
use super::wire::{Target, ThreadLine};
use crate::http::median;

/// Identical calls at once.
const CALLS: usize = 200;

/// The last answer's time, against one call's.
const BOUND: f64 = 1.1;

/// Prints what became of them; says in which way ours is over its bounds.
pub(crate) fn run(peers: &[Peer], origin: SocketAddr, folder: &Path, rounds: usize) -> anyhow::Result<Option<String>> {
    let direct = Target { address: origin, prefix: "" };
    let mut rows = vec![("direct", direct)];
    rows.extend(peers.iter().filter(|peer| peer.name == SHARING).map(|peer| (peer.name, peer.target)));
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
    let mut over = None;
    for (name, target) in rows {
        let seen = (0..rounds).map(|_| collapse(direct, target)).collect::<anyhow::Result<Vec<_>>>();
        let seen = seen.with_context(|| format!("collapsing through {name}"))?;
        let calls = median(seen.iter().map(|seen| seen.calls as f64).collect());
        let p50 = median(seen.iter().map(|seen| millis(seen.p50)).collect());
        let max = median(seen.iter().map(|seen| millis(seen.max)).collect());
        println!("{name:<22}  {calls:>14}  {p50:>8.1}  {max:>8.1}");
        if name == SHARING && (calls > 1.0 || max > BOUND * millis(LATE)) {
            over = Some(format!("{CALLS} identical calls at {calls} upstream calls and {max:.1} ms"));
        }
    }
    Ok(over)
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
