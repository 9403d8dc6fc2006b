//! Reads the settings again while running (O3).

use std::sync::Arc;

use tidegate_control::{Control, Tokens};
use tidegate_relay::Relay;
use tidegate_store::Embedded;
use tidegate_upstream::Gate;

use crate::admin::Office;
use crate::config::Config;
use crate::demo::DemoChat;
use crate::settings::{read_again, say_waiting, telemetry_waiting};
use crate::up::Up;
use crate::{gate, limits, relay};

/// Everything that settings reach.
pub(super) struct Reload<'a> {
    pub(super) up: &'a Up,
    /// What the process was started with.
    pub(super) running: &'a Config,
    /// The demo's chat, if it is there.
    pub(super) chat: Option<&'a DemoChat>,
    pub(super) store: &'a Embedded,
    pub(super) control: &'a Control,
    pub(super) tokens: &'a Tokens,
    pub(super) office: &'a Arc<Office>,
    /// `None` where it is off.
    pub(super) gate: Option<Gate>,
    /// `None` where it is off.
    pub(super) relay: Option<&'a Relay>,
}

impl Reload<'_> {
    /// Takes the file as it is now; a mistake in it changes nothing.
    pub(super) fn reload(&self) {
        let file = self.up.settings.config.as_deref();
        let Some(mut config) = read_again(file, || self.up.config()) else { return };
        if let Some(chat) = self.chat {
            chat.over(&mut config);
        }
        // First, for it is the only one that can still refuse.
        if self.gate.as_ref().is_none_or(|gate| gate::reload(gate, &config)) {
            self.apply(&config);
            tracing::info!(file = file.map(|file| tracing::field::display(file.display())), "settings reloaded");
        }
    }

    fn apply(&self, config: &Config) {
        limits::make_room_for_connections(config.connections());
        self.store.set_seat_settings(&config.seat_settings());
        self.store.set_max_places(config.seats.max_places.get());
        self.store.set_file_max_bytes(config.store.file_max_bytes());
        self.tokens.set_settings(config.tokens.clone());
        self.office.set_key_overlap(config.tokens.key_overlap_s);
        self.control.reload(config.control.clone());
        say_waiting(&self.waiting_for_a_start(config));
        say_waiting(&telemetry_waiting(&self.running.telemetry, &config.telemetry));
        if self.gate.is_some() {
            say_waiting(&gate::waiting_for_a_start(self.running, config));
        }
        if let Some(relay) = self.relay {
            relay.set(&config.relay);
            say_waiting(&relay::waiting_for_a_start(self.running, config));
        }
    }

    /// What cannot change in a running process, and whether it did in the file.
    fn waiting_for_a_start(&self, config: &Config) -> [(&'static str, bool); 3] {
        [
            ("control.listen", self.running.listen != config.listen),
            ("chat", self.running.chat != config.chat),
            ("store.data", self.running.store.data != config.store.data),
        ]
    }
}
