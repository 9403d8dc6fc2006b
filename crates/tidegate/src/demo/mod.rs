//! What `tidegate up --demo` adds to a server (O1): a stream with a moving test picture, and a living chat, told by a
//! stand-in of YouTube, with pages to see them on.
//!
//! The stand-in is the one that the tests have: the real rooms read it through the real gate.

mod page;
mod picture;
mod script;

use std::convert::Infallible;

use tidegate_relay::Relay;
use tidegate_upstream::{Preset, UpstreamSettings};
use tidegate_youtube::{Script, YouTube};

use crate::config::{Config, Listen};
use crate::failure::{OrSay, Outcome};

pub(crate) use page::{PAGE, WATCH, routes};

/// A stand-in of YouTube with one chat. It ends with this value.
pub(crate) struct DemoChat {
    _youtube: YouTube,
    upstream: String,
    settings: UpstreamSettings,
}

impl DemoChat {
    /// Starts it, unless the chats' upstream is configured, which is then the one that is read, or the gate is off.
    pub(crate) async fn start(config: &Config) -> Outcome<Option<Self>> {
        if config.upstreams.contains_key(&config.chat.upstream) || config.gate_listen == Listen::Off {
            return Ok(None);
        }
        let script = Script { rate: ROWS_PER_S, hint_ms: 1_000, recorded: script::actions(), ..Script::default() };
        let youtube = YouTube::start(script).await.or_say(|| "cannot start the demo's chat".to_owned())?;
        let mut settings = Preset::Youtube.settings();
        settings.base_url = Some(youtube.url());
        Ok(Some(Self { _youtube: youtube, upstream: config.chat.upstream.clone(), settings }))
    }

    /// Makes it the chats' upstream: also at each reload, since no file names it.
    pub(crate) fn over(&self, config: &mut Config) {
        config.upstreams.entry(self.upstream.clone()).or_insert_with(|| self.settings.clone());
    }
}

/// Shows the test picture to the viewers of the demo's stream, until it is dropped.
pub(crate) async fn show_picture(relay: &Relay) -> Result<Infallible, moq_mux::Error> {
    picture::show(&relay.broadcasts(STREAM)?).await
}

/// The demo's stream.
pub(crate) const STREAM: &str = "demo";
/// The demo's video.
pub(crate) const VIDEO: &str = "tidegate-tv";
/// A chat that one can follow.
const ROWS_PER_S: f64 = 1.25;
