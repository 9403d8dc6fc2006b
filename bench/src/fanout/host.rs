//! A server like `tidegate up` but for one figure: its rooms poll ten times a second, so that frames go out one by one.
//!
//! The listener, the route, the hand-over of sockets and the fan-out are the product's. A room of the product polls
//! once a second at most, and what one poll brought goes out at once.

use std::sync::Arc;
use std::time::Duration;

use tidegate_chat::room::RoomSettings;
use tidegate_chat::{ChatSettings, Rooms};
use tidegate_control::{Control, ControlSettings, Networks, TokenSettings, Tokens, fresh_seed, recorder};
use tidegate_store::{Embedded, EmbeddedSettings};
use tidegate_token::KeySet;
use tidegate_upstream::{Gate, Preset};

/// Serves chats of this stand-in on a free port.
pub(crate) fn serve(youtube: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let prometheus = recorder().install_recorder()?;
        let data = tempfile::tempdir()?;
        let store = Embedded::open(data.path(), EmbeddedSettings::default())?;
        let tokens = Arc::new(Tokens::new(KeySet::generate(fresh_seed(), 0), TokenSettings::default()));
        // All viewers come from this machine.
        let exempt_networks = Networks::from_iter(["127.0.0.0/8".parse()?]);
        let settings = ControlSettings { exempt_networks, ..ControlSettings::default() };
        let control = Control::new(settings, store.clone(), store, tokens, prometheus);
        let mut upstream = Preset::Youtube.settings();
        upstream.min_interval = Duration::ZERO;
        upstream.base_url = Some(youtube.to_owned());
        let room = RoomSettings { min_interval: Duration::from_millis(50), ..RoomSettings::default() };
        let chat = ChatSettings { room, ..ChatSettings::new("youtube") };
        control.open_rooms(Rooms::new(Gate::new([("youtube", upstream)])?, chat)?);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on {}", listener.local_addr()?);
        control.serve(listener, std::future::pending()).await;
        Ok(())
    })
}
