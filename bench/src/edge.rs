//! A relay offered more than it can carry, with edge admission and without, in one run (E6, E7).
//!
//! The relay has core 0 and one worker thread, its viewers core 1: real sessions over WebTransport, each subscribed to
//! one track of ten frames of 1,200 bytes a second. A frame is on time if a viewer has it within 250 ms of its writing.
//! How late this process itself runs is measured too, for a viewer cannot be sooner than that.

mod audience;
mod keys;
mod probe;
mod publisher;
mod relay;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, ensure};
use tokio::time::{Instant, sleep, sleep_until};

use audience::{Audience, Seen};
use keys::Keys;
use probe::Probe;
use relay::{Gauges, Relay};

/// What is compared.
pub(crate) struct Programs {
    pub(crate) tidegate: PathBuf,
    /// The plain relay of the media library, for memory and sessions a core.
    pub(crate) moq_relay: Option<PathBuf>,
}

pub(crate) fn run(programs: &Programs) -> anyhow::Result<()> {
    let pinned =
        Command::new("taskset").args(["-apc", "1", &std::process::id().to_string()]).stdout(Stdio::null()).status()?;
    ensure!(pinned.success(), "taskset could not pin the viewers to core 1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(programs))
}

async fn measure(programs: &Programs) -> anyhow::Result<()> {
    let keys = Keys::serve().await?;
    println!("relay on core 0, viewers on core 1; ten frames of 1,200 bytes a second, on time within 250 ms");
    let mut off = Relay::tidegate(&programs.tidegate, &keys, "off").await?;
    let capacity = ramp(&mut off, "admission off").await?;
    drop(off);
    if let Some(program) = &programs.moq_relay {
        let mut plain = Relay::plain(program).await?;
        ramp(&mut plain, "moq-relay").await?;
    }
    cost(&programs.tidegate, &keys, capacity / 2).await?;
    println!("\n{} viewers knock, three times the capacity, for {} s", capacity * 3, OVERLOAD.as_secs());
    println!("admission  admitted  on time %  worst viewer %  p99 ms  busy max  state changes  own lag p90 ms");
    let without = overload(&programs.tidegate, &keys, "off", capacity * 3).await?;
    let with = overload(&programs.tidegate, &keys, "on", capacity * 3).await?;
    ensure!(without.on_time < PROMISED, "the load was none: without admission {:.2} % were on time", without.on_time);
    if with.on_time < PROMISED {
        bail!("with admission on {:.2} % of the frames were on time, {PROMISED} are promised", with.on_time);
    }
    Ok(())
}

/// Adds sessions until frames first run late; answers how many were carried.
async fn ramp(relay: &mut Relay, what: &str) -> anyhow::Result<usize> {
    let _publisher = publisher::publish(relay).await?;
    let empty = relay.memory()?;
    let audience = Audience::new(relay);
    println!("\n{what}: sessions  on time %  p99 ms  cpu %  KiB/session  own lag p90 ms");
    let mut carried = 0;
    loop {
        audience.grow(STEP).await;
        // Sessions just opened are still asking for the track.
        sleep(SETTLE).await;
        let probe = Probe::start();
        let before = relay.cpu()?;
        let seen = audience.watch(LOOK).await;
        let cpu = (relay.cpu()? - before).as_secs_f64() / LOOK.as_secs_f64() * 100.0;
        let open = audience.open();
        let memory = relay.memory()?.saturating_sub(empty) as f64 / open.max(1) as f64;
        let lag = probe.p90_ms();
        println!("{:>19}  {:>9.2}  {:>6.0}  {cpu:>5.0}  {memory:>11.0}  {lag:>14.1}", open, seen.on_time, seen.p99_ms);
        if seen.on_time < PROMISED {
            println!("{what}: {carried} sessions on one core");
            ensure!(carried > 0, "not even {STEP} sessions were carried");
            return Ok(carried);
        }
        carried = open;
    }
}

/// What admission costs while there is room: the relay's CPU time with it on and off, in turn, while viewers come and go.
async fn cost(tidegate: &Path, keys: &Keys, viewers: usize) -> anyhow::Result<()> {
    println!("\n{viewers} viewers of whom {CHURN} a second go and come: admission  busy %");
    let mut shares = [Vec::new(), Vec::new()];
    for round in 0..COST_ROUNDS {
        for (which, admission) in ["off", "on"].into_iter().enumerate() {
            let relay = Relay::tidegate(tidegate, keys, admission).await?;
            let _publisher = publisher::publish(&relay).await?;
            let audience = Audience::new(&relay);
            audience.grow(viewers).await;
            sleep(SETTLE).await;
            let before = relay.cpu()?;
            let until = Instant::now() + COST_LOOK;
            while Instant::now() < until {
                audience.replace(CHURN);
                sleep(Duration::from_secs(1)).await;
            }
            let share = (relay.cpu()? - before).as_secs_f64() / COST_LOOK.as_secs_f64() * 100.0;
            println!("round {:<32}  {admission:>9}  {share:>6.2}", round + 1);
            shares[which].push(share);
        }
    }
    let [off, on] = shares.map(crate::http::median);
    println!("admission costs {:.2} % of one core ({off:.2} without, {on:.2} with; bound 1)", on - off);
    Ok(())
}

/// Everybody knocks and knocks again as players do.
async fn overload(tidegate: &Path, keys: &Keys, admission: &str, viewers: usize) -> anyhow::Result<Seen> {
    let relay = Relay::tidegate(tidegate, keys, admission).await?;
    let _publisher = publisher::publish(&relay).await?;
    let audience = Audience::new(&relay);
    audience.knock(viewers);
    let (probe, until) = (Probe::start(), Instant::now() + OVERLOAD);
    let (mut busiest, mut changes, mut state) = (0.0_f64, 0, false);
    while Instant::now() < until {
        sleep_until((Instant::now() + Duration::from_secs(1)).min(until)).await;
        if let Some(Gauges { busy, saturated }) = relay.gauges().await {
            busiest = busiest.max(busy);
            changes += usize::from(saturated != state);
            state = saturated;
        }
    }
    let (open, seen) = (audience.open(), audience.seen());
    println!(
        "{admission:>9}  {open:>8}  {:>9.2}  {:>14.2}  {:>6.0}  {busiest:>8.3}  {changes:>13}  {:>14.1}",
        seen.on_time,
        seen.worst,
        seen.p99_ms,
        probe.p90_ms()
    );
    Ok(seen)
}

/// Of a hundred frames, so many are on time where nobody is overloaded. "What it must show" of 20-edge.
const PROMISED: f64 = 99.0;
/// Sessions that are added between two looks.
const STEP: usize = 100;
/// After a session opened until its frames are counted.
const SETTLE: Duration = Duration::from_secs(2);
/// How long a look is.
const LOOK: Duration = Duration::from_secs(4);
/// How long the overload lasts.
const OVERLOAD: Duration = Duration::from_secs(90);
const CHURN: usize = 5;
const COST_ROUNDS: usize = 3;
const COST_LOOK: Duration = Duration::from_secs(15);
