//! `[upstreams.NAME]`: what the gate calls, and how.

use std::collections::BTreeMap;
use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;
use tidegate_upstream::{Gate, OutletError, Preset, SetupError, UpstreamSettings, UpstreamToml};

use crate::config::{Listen, Upstreams};

/// What is wrong with an upstream.
pub(super) struct Wrong {
    name: String,
    /// `None`: the name itself.
    key: Option<&'static str>,
    pub(super) said: String,
}

impl Wrong {
    /// Where that is.
    pub(super) fn path(&self) -> Vec<&str> {
        ["upstreams", &self.name].into_iter().chain(self.key).collect()
    }
}

/// Fills in the presets and checks everything that can be checked without calling anybody.
pub(super) fn read(written: BTreeMap<String, UpstreamToml>, gate: Listen) -> Result<Upstreams, Wrong> {
    written.into_iter().map(|(name, toml)| Ok((name.clone(), read_one(name, toml, gate)?))).collect()
}

fn read_one(name: String, toml: UpstreamToml, gate: Listen) -> Result<UpstreamSettings, Wrong> {
    let wrong = |key, said| Wrong { name: name.clone(), key, said };
    let settings = toml.resolve().map_err(|error| wrong(Some(error.key()), error.reason()))?;
    if RESERVED.contains(&name.as_str()) {
        return Err(wrong(None, format!("/{name} is a page of the gate itself; choose another name")));
    }
    let Some(url) = &settings.base_url else {
        return Err(wrong(Some("base_url"), missing_url(settings.preset)));
    };
    if is_gate_itself(url, gate) {
        return Err(wrong(Some("base_url"), "is where this gate listens: a call would go round in it".to_owned()));
    }
    match Gate::check(&name, &settings) {
        Ok(()) => Ok(settings),
        Err(SetupError::Name { .. }) => Err(wrong(None, NAME.to_owned())),
        Err(SetupError::Outlet { error: OutletError::BaseUrl { .. }, .. }) => {
            Err(wrong(Some("base_url"), URL.to_owned()))
        }
        Err(SetupError::Outlet { error: OutletError::CaFile { file, error }, .. }) => {
            let said = format!("{}: {error}; name a PEM file of certificates, or leave it out", file.display());
            Err(wrong(Some("ca_file"), said))
        }
    }
}

fn is_gate_itself(url: &str, gate: Listen) -> bool {
    let (Listen::On(gate), Ok(url)) = (gate, url.parse::<Uri>()) else { return false };
    let usual = if url.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    if url.port_u16().unwrap_or(usual) != gate.port() {
        return false;
    }
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let any = gate.ip().is_unspecified();
    match host.parse::<IpAddr>() {
        Ok(address) => address == gate.ip() || (any && address.is_loopback()),
        Err(_) => host == "localhost" && (any || gate.ip().is_loopback()),
    }
}

fn missing_url(preset: Preset) -> String {
    let preset = preset.name();
    format!("is missing, and the preset {preset} has none; write where it is: base_url = \"https://api.example.com\"")
}

/// Paths that the gate answers itself, beside those of its upstreams.
pub(crate) const RESERVED: [&str; 3] = ["healthz", "readyz", "metrics"];

const NAME: &str = "is no name for a path; use 1 to 64 letters, digits, '-', '_' and '.'";
const URL: &str = "write http:// or https://, a host, and no query, fragment or password";
