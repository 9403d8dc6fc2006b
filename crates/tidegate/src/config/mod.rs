//! Settings: one TOML file, overridden by the environment and the flags.

mod bounds;
mod fault;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tidegate_control::{ControlSettings, TokenSettings};
use tidegate_seats::SeatSettings;
use tidegate_store::EmbeddedSettings;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};

pub(crate) use fault::Fault;
pub(crate) use values::{Listen, LogFormat, Whole};

/// Everything that can be set. `docs/SETTINGS.md` says what each key means; a test holds it to this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// `[control] listen`, which is the program's and not the control's: serde cannot both flatten a struct and
    /// refuse unknown keys, so it is taken out of the section first.
    #[serde(skip)]
    pub(crate) listen: Listen,
    pub(crate) control: ControlSettings,
    pub(crate) seats: Seats,
    pub(crate) tokens: TokenSettings,
    pub(crate) store: Store,
    pub(crate) telemetry: Telemetry,
}

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
        let config = Self::read_toml(text).map_err(|error| Fault::of_toml(file, text, &error))?;
        match bounds::fault(&config) {
            None => Ok(config),
            Some((key, said)) => Err(Fault::of_key(file, text, key, said)),
        }
    }

    fn read_toml(text: &str) -> Result<Self, toml::de::Error> {
        let mut table = DeTable::parse(text)?;
        let listen = match table.get_mut().get_mut("control").map(|control| control.get_mut()) {
            Some(DeValue::Table(control)) => control.remove("listen"),
            _ => None,
        };
        let mut config = Self::deserialize(Deserializer::from(table))?;
        if let Some(listen) = listen {
            config.listen = Listen::deserialize(ValueDeserializer::from(listen))?;
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
