//! Live chats: the way from a room to its viewers, over real sockets and from a stand-in YouTube.

mod access;
mod refusals;
mod resuming;
mod sharing;
mod throttles;
mod viewer;
mod viewers;

use tidegate_chat::{ChatSettings, Rooms};
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;
use tidegate_upstream::{Gate, Preset};
use tidegate_youtube::{Script, YouTube};

use crate::support::*;

const VIDEO: &str = tidegate_youtube::VIDEO;

/// A house with rooms that read from a stand-in.
async fn with(script: Script) -> (House, YouTube) {
    let youtube = YouTube::start(script).await.unwrap();
    (house(unlimited(), youtube.url(), ChatSettings::new("youtube")).await, youtube)
}

/// A busy chat, of which each second tells something.
async fn open() -> (House, YouTube) {
    with(Script { rate: 20.0, hint_ms: 1000, ..Script::default() }).await
}

async fn house(control: ControlSettings, youtube: String, chat: ChatSettings) -> House {
    let house = House::with(control, EmbeddedSettings::default()).await;
    let mut settings = Preset::Youtube.settings();
    settings.base_url = Some(youtube);
    let gate = Gate::new([("youtube", settings)]).unwrap();
    house.control.open_rooms(Rooms::new(gate, chat).unwrap());
    house
}

fn events(name: &str) -> String {
    format!("/v1/chat/{name}/events")
}
