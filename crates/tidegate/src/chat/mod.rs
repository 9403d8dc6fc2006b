//! `tidegate chat`: a live chat in a terminal, from a running server or through a gate of its own (C12); and what a
//! captured answer holds (C14).

mod line;
mod remote;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tidegate_chat::room::{RoomSettings, Start};
use tidegate_chat::youtube::{Name, Region, View};
use tidegate_chat::{ChatSettings, Rooms, decode};
use tidegate_upstream::{Gate, Preset};

use crate::config::{Chat as Settings, Config};
use crate::failure::{Failure, OrSay, Outcome};
use crate::load::Target;
use crate::say::say;

use self::line::Printer;

/// The command's flags.
#[derive(clap::Args)]
pub(crate) struct Chat {
    /// A video id, an @handle, a channel id, or an address of one
    #[arg(value_name = "NAME", required_unless_present = "decode")]
    name: Option<String>,

    /// A running server whose room to read; unless given, the chat is read through a gate of this command's own
    #[arg(long, value_name = "URL")]
    server: Option<Target>,

    /// Only what YouTube thinks worth showing, instead of all rows
    #[arg(long)]
    top: bool,

    /// Print each event as one line of JSON
    #[arg(long)]
    json: bool,

    /// Where YouTube is, for a stand-in of it
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    youtube: Option<String>,

    /// Print what a captured poll answer, page, action or renderer holds, one JSON event a line; - reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "server", "youtube", "top"])]
    decode: Option<PathBuf>,
}

/// Prints until the chat is over.
pub(crate) fn run(chat: &Chat) -> Outcome<ExitCode> {
    if let Some(file) = &chat.decode {
        return print_capture(file);
    }
    let name = chat.name.as_deref().unwrap_or_default();
    // Before anybody is called: a typo is told at once.
    let parsed = Name::parse(name).map_err(|bad| Failure::new(bad.to_string()))?;
    let view = if chat.top { View::Top } else { View::All };
    let mut printer = Printer::new(chat.json);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.or_say(|| "cannot start".to_owned())?.block_on(async {
        let reading = async {
            match &chat.server {
                Some(server) => remote::read(server, name, view, &mut printer).await,
                None => read_here(chat, &parsed, view, &mut printer).await,
            }
        };
        tokio::select! {
            ended = reading => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a room of this process.
async fn read_here(chat: &Chat, name: &Name, view: View, printer: &mut Printer) -> Outcome<()> {
    let mut settings = Preset::Youtube.settings();
    if let Some(url) = &chat.youtube {
        settings.base_url = Some(url.clone());
    }
    let gate = Gate::new([(UPSTREAM, settings)]).or_say(|| "cannot set the gate up".to_owned())?;
    let rooms = Rooms::new(gate, ChatSettings::new(UPSTREAM));
    let rooms = rooms.or_say(|| "cannot set the room up".to_owned())?;
    let entered = rooms.enter(name, view, Start::Newest).await;
    let mut viewer = entered.map_err(|refused| Failure::new(refused.to_string()))?;
    while let Some(frames) = viewer.next().await {
        if printer.take(&frames).is_err() {
            break;
        }
    }
    Ok(())
}

fn print_capture(file: &Path) -> Outcome<ExitCode> {
    let bytes = if file == Path::new("-") { read_stdin() } else { std::fs::read(file) };
    let bytes = bytes.or_say(|| format!("cannot read {}", file.display()))?;
    let events = decode(&bytes, Region::Unknown).or_say(|| file.display().to_string())?;
    for event in events {
        say(serde_json::to_string(&event).or_say(|| "cannot write an event".to_owned())?);
    }
    Ok(ExitCode::SUCCESS)
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
}

/// The rooms of `tidegate up`, which go out through its gate; none without an upstream to read from.
pub(crate) fn rooms(config: &Config, gate: Option<&Gate>) -> Outcome<Option<Rooms>> {
    let Settings { upstream, idle_s, max_rooms, readers } = &config.chat;
    let (Some(gate), Some(called)) = (gate, config.upstreams.get(upstream)) else { return Ok(None) };
    let settings = ChatSettings {
        room: RoomSettings::of(called),
        idle: idle_s.seconds(),
        readers: *readers,
        max_rooms: usize::try_from(max_rooms.get()).unwrap_or(usize::MAX),
        ..ChatSettings::new(upstream)
    };
    Rooms::new(gate.clone(), settings).map(Some).or_say(|| "cannot set the rooms up".to_owned())
}

const UPSTREAM: &str = "youtube";
