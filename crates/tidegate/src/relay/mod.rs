//! `tidegate relay`: a media relay.

mod door;
mod pages;

use std::path::PathBuf;
use std::process::ExitCode;

use tidegate_relay::{Admission, Control, Level};
use tidegate_token::PublicKeys;

use crate::config::{Config, Fault};
use crate::failure::{Failure, OrSay, Outcome};
use crate::gate::keep_metrics_small;
use crate::say::say;
use crate::secret::SecretKey;
use crate::settings::{Logging, RelayListen, Settings, read_again, say_waiting, telemetry_waiting};
use crate::signals::{Signals, at_every};
use crate::telemetry::Telemetry;

pub(crate) use self::door::{Door, waiting_for_a_start};

/// The command's flags.
#[derive(clap::Args)]
pub(crate) struct Alone {
    /// The settings file (docs/SETTINGS.md says every key)
    #[arg(long, value_name = "FILE", env = "TIDEGATE_CONFIG")]
    config: Option<PathBuf>,

    #[command(flatten)]
    relay_listen: RelayListen,

    /// The control whose tokens are taken [default: http://127.0.0.1:8080, or `[relay]` control of the file]
    #[arg(long, value_name = "URL", env = "TIDEGATE_CONTROL")]
    control: Option<String>,

    /// What the control's fleet shows to report to it (`relay-secret` in its data directory). Better in the environment
    #[arg(long, value_name = "SECRET", env = "TIDEGATE_RELAY_SECRET", hide_env_values = true)]
    relay_secret: Option<SecretKey>,

    /// Where it stands, such as eu-west [default: none, or `[relay]` region of the file]
    #[arg(long, value_name = "REGION", env = "TIDEGATE_REGION")]
    region: Option<String>,

    /// Where viewers reach it [default: https:// and where it listens, or `[relay]` public_url of the file]
    #[arg(long, value_name = "URL", env = "TIDEGATE_PUBLIC_URL")]
    public_url: Option<String>,

    /// Where players find its LL-HLS [default: http://, where it listens and /hls, or `[relay]` hls_url of the file]
    #[arg(long, value_name = "URL", env = "TIDEGATE_HLS_URL")]
    hls_url: Option<String>,

    /// Whether newcomers are refused for load [default: on, or `[relay]` admission of the file]
    #[arg(long, value_name = "on|observe|off", value_parser = admission, env = "TIDEGATE_ADMISSION")]
    admission: Option<Admission>,

    /// The busy share from which the relay is saturated [default: 0.85, or `[relay]` admission_busy of the file]
    #[arg(long, value_name = "SHARE", env = "TIDEGATE_ADMISSION_BUSY")]
    admission_busy: Option<Level>,

    /// Milliseconds after which a refused viewer tries again [default: 2000, or `[relay]` admission_retry_ms of the
    /// file]
    #[arg(long, value_name = "MS", env = "TIDEGATE_ADMISSION_RETRY_MS", value_parser = clap::value_parser!(u64).range(100..=60_000))]
    admission_retry_ms: Option<u64>,

    /// Newcomers in a second while too few sessions are open to measure what one costs [default: 50, or `[relay]`
    /// admission_burst of the file]
    #[arg(long, value_name = "N", env = "TIDEGATE_ADMISSION_BURST", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    admission_burst: Option<u32>,

    #[command(flatten)]
    logging: Logging,
}

impl Alone {
    /// The settings that hold, as far as they can be told now: read again at a reload.
    fn config(&self) -> Result<Config, Fault> {
        let mut config = Settings { config: self.config.clone(), data: None }.config()?;
        let relay = &mut config.relay;
        relay.admission = self.admission.unwrap_or(relay.admission);
        relay.admission_busy = self.admission_busy.unwrap_or(relay.admission_busy);
        relay.admission_retry_ms = self.admission_retry_ms.unwrap_or(relay.admission_retry_ms);
        relay.admission_burst = self.admission_burst.unwrap_or(relay.admission_burst);
        if let Some(region) = &self.region {
            relay.region.clone_from(region);
        }
        if self.public_url.is_some() {
            relay.public_url.clone_from(&self.public_url);
        }
        if self.hls_url.is_some() {
            relay.hls_url.clone_from(&self.hls_url);
        }
        if let Some(control) = &self.control {
            relay.control.clone_from(control);
        }
        self.relay_listen.over(&mut config);
        self.logging.over(&mut config);
        Ok(config)
    }
}

/// Runs until it is stopped.
pub(crate) fn run(alone: Alone) -> Outcome<ExitCode> {
    let config = alone.config()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.or_say(|| "cannot start".to_owned())?.block_on(serve(&alone, &config))
}

async fn serve(alone: &Alone, config: &Config) -> Outcome<ExitCode> {
    let signals = Signals::heed();
    let telemetry = Telemetry::start(&config.telemetry)?;
    let ended = serve_with(alone, config, &telemetry, signals).await;
    telemetry.finish().await;
    ended.map(|()| ExitCode::SUCCESS)
}

async fn serve_with(alone: &Alone, config: &Config, telemetry: &Telemetry, signals: Signals) -> Outcome<()> {
    let mut control = Control::at(&config.relay.control).map_err(|error| Failure::new(error.to_string()))?;
    if let Some(secret) = &alone.relay_secret {
        control = control.with_secret(secret.expose());
    }
    let Some(door) = Door::open(config, control, telemetry.metrics.clone())? else {
        let hint = "name its port with --relay-listen ADDR:PORT or [relay] listen";
        return Err(Failure::new("the relay listens nowhere").hint(hint));
    };
    door.set_keys(first_keys(door.control()).await);
    say(greeting(&door, &config.relay.control));
    if alone.relay_secret.is_none() {
        tracing::warn!("no --relay-secret: the control lists this relay for nobody, and ends no session here");
    }
    let read = || {
        let Some(new) = read_again(alone.config.as_deref(), || alone.config()) else { return };
        door.relay().set(&new.relay);
        say_waiting(&waiting_for_a_start(config, &new));
        say_waiting(&telemetry_waiting(&config.telemetry, &new.telemetry));
        tracing::info!("settings reloaded");
    };
    tokio::select! {
        () = door.serve(signals.stop()) => {}
        never = keep_metrics_small(&telemetry.metrics) => match never {},
        never = at_every(signals.hangup, read) => match never {},
    }
    Ok(())
}

/// The control may start after its relays: until its keys are there, nobody is let in.
async fn first_keys(control: &Control) -> PublicKeys {
    match control.keys().await {
        Ok(keys) => keys,
        Err(error) => {
            tracing::warn!(%error, "no keys yet; nobody is let in until the control answers");
            PublicKeys::default()
        }
    }
}

fn greeting(door: &Door, control: &str) -> String {
    let (address, version) = (door.address(), env!("CARGO_PKG_VERSION"));
    let certificate = match door.relay().certificate_sha256() {
        Some(hash) => format!("made for development, good for 13 days, sha256 {hash}"),
        None => "as [relay] certificate says".to_owned(),
    };
    format!(
        "tidegate {version}\n  relay    https://{address}/STREAM?jwt=TOKEN (WebTransport, or MoQ over QUIC)\n  pages    \
         http://{address}\n  control  {control}\n  certificate {certificate}"
    )
}

fn admission(text: &str) -> Result<Admission, String> {
    match text {
        "on" => Ok(Admission::On),
        "observe" => Ok(Admission::Observe),
        "off" => Ok(Admission::Off),
        _ => Err("write on, observe or off".to_owned()),
    }
}
