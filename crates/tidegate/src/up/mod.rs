//! `tidegate up`: everything in one process with the embedded store (O1).

mod first;
mod reload;

use std::process::ExitCode;
use std::sync::Arc;

use tidegate_control::{Control, Tokens};
use tidegate_store::{Embedded, OpenError};

use crate::admin::{Office, Socket};
use crate::config::{Config, Fault, Listen};
use crate::demo::{self, DemoChat};
use crate::failure::{Failure, OrSay, Outcome};
use crate::secret::SecretKey;
use crate::settings::{GateListen, Logging, Settings};
use crate::signals::{Signals, at_every};
use crate::telemetry::Telemetry;
use crate::token_keys::TokenKeys;
use crate::{chat, gate, limits, listen, relay_secret};

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
    let tokens = Arc::new(Tokens::new(token_keys.read_or_make()?, config.tokens.clone()));
    let listener = listen::bind(config.listen, listen::CONTROL)?;
    let gate_door = gate::Door::open(config, telemetry.metrics.clone())?;
    let (seats, catalogue): (Arc<Embedded>, Arc<Embedded>) = (Arc::clone(store), Arc::clone(store));
    let prometheus = telemetry.metrics.clone();
    let control = Control::new(config.control.clone(), seats, catalogue, Arc::clone(&tokens), prometheus);
    control.admit_relays(relay_secret::of(&config.store.data, up.relay_secret.as_ref())?.digest());
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
        address: listen::address(listener.as_ref())?,
        gate: gate_door.as_ref(),
        upstreams: &config.upstreams,
        door,
        demo,
        shows_chat: chat.is_some(),
    }
    .print();

    let gate = gate_door.as_ref().map(|door| door.gate().clone());
    let reload = Reload { up, running: config, chat, store, control: &control, tokens: &tokens, office: &office, gate };
    let [stop, gate_stop] = [signals.stop(), signals.stop()];
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
    tokio::select! {
        ((), ()) = async { tokio::join!(serving, passing) } => {}
        never = socket.serve(Arc::clone(&office)) => match never {},
        never = at_every(signals.hangup, || reload.reload()) => match never {},
    }
    Ok(())
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
