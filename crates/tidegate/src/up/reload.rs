//! Reads the settings again while running (O3).

use std::convert::Infallible;
use std::sync::Arc;

use tidegate_control::{Control, Tokens};
use tidegate_store::Embedded;
use tokio::signal::unix::Signal;

use crate::admin::Office;
use crate::config::Config;
use crate::limits;
use crate::up::Up;

/// Everything that settings reach.
pub(super) struct Reload<'a> {
    pub(super) up: &'a Up,
    /// What the process was started with.
    pub(super) running: &'a Config,
    pub(super) store: &'a Embedded,
    pub(super) control: &'a Control,
    pub(super) tokens: &'a Tokens,
    pub(super) office: &'a Arc<Office>,
}

impl Reload<'_> {
    /// Reloads at every such signal, until the task is dropped.
    pub(super) async fn at_every(self, mut hangup: Signal) -> Infallible {
        while hangup.recv().await.is_some() {
            self.reload();
        }
        std::future::pending().await
    }

    fn reload(&self) {
        let Some(file) = &self.up.settings.config else {
            tracing::warn!("nothing to reload: there is no settings file; name one with --config");
            return;
        };
        match self.up.config() {
            Ok(config) => self.apply(&config),
            Err(fault) => {
                tracing::error!(%fault, "settings not reloaded, nothing was changed");
                return;
            }
        }
        tracing::info!(file = %file.display(), "settings reloaded");
    }

    fn apply(&self, config: &Config) {
        limits::make_room_for_connections(config.control.connections_max);
        self.store.set_seat_settings(&config.seat_settings());
        self.store.set_max_places(config.seats.max_places.get());
        self.store.set_file_max_bytes(config.store.file_max_bytes());
        self.tokens.set_settings(config.tokens.clone());
        self.office.set_key_overlap(config.tokens.key_overlap_s);
        self.control.reload(config.control.clone());
        for key in self.waiting_for_a_start(config) {
            tracing::warn!(key, "changed in the file; holds from the next start");
        }
    }

    /// What cannot change in a running process, and did in the file.
    fn waiting_for_a_start(&self, config: &Config) -> Vec<&'static str> {
        let (old, new) = (&self.running.telemetry, &config.telemetry);
        let keys = [
            ("control.listen", self.running.listen != config.listen),
            ("store.data", self.running.store.data != config.store.data),
            ("telemetry.log", old.log != new.log),
            ("telemetry.log_format", old.log_format != new.log_format),
            ("telemetry.otlp_endpoint", old.otlp_endpoint != new.otlp_endpoint),
            ("telemetry.otlp_sample_percent", old.otlp_sample_percent != new.otlp_sample_percent),
        ];
        keys.into_iter().filter(|(_, changed)| *changed).map(|(key, _)| key).collect()
    }
}
