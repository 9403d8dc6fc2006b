//! Which settings a command goes by: flags over environment over file over defaults (O3).

use std::path::PathBuf;

use crate::config::{Config, Fault};

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
