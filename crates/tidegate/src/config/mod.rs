//! Settings: one TOML file, overridden by the environment and the flags.

mod bounds;
mod fault;
mod upstreams;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tidegate_chat::Readers;
use tidegate_control::{ControlSettings, TokenSettings};
use tidegate_relay::RelaySettings;
use tidegate_seats::SeatSettings;
use tidegate_store::EmbeddedSettings;
use tidegate_upstream::{ServerSettings, UpstreamSettings, UpstreamToml};
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};

pub(crate) use fault::Fault;
pub(crate) use upstreams::RESERVED;
pub(crate) use values::{Listen, LogFormat, Whole};

/// Everything that can be set. `docs/SETTINGS.md` says what each key means; a test holds it to this.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// `[control] listen`, which is the program's and not the control's: serde cannot both flatten a struct and
    /// refuse unknown keys, so it is taken out of the section first.
    #[serde(skip)]
    pub(crate) listen: Listen,
    /// `[gate] listen`, for the same reason.
    #[serde(skip)]
    pub(crate) gate_listen: Listen,
    /// `[relay] listen`, for the same reason.
    #[serde(skip)]
    pub(crate) relay_listen: Listen,
    pub(crate) control: ControlSettings,
    pub(crate) seats: Seats,
    pub(crate) tokens: TokenSettings,
    pub(crate) store: Store,
    pub(crate) telemetry: Telemetry,
    pub(crate) chat: Chat,
    pub(crate) gate: ServerSettings,
    pub(crate) relay: RelaySettings,
    /// `[upstreams.NAME]` as written; empty once they are read.
    #[serde(rename = "upstreams")]
    written: BTreeMap<String, UpstreamToml>,
    /// `[upstreams.NAME]` as used: checked, and the preset filled in.
    #[serde(skip)]
    pub(crate) upstreams: Upstreams,
}

/// The upstreams by their names.
pub(crate) type Upstreams = BTreeMap<String, UpstreamSettings>;

/// Times of seats, places and offers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Seats {
    /// Not below two heartbeats, which come every 5 s.
    pub(crate) silence_s: Whole<10, 3600>,
    /// Not below two heartbeats of a hidden tab, which come every 20 s.
    pub(crate) silence_hidden_s: Whole<40, 3600>,
    /// Not below the longest retry of a place, which is 10 s.
    pub(crate) place_silence_s: Whole<11, 3600>,
    /// Not below a hidden tab's timer, which fires once a minute.
    pub(crate) place_silence_hidden_s: Whole<61, 3600>,
    pub(crate) offer_s: Whole<3, 600>,
    pub(crate) kick_block_s: Whole<0, 86_400>,
    pub(crate) max_places: Whole<1, 10_000_000>,
}

/// Where state is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Store {
    pub(crate) data: PathBuf,
    pub(crate) file_max_mb: Option<Whole<1, 1_000_000>>,
}

/// What is told about the running process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Telemetry {
    pub(crate) log: Option<String>,
    pub(crate) log_format: LogFormat,
    pub(crate) otlp_endpoint: Option<String>,
    pub(crate) otlp_sample_percent: Whole<1, 100>,
}

/// Rooms of live chats.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Chat {
    /// The name of the upstream that they read from.
    pub(crate) upstream: String,
    pub(crate) idle_s: Whole<0, 86_400>,
    pub(crate) max_rooms: Whole<1, 100_000>,
    pub(crate) readers: Readers,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: Listen::at_home(8080),
            gate_listen: Listen::at_home(8090),
            relay_listen: Listen::at_home(4443),
            control: ControlSettings::default(),
            seats: Seats::default(),
            tokens: TokenSettings::default(),
            store: Store::default(),
            telemetry: Telemetry::default(),
            chat: Chat::default(),
            gate: ServerSettings::default(),
            relay: RelaySettings::default(),
            written: BTreeMap::new(),
            upstreams: Upstreams::new(),
        }
    }
}

impl Default for Seats {
    fn default() -> Self {
        Self {
            silence_s: Whole::new(20),
            silence_hidden_s: Whole::new(60),
            place_silence_s: Whole::new(15),
            place_silence_hidden_s: Whole::new(75),
            offer_s: Whole::new(10),
            kick_block_s: Whole::new(600),
            max_places: Whole::new(20_000),
        }
    }
}

impl Default for Chat {
    fn default() -> Self {
        Self {
            upstream: "youtube".to_owned(),
            idle_s: Whole::new(30),
            max_rooms: Whole::new(1000),
            readers: Readers::default(),
        }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self { data: PathBuf::from("tidegate-data"), file_max_mb: None }
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        let otlp_sample_percent = Whole::new(100);
        Self { log: None, log_format: LogFormat::default(), otlp_endpoint: None, otlp_sample_percent }
    }
}

impl Config {
    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Result<Self, Fault> {
        let text = std::fs::read_to_string(file).map_err(|error| Fault::unreadable(file, &error))?;
        Self::parse(file, &text)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, Fault> {
        let mut config = Self::read_toml(text).map_err(|error| Fault::of_toml(file, text, &error))?;
        if let Some((key, said)) = bounds::fault(&config) {
            let path: Vec<&str> = key.split('.').collect();
            return Err(Fault::of_key(file, text, &path, &said));
        }
        config.upstreams = upstreams::read(std::mem::take(&mut config.written), config.gate_listen)
            .map_err(|wrong| Fault::of_key(file, text, &wrong.path(), &wrong.said))?;
        Ok(config)
    }

    fn read_toml(text: &str) -> Result<Self, toml::de::Error> {
        let mut table = DeTable::parse(text)?;
        let mut take_listen = |section: &str| match table.get_mut().get_mut(section).map(|section| section.get_mut()) {
            Some(DeValue::Table(section)) => section.remove("listen"),
            _ => None,
        };
        let [listen, gate_listen, relay_listen] = ["control", "gate", "relay"].map(&mut take_listen);
        let mut config = Self::deserialize(Deserializer::from(table))?;
        let places = [
            (listen, &mut config.listen),
            (gate_listen, &mut config.gate_listen),
            (relay_listen, &mut config.relay_listen),
        ];
        for (written, into) in places {
            if let Some(listen) = written {
                *into = Listen::deserialize(ValueDeserializer::from(listen))?;
            }
        }
        Ok(config)
    }

    /// The engine's times.
    pub(crate) fn seat_settings(&self) -> SeatSettings {
        let (seats, usual) = (&self.seats, SeatSettings::default());
        SeatSettings {
            seat_silence: seats.silence_s.seconds(),
            seat_silence_hidden: seats.silence_hidden_s.seconds(),
            place_silence: seats.place_silence_s.seconds(),
            place_silence_hidden: seats.place_silence_hidden_s.seconds(),
            offer: seats.offer_s.seconds(),
            kick_block: seats.kick_block_s.seconds(),
            // T5: a departure is remembered for as long as a token of it could still be shown.
            departure_memory: usual.departure_memory.max(self.viewer_token_life() * 2),
            ..usual
        }
    }

    /// Connections that `tidegate up` may have open.
    pub(crate) fn connections(&self) -> usize {
        let control = if self.listen == Listen::Off { 0 } else { self.control.connections_max };
        // Nobody stays at a gate that calls nothing.
        let gate = !self.upstreams.is_empty() && self.gate_listen != Listen::Off;
        control + if gate { self.gate_connections() } else { 0 }
    }

    /// Connections that the gate may have open, in and out.
    pub(crate) fn gate_connections(&self) -> usize {
        let out = self.upstreams.values().map(|upstream| upstream.max_concurrency.get() as usize);
        self.gate.connections_max + out.sum::<usize>()
    }

    /// The store's settings.
    pub(crate) fn store_settings(&self) -> EmbeddedSettings {
        EmbeddedSettings {
            seats: self.seat_settings(),
            max_places: self.seats.max_places.get(),
            file_max_bytes: self.store.file_max_bytes(),
        }
    }

    /// T2.
    pub(crate) fn viewer_token_life(&self) -> Duration {
        Duration::from_secs(self.tokens.viewer_life_s.get().into())
    }
}

impl Store {
    pub(crate) fn file_max_bytes(&self) -> Option<u64> {
        self.file_max_mb.map(|mb| mb.get() * 1024 * 1024)
    }
}

#[cfg(test)]
mod tests;
