//! Which settings a command goes by: flags over environment over file over defaults (O3).

use std::path::{Path, PathBuf};

use crate::config::{Config, Fault, Listen, LogFormat, Telemetry};

/// Where the settings and the data are.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Settings {
    /// The settings file (docs/SETTINGS.md says every key)
    #[arg(long, value_name = "FILE", env = "TIDEGATE_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// The data directory [default: tidegate-data, or `[store]` data of the file]
    #[arg(long, value_name = "DIR", env = "TIDEGATE_DATA")]
    pub(crate) data: Option<PathBuf>,
}

impl Settings {
    /// Reads the file, if one is named, and puts the flags over it.
    pub(crate) fn config(&self) -> Result<Config, Fault> {
        let mut config = match &self.config {
            Some(file) => Config::read(file)?,
            None => Config::default(),
        };
        if let Some(data) = &self.data {
            config.store.data.clone_from(data);
        }
        Ok(config)
    }
}

/// Where the gate listens.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct GateListen {
    /// Where callers reach the gate [default: 127.0.0.1:8090, or `[gate]` listen of the file]
    #[arg(long, value_name = "ADDR:PORT|off", env = "TIDEGATE_GATE_LISTEN")]
    gate_listen: Option<Listen>,
}

/// Where the relay listens.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RelayListen {
    /// Where viewers and publishers reach the relay, UDP, and where its pages are, TCP [default: 127.0.0.1:4443, or
    /// `[relay]` listen of the file]
    #[arg(long, value_name = "ADDR:PORT|off", env = "TIDEGATE_RELAY_LISTEN")]
    relay_listen: Option<Listen>,
}

/// What is logged, and how.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Logging {
    /// What is logged: a level, or levels by part [default: info, or `[telemetry]` log of the file]
    #[arg(long, value_name = "FILTER", env = "TIDEGATE_LOG")]
    log: Option<String>,

    /// How it is logged [default: text, or `[telemetry]` log_format of the file]
    #[arg(long, value_name = "FORMAT", env = "TIDEGATE_LOG_FORMAT")]
    log_format: Option<LogFormat>,
}

impl GateListen {
    /// Puts the flag over what the file says.
    pub(crate) fn over(&self, config: &mut Config) {
        if let Some(listen) = self.gate_listen {
            config.gate_listen = listen;
        }
    }
}

impl RelayListen {
    /// Puts the flag over what the file says.
    pub(crate) fn over(&self, config: &mut Config) {
        if let Some(listen) = self.relay_listen {
            config.relay_listen = listen;
        }
    }
}

impl Logging {
    /// Puts the flags over what the file says.
    pub(crate) fn over(&self, config: &mut Config) {
        if let Some(log) = &self.log {
            config.telemetry.log = Some(log.clone());
        }
        if let Some(format) = self.log_format {
            config.telemetry.log_format = format;
        }
    }
}

/// Reads the settings again while running; what keeps them from being read is one log line.
pub(crate) fn read_again(file: Option<&Path>, read: impl FnOnce() -> Result<Config, Fault>) -> Option<Config> {
    if file.is_none() {
        tracing::warn!("nothing to reload: there is no settings file; name one with --config");
        return None;
    }
    read().inspect_err(|fault| tracing::error!(%fault, "settings not reloaded, nothing was changed")).ok()
}

/// Says which keys changed in the file and wait for a start.
pub(crate) fn say_waiting(keys: &[(&'static str, bool)]) {
    for (key, _) in keys.iter().filter(|(_, changed)| *changed) {
        tracing::warn!(key, "changed in the file; holds from the next start");
    }
}

/// What of `[telemetry]` cannot change in a running process, and whether it did in the file.
pub(crate) fn telemetry_waiting(old: &Telemetry, new: &Telemetry) -> [(&'static str, bool); 4] {
    [
        ("telemetry.log", old.log != new.log),
        ("telemetry.log_format", old.log_format != new.log_format),
        ("telemetry.otlp_endpoint", old.otlp_endpoint != new.otlp_endpoint),
        ("telemetry.otlp_sample_percent", old.otlp_sample_percent != new.otlp_sample_percent),
    ]
}
