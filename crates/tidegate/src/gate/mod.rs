//! `tidegate gate`: the gate alone; and what of it `tidegate up` runs too.

mod door;
mod pages;

use std::convert::Infallible;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;

use crate::config::{Config, Fault};
use crate::failure::{Failure, OrSay, Outcome};
use crate::limits;
use crate::say::say;
use crate::settings::{GateListen, Logging, Settings, read_again, say_waiting, telemetry_waiting};
use crate::signals::{Signals, at_every};
use crate::telemetry::Telemetry;

pub(crate) use door::{Door, reload, waiting_for_a_start};

/// The command's flags.
#[derive(clap::Args)]
pub(crate) struct Alone {
    /// The settings file (docs/SETTINGS.md says every key)
    #[arg(long, value_name = "FILE", env = "TIDEGATE_CONFIG")]
    config: Option<PathBuf>,

    #[command(flatten)]
    listen: GateListen,

    #[command(flatten)]
    logging: Logging,
}

impl Alone {
    /// The settings that hold, as far as they can be told now: read again at a reload.
    fn config(&self) -> Result<Config, Fault> {
        let mut config = Settings { config: self.config.clone(), data: None }.config()?;
        self.listen.over(&mut config);
        self.logging.over(&mut config);
        Ok(config)
    }
}

/// Runs until it is stopped.
pub(crate) fn run(alone: Alone) -> Outcome<ExitCode> {
    let config = alone.config()?;
    if config.upstreams.is_empty() {
        let hint = "write [upstreams.NAME] with a preset or a base_url into a file, and name it with --config";
        return Err(Failure::new("there is no upstream to call").hint(hint));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.or_say(|| "cannot start".to_owned())?.block_on(serve(&alone, &config))
}

async fn serve(alone: &Alone, config: &Config) -> Outcome<ExitCode> {
    let signals = Signals::heed();
    let telemetry = Telemetry::start(&config.telemetry)?;
    limits::make_room_for_connections(config.gate_connections());
    let ended = serve_with(alone, config, &telemetry, signals).await;
    telemetry.finish().await;
    ended.map(|()| ExitCode::SUCCESS)
}

async fn serve_with(alone: &Alone, config: &Config, telemetry: &Telemetry, signals: Signals) -> Outcome<()> {
    let door = Door::open(config, telemetry.metrics.clone())?.ok_or_else(|| {
        Failure::new("the gate listens nowhere").hint("name its port with --gate-listen ADDR:PORT or [gate] listen")
    })?;
    say(format_args!("tidegate {}\n  gate     http://{}", env!("CARGO_PKG_VERSION"), door.address()));
    say(door.upstreams_in_words(&config.upstreams));
    let gate = door.gate().clone();
    let stop = signals.stop();
    let read = || {
        let Some(new) = read_again(alone.config.as_deref(), || alone.config()) else { return };
        if reload(&gate, &new) {
            say_waiting(&waiting_for_a_start(config, &new));
            say_waiting(&telemetry_waiting(&config.telemetry, &new.telemetry));
            tracing::info!("settings reloaded");
        }
    };
    tokio::select! {
        () = door.serve(stop) => {}
        never = keep_metrics_small(&telemetry.metrics) => match never {},
        never = at_every(signals.hangup, read) => match never {},
    }
    Ok(())
}

/// Samples of times pile up until a scrape; who is never scraped has to move them out of the way.
pub(crate) async fn keep_metrics_small(metrics: &PrometheusHandle) -> Infallible {
    loop {
        tokio::time::sleep(UPKEEP).await;
        metrics.run_upkeep();
    }
}

/// As often as the control does it.
const UPKEEP: Duration = Duration::from_secs(5);
