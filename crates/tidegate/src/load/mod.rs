//! `tidegate load`: many viewers that behave as pages do, and a check of what they were promised.

mod book;
mod client;
mod judge;
mod plan;
mod progress;
mod stats;
mod summary;
mod told;
mod viewer;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::failure::{Failure, OrSay, Outcome};
use crate::load::book::{Book, Ledger};
use crate::load::client::{Line, NoAnswer, own_address};
use crate::load::plan::Spread;
use crate::load::stats::Caps;
use crate::load::summary::Summary;
use crate::load::viewer::{Shared, Viewer};
use crate::say::say;

pub(crate) use client::Target;
pub(crate) use plan::Plan;

/// Runs the plan and prints what was seen. Fails the exit code if a promise was seen broken.
pub(crate) fn run(plan: Plan) -> Outcome<ExitCode> {
    check_name(&plan.stream)?;
    // One thread: the server needs the other cores, and two thousand viewers fill a few per cent of one.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.or_say(|| "cannot start".to_owned())?.block_on(drive(plan))
}

async fn drive(plan: Plan) -> Outcome<ExitCode> {
    let server = plan.server.look_up().await.or_say(|| format!("cannot reach {}", plan.server));
    let server = server.map_err(|failure| failure.hint(START_ONE))?;
    raise_open_files(plan.viewers)?;
    preflight(&plan, server).await?;
    let mut caps = Caps::given(plan.cap);
    let stats = stats_line(&plan, server, &mut caps).await?;
    let ledger = plan.ledger.as_deref().map(Ledger::open).transpose()?;
    let (end, over) = watch::channel(false);
    let book = Mutex::new(Book::new(plan.viewers, ledger));
    let shared = Arc::new(Shared { plan, book, over });

    let started = Instant::now();
    let viewers = set_out(&shared, server);
    tokio::select! {
        () = sleep(Duration::from_secs(shared.plan.seconds.into())) => {}
        _ = tokio::signal::ctrl_c() => {}
        () = progress::show(&shared, started) => {}
        () = watch_stats(stats, &shared, &mut caps) => {}
    }
    let lasted = started.elapsed();
    end.send(true).expect("the viewers listen until they have said goodbye");
    viewers.join_all().await;
    progress::clear();
    Ok(report(&shared, caps, lasted))
}

/// Starts every viewer as a task.
fn set_out(shared: &Arc<Shared>, server: SocketAddr) -> JoinSet<()> {
    let plan = &shared.plan;
    let spread = match plan.spread_addresses {
        // Only Linux answers on all of 127.0.0.0/8.
        Spread::Auto => cfg!(target_os = "linux") && server.is_ipv4() && server.ip().is_loopback(),
        Spread::On => true,
        Spread::Off => false,
    };
    let line = |number| Line::new(server, &plan.server, spread.then(|| own_address(number)));
    (0..plan.viewers).map(|number| Viewer::new(number, Arc::clone(shared), line(number)).live()).collect()
}

async fn watch_stats(line: Option<Line>, shared: &Shared, caps: &mut Caps) {
    match line {
        Some(line) => stats::watch(line, shared, caps).await,
        None => std::future::pending().await,
    }
}

fn report(shared: &Shared, caps: Caps, lasted: Duration) -> ExitCode {
    let summary = Summary::of(&mut shared.book(), caps, lasted);
    if shared.plan.json {
        say(serde_json::to_string_pretty(&summary).expect("plain fields"));
    } else {
        say(&summary);
    }
    if summary.kept() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Finds out with one harmless call whether there is a server and a stream, before thousands of viewers do.
async fn preflight(plan: &Plan, server: SocketAddr) -> Outcome<()> {
    let path = format!("/v1/play/{}/hb", plan.stream);
    let body = br#"{"seat":"AAAAAAAAAAAAAAAAAAAAAA"}"#;
    let reply = Line::new(server, &plan.server, None).post(&path, body.to_vec()).await;
    let no_answer = |why: NoAnswer| Failure::new(format!("no answer from {}: {}", plan.server, why.label()));
    let reply = reply.map_err(no_answer)?;
    match reply.status {
        404 => Err(Failure::new(format!("{} has no stream {:?}", plan.server, plan.stream))
            .hint("tidegate up --demo makes one named demo; POST /v1/streams makes others")),
        _ => Ok(()),
    }
}

async fn stats_line(plan: &Plan, server: SocketAddr, caps: &mut Caps) -> Outcome<Option<Line>> {
    let Some(key) = &plan.key else { return Ok(None) };
    let line = Line::new(server, &plan.server, None).with_key(key);
    let mut line = line.ok_or_else(|| Failure::new("--key holds characters that no key has"))?;
    stats::first(&mut line, &plan.stream, caps).await?;
    Ok(Some(line))
}

fn check_name(stream: &str) -> Outcome<()> {
    let shaped = stream.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if shaped && !stream.is_empty() { Ok(()) } else { Err(Failure::new(format!("{stream:?} is no stream id"))) }
}

/// Each viewer is a connection, and the usual limit is 1,024 open files.
fn raise_open_files(viewers: u32) -> Outcome<()> {
    let needed = u64::from(viewers) + 64;
    match crate::limits::raise_open_files(needed) {
        open if open >= needed => Ok(()),
        open => Err(Failure::new(format!("{viewers} viewers need {needed} open files, and this system allows {open}"))
            .hint(format!("raise it with `ulimit -n {needed}`, or use fewer --viewers"))),
    }
}

const START_ONE: &str = "start a server with: tidegate up --demo";
