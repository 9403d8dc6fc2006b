//! `tidegate relay`: a media relay.

mod pages;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_relay::{Admission, Control, Keys, Level, OpenError, Relay, Site};
use tidegate_token::PublicKeys;

use crate::config::{Config, Fault, Listen};
use crate::failure::{Failure, OrSay, Outcome};
use crate::gate::keep_metrics_small;
use crate::secret::SecretKey;
use crate::settings::{Logging, Settings, read_again, say_waiting, telemetry_waiting};
use crate::signals::{Signals, at_every};
use crate::telemetry::Telemetry;
use crate::{listen, say::say};

use self::pages::Pages;

/// The command's flags.
#[derive(clap::Args)]
pub(crate) struct Alone {
    /// The settings file (docs/SETTINGS.md says every key)
    #[arg(long, value_name = "FILE", env = "TIDEGATE_CONFIG")]
    config: Option<PathBuf>,

    /// Where viewers and publishers connect, UDP, and where its pages are, TCP [default: 127.0.0.1:4443, or `[relay]`
    /// listen of the file]
    #[arg(long, value_name = "ADDR:PORT", env = "TIDEGATE_RELAY_LISTEN")]
    relay_listen: Option<Listen>,

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
        if let Some(control) = &self.control {
            relay.control.clone_from(control);
        }
        config.relay_listen = self.relay_listen.unwrap_or(config.relay_listen);
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
    let Some(listener) = listen::bind(config.relay_listen, listen::RELAY)? else {
        let hint = "name its port with --relay-listen ADDR:PORT or [relay] listen";
        return Err(Failure::new("the relay listens nowhere").hint(hint));
    };
    // Of port 0 the system chose one for the pages; media gets the same.
    let address = listener.local_addr().or_say(|| "the listener has no address".to_owned())?;
    let mut control = Control::at(&config.relay.control).map_err(|error| Failure::new(error.to_string()))?;
    if let Some(secret) = &alone.relay_secret {
        control = control.with_secret(secret.expose());
    }
    let keys = Arc::new(Keys::new(first_keys(&control).await));
    let relay = Relay::open(address, &config.relay, Arc::clone(&keys)).map_err(not_opened)?;
    say(greeting(&relay, address, &config.relay.control));

    let site = site(config, address);
    let reporting = async {
        if alone.relay_secret.is_none() {
            let advice = "no --relay-secret: the control lists this relay for nobody, and ends no session here";
            tracing::warn!("{advice}");
            return std::future::pending().await;
        }
        relay.report(&control, &site).await
    };
    let ready = Arc::new(AtomicBool::new(true));
    let certificate_sha256 = relay.certificate_sha256().map(str::to_owned);
    let metrics = telemetry.metrics.clone();
    let pages = Pages { ready: Arc::clone(&ready), keys: Arc::clone(&keys), metrics, certificate_sha256 };
    let stop = signals.stop();
    let stop = async move {
        stop.await;
        ready.store(false, Ordering::Relaxed);
    };
    let read = || {
        let Some(new) = read_again(alone.config.as_deref(), || alone.config()) else { return };
        relay.set(&new.relay);
        say_waiting(&waiting_for_a_start(config, &new));
        say_waiting(&telemetry_waiting(&config.telemetry, &new.telemetry));
        tracing::info!("settings reloaded");
    };
    tokio::select! {
        () = relay.serve(stop) => {}
        never = control.follow(&keys) => match never {},
        never = reporting => match never {},
        never = pages::serve(listener, pages) => match never {},
        never = keep_metrics_small(&telemetry.metrics) => match never {},
        never = at_every(signals.hangup, read) => match never {},
    }
    Ok(())
}

/// How the control is to know the relay, and viewers to reach it.
fn site(config: &Config, address: SocketAddr) -> Site {
    let relay = &config.relay;
    let public_url = relay.public_url.clone().unwrap_or_else(|| format!("https://{address}"));
    let public_url = public_url.trim_end_matches('/').to_owned();
    let place = public_url.split_once("://").map_or(&*public_url, |(_, place)| place);
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name = relay.name.clone().unwrap_or_else(|| place.chars().take(64).map(letter).collect());
    Site { name, region: relay.region.clone(), public_url, hls_url: String::new() }
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

fn not_opened(error: OpenError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        OpenError::Port { .. } => failure.hint("choose another with --relay-listen ADDR:PORT or [relay] listen"),
        OpenError::Certificate(_) => failure,
    }
}

fn greeting(relay: &Relay, address: SocketAddr, control: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let certificate = match relay.certificate_sha256() {
        Some(hash) => format!("made for development, good for 13 days, sha256 {hash}"),
        None => "as [relay] certificate says".to_owned(),
    };
    format!(
        "tidegate {version}\n  relay    https://{address}/STREAM?jwt=TOKEN (WebTransport, or MoQ over QUIC)\n  pages    \
         http://{address}\n  control  {control}\n  certificate {certificate}"
    )
}

/// What cannot change in a running relay, and whether it did in the file.
fn waiting_for_a_start(running: &Config, new: &Config) -> [(&'static str, bool); 10] {
    let (old, now) = (&running.relay, &new.relay);
    [
        ("relay.listen", running.relay_listen != new.relay_listen),
        ("relay.control", old.control != now.control),
        ("relay.name", old.name != now.name),
        ("relay.region", old.region != now.region),
        ("relay.public_url", old.public_url != now.public_url),
        ("relay.certificate", old.certificate != now.certificate),
        ("relay.private_key", old.private_key != now.private_key),
        ("relay.connections_max", old.connections_max != now.connections_max),
        ("relay.connections_per_address", old.connections_per_address != now.connections_per_address),
        ("relay.cache_mb", old.cache_mb != now.cache_mb),
    ]
}

fn admission(text: &str) -> Result<Admission, String> {
    match text {
        "on" => Ok(Admission::On),
        "observe" => Ok(Admission::Observe),
        "off" => Ok(Admission::Off),
        _ => Err("write on, observe or off".to_owned()),
    }
}
