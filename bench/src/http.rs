//! CPU a request: heartbeats and waiting asks beside a bare axum endpoint.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use hyper::StatusCode;

use crate::cpu::Threads;
use crate::drive::{Line, post_all};

/// Viewers seated and waiting: enough that each speaks seldom, as real ones do, and the caches are cold.
const SEATED: usize = 10_000;
const WAITING: usize = 40_000;
/// Requests of one kind in one round: a third of a second, so that a neighbour's work mostly falls on all
/// kinds of a round alike.
const REQUESTS: usize = 8_000;
const CONNECTIONS: usize = 32;
/// The spec's bound on CPU a request, against the floor of the same round.
const BOUND: f64 = 1.15;

pub(crate) fn run(tidegate: &Path, rounds: usize) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let data = tempfile::tempdir()?;
    let floor = Server::start(
        Command::new("taskset").args(["-c", "0"]).arg(std::env::current_exe()?).args(["floor", "127.0.0.1:0"]),
        |line| line.strip_prefix("listening on ")?.parse().ok(),
    )?;
    let ours = start_tidegate(tidegate, data.path())?;
    // This process drives from core 1, so that it never takes time from a server.
    let pinned =
        Command::new("taskset").args(["-apc", "1", &std::process::id().to_string()]).stdout(Stdio::null()).status()?;
    ensure!(pinned.success(), "taskset could not pin the load to core 1");
    runtime.block_on(measure(&floor, &ours, rounds))
}

async fn measure(floor: &Server, ours: &Server, rounds: usize) -> anyhow::Result<()> {
    let stream = fill(ours.address).await?;
    println!("{SEATED} seated, {WAITING} waiting; {REQUESTS} requests a kind and round, {CONNECTIONS} connections");
    println!("round  axum us/req    hb us/req    ratio  waiting us/req    ratio");
    let mut ratios = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        let (seated, waiting) = (turn(&stream.seated, round), turn(&stream.waiting, round));
        let base = cost(floor, &stream.hb, &seated, StatusCode::OK).await?;
        let beat = cost(ours, &stream.hb, &seated, StatusCode::OK).await?;
        let wait = cost(ours, &stream.admit, &waiting, StatusCode::CONFLICT).await?;
        println!("{round:>5}  {base:>11.2}  {beat:>11.2}  {:>7.3}  {wait:>14.2}  {:>7.3}", beat / base, wait / base);
        ratios.0.push(beat / base);
        ratios.1.push(wait / base);
    }
    let (beat, wait) = (median(ratios.0), median(ratios.1));
    println!("median ratio to bare axum: hb {beat:.3}, waiting ask {wait:.3} (bound {BOUND})");
    if beat > BOUND || wait > BOUND {
        bail!("over the bound");
    }
    Ok(())
}

/// CPU microseconds of the server a request.
async fn cost(server: &Server, path: &Arc<str>, bodies: &Arc<[Bytes]>, status: StatusCode) -> anyhow::Result<f64> {
    let before = Threads::of(server.process.id())?;
    post_all(server.address, path, Arc::clone(bodies), CONNECTIONS, status).await?;
    let used = Threads::of(server.process.id())?.since(&before);
    Ok(used.as_secs_f64() * 1e6 / REQUESTS as f64)
}

/// The viewers whose turn it is in a round: all have theirs, so that none lapses.
fn turn(bodies: &[Bytes], round: usize) -> Arc<[Bytes]> {
    bodies.iter().cycle().skip(round * REQUESTS % bodies.len()).take(REQUESTS).cloned().collect()
}

/// A filled stream: its paths, and one body for each seated and each waiting viewer.
struct Filled {
    admit: Arc<str>,
    hb: Arc<str>,
    seated: Vec<Bytes>,
    waiting: Vec<Bytes>,
}

async fn fill(server: SocketAddr) -> anyhow::Result<Filled> {
    let mut line = Line::open(server).await?;
    let settings = format!(r#"{{"name":"bench","viewer_cap":{SEATED},"queue_max":{WAITING}}}"#);
    let (status, body) = line.post("/v1/streams", settings.into(), Some(KEY)).await?;
    ensure!(status == StatusCode::CREATED, "POST /v1/streams answered {status}: {}", String::from_utf8_lossy(&body));
    let id = text(&body, "id")?;
    let admit: Arc<str> = format!("/v1/play/{id}/admit").into();
    let newcomers = |count| vec![Bytes::from_static(br#"{"hidden":true}"#); count].into();
    let seated = post_all(server, &admit, newcomers(SEATED), 256, StatusCode::CREATED).await?;
    let waiting = post_all(server, &admit, newcomers(WAITING), 256, StatusCode::CONFLICT).await?;
    Ok(Filled {
        admit,
        hb: format!("/v1/play/{id}/hb").into(),
        seated: seat_bodies(&seated)?,
        waiting: seat_bodies(&waiting)?,
    })
}

/// Hidden tabs, so that nobody lapses while the others are measured.
fn seat_bodies(answers: &[Bytes]) -> anyhow::Result<Vec<Bytes>> {
    answers.iter().map(|answer| Ok(format!(r#"{{"seat":"{}","hidden":true}}"#, text(answer, "seat")?).into())).collect()
}

fn text(answer: &[u8], field: &str) -> anyhow::Result<String> {
    let answer: serde_json::Value = serde_json::from_slice(answer)?;
    Ok(answer[field].as_str().with_context(|| format!("no {field} in {answer}"))?.to_owned())
}

pub(crate) fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// A server process, ended with this value.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts a command and reads its output until `find` sees the address.
    pub(crate) fn start(command: &mut Command, find: impl Fn(&str) -> Option<SocketAddr>) -> anyhow::Result<Self> {
        let mut process = command.stdout(Stdio::piped()).spawn().context("starting a server")?;
        let mut lines = BufReader::new(process.stdout.take().context("a piped output")?).lines();
        while let Some(line) = lines.next().transpose()? {
            if let Some(address) = find(&line) {
                // The rest is read and dropped, so that the server never waits for a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Self { process, address });
            }
        }
        bail!("a server ended before it said its address")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is already gone, or is going now.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts ours in `data`, with one worker as the floor has, and no limit a load from one address would meet.
fn start_tidegate(tidegate: &Path, data: &Path) -> anyhow::Result<Server> {
    let config = data.join("bench.toml");
    std::fs::write(&config, CONFIG)?;
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(tidegate).args([
        "up",
        "--listen",
        "127.0.0.1:0",
        "--gate-listen",
        "off",
        "--relay-listen",
        "off",
        "--key",
        KEY,
    ]);
    command.arg("--data");
    command.arg(data.join("data")).arg("--config").arg(config).env("TOKIO_WORKER_THREADS", "1");
    Server::start(&mut command, |line| {
        let (_, rest) = line.split_once("http://")?;
        rest.split(|c: char| c.is_whitespace() || c == '/').next()?.parse().ok()
    })
}

const KEY: &str = "bench-key-0123456789abcdef0123456789abcdef";
const CONFIG: &str = r#"
[control]
exempt_networks = ["127.0.0.0/8"]

[seats]
max_places = 100000
"#;
