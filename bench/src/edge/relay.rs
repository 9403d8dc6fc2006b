//! The relays that are measured: ours, and the media library's plain one.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use data_encoding::HEXLOWER;
use tidegate_token::Role;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use web_transport_moq::{Client, ClientBuilder};

use super::keys::Keys;
use crate::cpu::run_time;
use crate::memory::resident_kib;

/// A relay's process, pinned to core 0; ended with this value.
pub(crate) struct Relay {
    process: Child,
    door: Door,
    _settings: tempfile::TempDir,
}

/// How sessions come to a relay.
#[derive(Clone)]
pub(crate) struct Door {
    address: SocketAddr,
    /// `None` where anybody may come.
    keys: Option<Keys>,
    certificate: Vec<u8>,
}

/// What a relay says of its load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) busy: f64,
    pub(crate) saturated: bool,
}

impl Relay {
    pub(crate) async fn tidegate(program: &Path, keys: &Keys, admission: &str) -> anyhow::Result<Self> {
        let settings = tempfile::tempdir()?;
        let file = settings.path().join("relay.toml");
        // One address stands for all viewers here.
        std::fs::write(&file, "[relay]\nconnections_per_address = 100000\n")?;
        let address = free()?;
        let control = format!("http://{}", keys.address);
        let mut command = pinned(program);
        command.args(["relay", "--relay-listen", &address.to_string(), "--control", &control, "--config"]);
        command.arg(file).args(["--admission", admission, "--log", "error"]);
        Self::start(&mut command, address, Some(keys.clone()), settings).await
    }

    pub(crate) async fn plain(program: &Path) -> anyhow::Result<Self> {
        let settings = tempfile::tempdir()?;
        let address = free()?;
        let mut command = pinned(program);
        command.args(["--server-bind", &address.to_string(), "--server-tls-generate", "127.0.0.1,localhost"]);
        command.args(["--web-http-listen", &address.to_string(), "--auth-public", STREAM]);
        Self::start(&mut command, address, None, settings).await
    }

    async fn start(
        command: &mut Command,
        address: SocketAddr,
        keys: Option<Keys>,
        settings: tempfile::TempDir,
    ) -> anyhow::Result<Self> {
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("starting a relay")?;
        let mut relay = Self { process, door: Door { address, keys, certificate: Vec::new() }, _settings: settings };
        for _ in 0..START_TRIES {
            if let Some(hash) = page(address, "/certificate.sha256").await {
                relay.door.certificate = HEXLOWER.decode(hash.trim().as_bytes())?;
                return Ok(relay);
            }
            sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("{command:?} does not come up")
    }

    pub(crate) fn door(&self) -> &Door {
        &self.door
    }

    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        run_time(self.process.id())
    }

    /// In KiB.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        resident_kib(self.process.id())
    }

    pub(crate) async fn gauges(&self) -> Option<Gauges> {
        let metrics = page(self.door.address, "/metrics").await?;
        let gauge = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        Some(Gauges { busy: gauge("tidegate_relay_busy ")?, saturated: gauge("tidegate_relay_saturated ")? > 0.5 })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Door {
    /// The address of a session of this role, with a token of its own.
    pub(crate) fn url(&self, role: Role) -> anyhow::Result<url::Url> {
        let query = self.keys.as_ref().map(|keys| format!("?jwt={}", keys.token(role))).unwrap_or_default();
        Ok(format!("https://{}/{STREAM}{query}", self.address).parse()?)
    }

    /// A UDP socket for some of the sessions.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(ClientBuilder::new().with_server_certificate_hashes(vec![self.certificate.clone()])?)
    }
}

fn pinned(program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program).env("TOKIO_WORKER_THREADS", "1");
    command
}

fn free() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

async fn page(address: SocketAddr, path: &str) -> Option<String> {
    let read = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no head")?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
        anyhow::Ok(body.to_owned())
    };
    read.await.ok()
}

/// The one stream there is.
pub(crate) const STREAM: &str = "bench";
/// Tenths of a second.
const START_TRIES: usize = 100;
