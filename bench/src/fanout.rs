//! A chat's fan-out beside nchan's: thousands of viewers of one room, the same rows, the same client, in the same run.
//!
//! Delivery is timed from the moment at which the server was handed a row (the answer of the stand-in that its room
//! polled, or the post) to the moment at which a viewer has read it. CPU is the scheduler's run time of the whole
//! server, polls and posts included, over what was delivered meanwhile.

mod audience;
mod host;
mod source;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

pub(crate) use host::serve as serve_room;

use crate::cpu;
use crate::http::median;
use crate::memory::resident_kib;
use audience::{Audience, open_deaf};
use source::{Release, Sender, Source};

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) seconds: u64,
    pub(crate) viewers: usize,
}

/// The spec's shape: three rounds of a minute with 5,000 viewers. Rule C9.
pub(crate) const PLAN: Plan = Plan { rounds: 3, seconds: 60, viewers: 5_000 };

/// One server in one round.
#[derive(Clone, Copy, Debug)]
struct Seen {
    cpu_us: f64,
    p50_ms: f64,
    p99_ms: f64,
    viewer_kib: f64,
    faults: u64,
}

pub(crate) fn run(tidegate: &Path, plan: Plan) -> anyhow::Result<()> {
    ensure!(plan.rounds > 0 && plan.seconds > 0 && plan.viewers > 0, "at least one of each");
    let folder = tempfile::tempdir()?;
    // This process reads, posts and stands in for YouTube on core 1, so that it never takes time from a server.
    let pinned =
        Command::new("taskset").args(["-apc", "1", &std::process::id().to_string()]).stdout(Stdio::null()).status()?;
    ensure!(pinned.success(), "taskset could not pin the load to core 1");
    let mut over = Vec::new();
    for (release, told) in [(Release::Single, "one by one"), (Release::Batch, "ten together, once a second")] {
        println!(
            "\n{} viewers, {} rows a second, {told}; {} s a round, server on core 0, viewers on core 1",
            plan.viewers,
            source::RATE,
            plan.seconds
        );
        println!("round  server    CPU us/delivery   p50 ms   p99 ms  KiB/viewer  faults");
        let mut rounds = Vec::new();
        for round in 0..plan.rounds {
            // There and back, so that a machine that grows slower favours nobody.
            let (first, second) = match round % 2 {
                0 => (Sender::Tidegate, Sender::Nchan),
                _ => (Sender::Nchan, Sender::Tidegate),
            };
            let [one, other] = [first, second].map(|sender| {
                let seen = look(sender, release, 0, tidegate, folder.path(), plan)?;
                seen.print(round, sender);
                anyhow::Ok(seen)
            });
            let (one, other) = (one?, other?);
            rounds.push(if first == Sender::Tidegate { (one, other) } else { (other, one) });
        }
        over.extend(summarise(release, &rounds));
        if release == Release::Single {
            println!("and once more beside {DEAF} viewers that never read:");
            look(Sender::Tidegate, release, DEAF, tidegate, folder.path(), plan)?.print(plan.rounds, Sender::Tidegate);
        }
    }
    if !over.is_empty() {
        bail!("over the bound: {}", over.join(", "));
    }
    Ok(())
}

fn look(
    sender: Sender,
    release: Release,
    deaf: usize,
    tidegate: &Path,
    folder: &Path,
    plan: Plan,
) -> anyhow::Result<Seen> {
    let source = Source::start(sender, release, tidegate, folder)?;
    let (server, pid) = (source.server.address, source.server.process.id());
    // The room is open, and what a process makes once is made.
    let _first = Audience::open(server, &source.path, 1)?;
    let empty = resident_kib(pid)?;
    let _deaf = open_deaf(server, &source.path, deaf)?;
    let mut audience = Audience::open(server, &source.path, plan.viewers)?;
    audience.watch(Instant::now() + SETTLING)?;

    audience.receipts.clear();
    let (begun, before) = (Instant::now(), cpu::run_time(pid)?);
    audience.watch(begun + Duration::from_secs(plan.seconds))?;
    let (ended, used) = (Instant::now(), cpu::run_time(pid)? - before);
    let deliveries = audience.receipts.len();
    // The last rows are on their way.
    audience.watch(ended + SETTLING)?;
    let full = resident_kib(pid)?;

    let given = source.given();
    let counted = |at: Instant| begun <= at && at < ended;
    let last = given.iter().filter(|(_, at)| counted(**at)).map(|(row, _)| *row).max().context("no row was given")?;
    let mut times: Vec<Duration> = Vec::with_capacity(audience.receipts.len());
    for receipt in &audience.receipts {
        let at = given.get(&receipt.row).copied().with_context(|| format!("row {} was never given", receipt.row))?;
        if counted(at) {
            times.push(receipt.at.saturating_duration_since(at));
        }
    }
    let rows = given.values().filter(|at| counted(**at)).count();
    times.sort_unstable();
    let missing = (rows * audience.len()).abs_diff(times.len()) as u64;
    let quantile =
        |share: usize| times.get(times.len() * share / 100).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    Ok(Seen {
        cpu_us: used.as_secs_f64() * 1e6 / deliveries as f64,
        p50_ms: quantile(50),
        p99_ms: quantile(99),
        viewer_kib: full.saturating_sub(empty) as f64 / audience.len() as f64,
        faults: audience.faults(last) + missing,
    })
}

impl Seen {
    fn print(&self, round: usize, sender: Sender) {
        let name = match sender {
            Sender::Tidegate => "tidegate",
            Sender::Nchan => "nchan",
        };
        println!(
            "{:>5}  {name:<8}  {:>15.2}  {:>7.1}  {:>7.1}  {:>10.2}  {:>6}",
            round + 1,
            self.cpu_us,
            self.p50_ms,
            self.p99_ms,
            self.viewer_kib,
            self.faults
        );
    }
}

/// Prints medians and ratios within the rounds; names what is over its bound.
fn summarise(release: Release, rounds: &[(Seen, Seen)]) -> Vec<String> {
    let middle = |value: &dyn Fn(&(Seen, Seen)) -> f64| median(rounds.iter().map(value).collect());
    let cpu = middle(&|(ours, nchan)| ours.cpu_us / nchan.cpu_us);
    let p99 = middle(&|(ours, nchan)| ours.p99_ms / nchan.p99_ms);
    let kib = middle(&|(ours, _)| ours.viewer_kib);
    println!("median ratios to nchan: CPU a delivery {cpu:.2}, p99 {p99:.2}; {kib:.2} KiB a viewer");
    let mut over = Vec::new();
    let mut hold = |what: &str, value: f64, bound: f64| {
        if value > bound {
            over.push(format!("{what} {value:.2} with {release:?} rows, at most {bound}"));
        }
    };
    hold("CPU ratio", cpu, RATIO);
    hold("p99 ratio", p99, RATIO);
    hold("KiB a viewer", kib, VIEWER_KIB);
    hold("faults", rounds.iter().map(|(ours, _)| ours.faults as f64).sum(), 0.0);
    over
}

/// The bound on CPU a delivery and on p99, against nchan in the same round. Rule C9; the goal for CPU is 0.75.
const RATIO: f64 = 1.0;
/// The bound on a viewer's memory, in KiB. Rule C9.
const VIEWER_KIB: f64 = 5.0;
/// Viewers that never read. Rule C9.
const DEAF: usize = 100;
/// Until all have begun to read, and until the last row is everywhere.
const SETTLING: Duration = Duration::from_secs(2);
