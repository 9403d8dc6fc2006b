//! Pass-through side by side: our gate beside a bare hyper proxy, nginx, HAProxy and Envoy, in the same run.
//!
//! Each request has a query of its own, so that nothing is shared; sharing is what [`collapse`] measures.

mod collapse;
mod floor;
mod load;
mod origin;
pub(crate) mod peers;
mod soak;
mod wire;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

pub(crate) use floor::serve as serve_floor;
pub(crate) use origin::serve as serve_origin;
pub(crate) use soak::run as soak;

use crate::cpu;
use crate::http::median;
use peers::{GATE, Peer};

/// One kind of answer, and how it is asked for.
struct Kind {
    name: &'static str,
    path: &'static str,
    /// The closed loop: so many connections, so many requests in all.
    connections: usize,
    requests: usize,
    /// The open loop: a rate far below what the slowest can do.
    per_second: u32,
}

const KINDS: [Kind; 2] = [
    Kind { name: "1 KiB", path: "/1kib", connections: 32, requests: 20_000, per_second: 2_000 },
    Kind { name: "1 MiB", path: "/1mib", connections: 8, requests: 500, per_second: 100 },
];
/// Length of an open loop.
const OPEN: Duration = Duration::from_secs(3);
/// The bound on CPU a request, against the floor of the same round.
const BOUND: f64 = 1.15;

pub(crate) fn run(tidegate: &Path, rounds: usize) -> anyhow::Result<()> {
    ensure!(rounds > 0, "at least one round");
    let folder = tempfile::tempdir()?;
    let origin = peers::start_origin()?;
    let peers = peers::start_all(tidegate, origin.address, folder.path())?;
    // This process drives from core 1, so that it never takes time from a proxy.
    let pinned =
        Command::new("taskset").args(["-apc", "1", &std::process::id().to_string()]).stdout(Stdio::null()).status()?;
    ensure!(pinned.success(), "taskset could not pin the load to core 1");
    let mut over = Vec::new();
    for kind in &KINDS {
        let seen = measure(kind, &peers, rounds)?;
        over.extend(summarise(kind, &peers, &seen));
    }
    over.extend(collapse::run(&peers, origin.address, folder.path(), rounds)?);
    ensure!(peers.iter().any(|peer| peer.name == GATE), "the gate was not measured, so no bound was checked");
    if !over.is_empty() {
        bail!("over the bound: {}", over.join(", "));
    }
    Ok(())
}

/// One proxy in one round.
#[derive(Clone, Copy)]
struct Seen {
    /// CPU microseconds a request in the closed loop and in the open one.
    closed_us: f64,
    open_us: f64,
    p50: Duration,
    p99: Duration,
}

/// Rounds of proxies, in the order of `peers`.
fn measure(kind: &Kind, peers: &[Peer], rounds: usize) -> anyhow::Result<Vec<Vec<Seen>>> {
    println!(
        "\n{}: closed loop of {} requests on {} connections; open loop at {}/s for {OPEN:?}",
        kind.name, kind.requests, kind.connections, kind.per_second
    );
    println!("round  proxy          closed us/req  open us/req   p50 ms   p99 ms");
    let mut all = Vec::new();
    for round in 0..rounds {
        // There and back, so that a machine that grows slower favours nobody.
        let mut places: Vec<usize> = (0..peers.len()).collect();
        if round % 2 == 1 {
            places.reverse();
        }
        let mut row = vec![None; peers.len()];
        for place in places {
            let peer = &peers[place];
            let seen = look(kind, peer).with_context(|| format!("measuring {}", peer.name))?;
            println!(
                "{:>5}  {:<13}  {:>13.2}  {:>11.2}  {:>7.3}  {:>7.3}",
                round + 1,
                peer.name,
                seen.closed_us,
                seen.open_us,
                millis(seen.p50),
                millis(seen.p99)
            );
            row[place] = Some(seen);
        }
        all.push(row.into_iter().flatten().collect());
    }
    Ok(all)
}

fn look(kind: &Kind, peer: &Peer) -> anyhow::Result<Seen> {
    // Connections to the origin are made, and caches are warm.
    load::closed(peer.target, kind.path, kind.connections, kind.requests / 10)?;
    let before = peer.run_time()?;
    load::closed(peer.target, kind.path, kind.connections, kind.requests)?;
    let between = peer.run_time()?;
    let mut times = load::open(peer.target, kind.path, kind.per_second, OPEN)?;
    let after = peer.run_time()?;
    times.sort();
    Ok(Seen {
        closed_us: (between - before).as_secs_f64() * 1e6 / kind.requests as f64,
        open_us: (after - between).as_secs_f64() * 1e6 / times.len() as f64,
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
    })
}

/// Prints medians and ratios within the rounds; names what is over the bound.
fn summarise(kind: &Kind, peers: &[Peer], rounds: &[Vec<Seen>]) -> Option<String> {
    let floor = peers.iter().position(|peer| peer.name == peers::FLOOR)?;
    println!("\n{}: medians of {} rounds; ratios to bare hyper within each round", kind.name, rounds.len());
    println!("proxy          closed us/req  ratio  more us  open us/req  ratio   p50 ms   p99 ms");
    let mut over = None;
    for (place, peer) in peers.iter().enumerate() {
        let middle = |value: &dyn Fn(&[Seen]) -> f64| median(rounds.iter().map(|round| value(round)).collect());
        let ratio = middle(&|round| round[place].closed_us / round[floor].closed_us);
        // The service itself is no proxy: only its times say something.
        let cost = |value: f64| if peer.server.is_some() { format!("{value:.2}") } else { "-".to_owned() };
        println!(
            "{:<13}  {:>13}  {:>5}  {:>7}  {:>11}  {:>5}  {:>7.3}  {:>7.3}",
            peer.name,
            cost(middle(&|round| round[place].closed_us)),
            cost(ratio),
            cost(middle(&|round| round[place].closed_us - round[floor].closed_us)),
            cost(middle(&|round| round[place].open_us)),
            cost(middle(&|round| round[place].open_us / round[floor].open_us)),
            middle(&|round| millis(round[place].p50)),
            middle(&|round| millis(round[place].p99)),
        );
        if peer.name == GATE && ratio > BOUND {
            over = Some(format!("{} at {ratio:.3} x the floor, which is over {BOUND}", kind.name));
        }
    }
    over
}

impl Peer {
    fn run_time(&self) -> anyhow::Result<Duration> {
        self.server.as_ref().map_or(Ok(Duration::ZERO), |server| cpu::run_time(server.process.id()))
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
