//! `tidegate up`: everything in one process with the embedded store (O1).

mod first;
mod reload;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use metrics_exporter_prometheus::PrometheusHandle;
use tidegate_control::{Control, Tokens};
use tidegate_store::{Embedded, OpenError};

use crate::admin::{Office, Socket};
use crate::config::{Config, Fault, Listen};
use crate::demo::{self, DemoChat};
use crate::failure::{Failure, OrSay, Outcome};
use crate::secret::SecretKey;
use crate::settings::{GateListen, Logging, RelayListen, Settings};
use crate::signals::{Signals, at_every};
use crate::telemetry::Telemetry;
use crate::token_keys::TokenKeys;
use crate::{chat, gate, limits, listen, relay, relay_secret};

use self::first::Greeting;
use self::reload::Reload;

#[derive(clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    settings: Settings,

    /// Where pages and backends call [default: 127.0.0.1:8080, or `[control]` listen of the file]
    #[arg(long, value_name = "ADDR:PORT|off", env = "TIDEGATE_LISTEN")]
    listen: Option<Listen>,

    /// The secret key of tenant main, instead of a made one. Better in the environment, where `ps` does not show it
    #[arg(long, value_name = "KEY", env = "TIDEGATE_KEY", hide_env_values = true)]
    key: Option<SecretKey>,

    /// What relays show to report here, instead of the data directory's relay-secret. Better in the environment
    #[arg(long, value_name = "SECRET", env = "TIDEGATE_RELAY_SECRET", hide_env_values = true)]
    relay_secret: Option<SecretKey>,

    /// Make a public stream named demo, with 2 seats and 1 place in line, show a living chat, and print what to try
    #[arg(long)]
    demo: bool,

    #[command(flatten)]
    gate_listen: GateListen,

    #[command(flatten)]
    relay_listen: RelayListen,

    #[command(flatten)]
    logging: Logging,
}

impl Up {
    /// The settings that hold, as far as they can be told now: read again at a reload.
    fn config(&self) -> Result<Config, Fault> {
        let mut config = self.settings.config()?;
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        self.gate_listen.over(&mut config);
        self.relay_listen.over(&mut config);
        self.logging.over(&mut config);
        Ok(config)
    }
}

/// Runs until it is stopped.
pub(crate) fn run(up: Up) -> Outcome<ExitCode> {
    let config = up.config()?;
    limits::make_files_private();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.or_say(|| "cannot start".to_owned())?.block_on(serve(up, config))
}

async fn serve(up: Up, mut config: Config) -> Outcome<ExitCode> {
    let signals = Signals::heed();
    let chat = if up.demo { DemoChat::start(&config).await? } else { None };
    if let Some(chat) = &chat {
        chat.over(&mut config);
    }
    let telemetry = Telemetry::start(&config.telemetry)?;
    limits::make_room_for_connections(config.connections());
    // The directory first: of two servers on one, the second is told so whatever else is taken as well.
    let store = Embedded::open(&config.store.data, config.store_settings()).map_err(|error| in_use(&error))?;
    let ended = run_with(&up, &config, chat.as_ref(), &store, &telemetry, signals).await;
    // Also after a failed start: what was changed until then is kept.
    let closed = store.close().await.or_say(|| "the last changes may be lost".to_owned());
    telemetry.finish().await;
    ended.and(closed).map(|()| ExitCode::SUCCESS)
}

async fn run_with(
    up: &Up,
    config: &Config,
    chat: Option<&DemoChat>,
    store: &Arc<Embedded>,
    telemetry: &Telemetry,
    signals: Signals,
) -> Outcome<()> {
    let token_keys = TokenKeys::in_dir(&config.store.data);
    let keys = token_keys.read_or_make()?;
    let secret = relay_secret::of(&config.store.data, up.relay_secret.as_ref())?;
    let listener = listen::bind(config.listen, listen::CONTROL)?;
    let address = listen::address(listener.as_ref())?;
    let gate_door = gate::Door::open(config, telemetry.metrics.clone())?;
    let relay_door = match address {
        Some(address) => open_relay(config, address, &secret, &telemetry.metrics)?,
        // Nobody could get a token for it.
        None => None,
    };
    if let Some(door) = &relay_door {
        door.set_keys(keys.public().clone());
    }
    let tokens = Arc::new(Tokens::new(keys, config.tokens.clone()));
    let (seats, catalogue): (Arc<Embedded>, Arc<Embedded>) = (Arc::clone(store), Arc::clone(store));
    let prometheus = telemetry.metrics.clone();
    let control = Control::new(config.control.clone(), seats, catalogue, Arc::clone(&tokens), prometheus);
    control.admit_relays(secret.digest());
    let catalogue: Arc<Embedded> = Arc::clone(store);
    if let Some(rooms) = chat::rooms(config, gate_door.as_ref().map(gate::Door::gate))? {
        control.open_rooms(rooms);
    }
    let office = Office::new(catalogue, token_keys, Some(Arc::clone(&tokens)), config.tokens.key_overlap_s);
    let office = Arc::new(office);
    let socket = Socket::open(&config.store.data)?;
    let door = first::open_the_door(up.key.as_ref(), store, &office).await?;
    let demo = if up.demo { Some(first::make_demo(store).await?) } else { None };
    let router = if up.demo { control.router().merge(demo::routes()) } else { control.router() };
    Greeting {
        data: &config.store.data,
        address,
        gate: gate_door.as_ref(),
        relay: relay_door.as_ref(),
        upstreams: &config.upstreams,
        door,
        demo,
        shows_chat: chat.is_some(),
    }
    .print();

    let gate = gate_door.as_ref().map(|door| door.gate().clone());
    let relay = relay_door.as_ref().map(relay::Door::relay);
    let (control, tokens, office) = (&control, &*tokens, &office);
    let reload = Reload { up, running: config, chat, store, control, tokens, office, gate, relay };
    let [stop, gate_stop, relay_stop] = [(); 3].map(|()| signals.stop());
    let serving = async {
        match listener {
            Some(listener) => control.serve_router(router, listener, stop).await,
            // Who serves the control does the upkeep too.
            None => tokio::select! {
                () = stop => {}
                never = gate::keep_metrics_small(&telemetry.metrics) => match never {},
            },
        }
    };
    let passing = async {
        if let Some(door) = gate_door {
            door.serve(gate_stop).await;
        }
    };
    let relaying = async {
        if let Some(door) = &relay_door {
            door.serve(relay_stop).await;
        }
    };
    let showing = async {
        if let (true, Some(relay)) = (up.demo, relay)
            && let Err(error) = demo::show_picture(relay).await
        {
            tracing::error!(%error, "the demo's test picture ended");
        }
        std::future::pending().await
    };
    tokio::select! {
        ((), (), ()) = async { tokio::join!(serving, passing, relaying) } => {}
        never = showing => match never {},
        never = socket.serve(Arc::clone(office)) => match never {},
        never = at_every(signals.hangup, || reload.reload()) => match never {},
    }
    Ok(())
}

/// The relay of this process is one like any other: it reports to the control over HTTP, and takes its tokens by its keys.
fn open_relay(
    config: &Config,
    control: SocketAddr,
    secret: &SecretKey,
    metrics: &PrometheusHandle,
) -> Outcome<Option<relay::Door>> {
    let from_here = match control.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    let url = format!("http://{}", SocketAddr::new(from_here, control.port()));
    let control = tidegate_relay::Control::at(&url).or_say(|| "cannot start the relay".to_owned())?;
    relay::Door::open(config, control.with_secret(secret.expose()), metrics.clone())
}

fn in_use(error: &OpenError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        OpenError::InUse { .. } => failure.hint("choose another directory with --data DIR"),
        OpenError::Unwritable { .. }
        | OpenError::DiskFull { .. }
        | OpenError::Newer { .. }
        | OpenError::NotAStore { .. }
        | OpenError::Corrupt { .. }
        | OpenError::Failed { .. } => failure,
    }
}
