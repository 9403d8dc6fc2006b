//! Starts the proxies, each pinned to core 0 with one worker.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use super::wire::Target;
use crate::http::Server;

/// Something that calls go through; without a server of its own it is the origin itself.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) target: Target,
    pub(crate) server: Option<Server>,
}

/// Names of the rows that are compared.
pub(crate) const FLOOR: &str = "bare hyper";
pub(crate) const GATE: &str = "tidegate gate";
/// The gate as it is without settings: each GET could be shared with others, and is told apart from them.
pub(crate) const SHARING: &str = "gate, sharing";

/// The service behind all of them, on core 1.
pub(crate) fn start_origin() -> anyhow::Result<Server> {
    Server::start(pinned("1", std::env::current_exe()?).args(["origin", "127.0.0.1:0"]), said_address)
}

/// All that can be started; what cannot is said and left out.
pub(crate) fn start_all(tidegate: &Path, origin: SocketAddr, folder: &Path) -> anyhow::Result<Vec<Peer>> {
    let mut peers = vec![
        Peer { name: "direct", target: Target { address: origin, prefix: "" }, server: None },
        start_floor(origin)?.peer(FLOOR, ""),
    ];
    for (name, dedupe) in [(GATE, "dedupe = []"), (SHARING, "")] {
        match start_gate(tidegate, origin, folder, dedupe) {
            Ok(gate) => peers.push(gate.peer(name, "/origin")),
            Err(error) => println!("{name}: skipped: {error:#}"),
        }
    }
    for (name, started) in [
        ("nginx", start_nginx(origin, folder)),
        ("HAProxy", start_haproxy(origin, folder)),
        ("Envoy", start_envoy(origin, folder)),
    ] {
        match started {
            Ok(server) => peers.push(server.peer(name, "")),
            Err(error) => println!("{name}: skipped: {error:#}"),
        }
    }
    Ok(peers)
}

fn start_floor(origin: SocketAddr) -> anyhow::Result<Server> {
    let words = ["pass", "127.0.0.1:0", &origin.to_string()];
    Server::start(pinned("0", std::env::current_exe()?).args(words), said_address)
}

/// Our gate: the engine and its metrics on, no spacing, and no limit that the load would meet.
pub(crate) fn start_gate(tidegate: &Path, origin: SocketAddr, folder: &Path, dedupe: &str) -> anyhow::Result<Server> {
    let config = folder.join("gate.toml");
    let text = format!(
        "[upstreams.origin]\npreset = \"generic\"\nbase_url = \"http://{origin}\"\n\
         min_interval_ms = 0\nmax_concurrency = 10000\nmax_queue = 10000\n{dedupe}\n"
    );
    std::fs::write(&config, text)?;
    let mut gate = pinned("0", tidegate);
    gate.args(["gate", "--gate-listen", "127.0.0.1:0", "--config"]).arg(config).env("TOKIO_WORKER_THREADS", "1");
    Server::start(&mut gate, |line| {
        let (before, rest) = line.split_once("http://")?;
        let address = rest.split(|c: char| c.is_whitespace() || c == '/').next()?;
        before.contains("gate").then(|| address.parse().ok())?
    })
}

fn start_nginx(origin: SocketAddr, folder: &Path) -> anyhow::Result<Server> {
    let listen = free_address()?;
    let config = fill(folder, "nginx.conf", include_str!("../../peers/nginx.conf"), origin, listen)?;
    start_at(pinned("0", installed("nginx", None)?).arg("-p").arg(folder).arg("-c").arg(config), listen)
}

/// nginx that collapses: its two addresses are for answers that are stored, and for answers that are not.
pub(crate) fn start_nginx_lock(origin: SocketAddr, folder: &Path) -> anyhow::Result<(Server, SocketAddr)> {
    let (listen, unstored) = (free_address()?, free_address()?);
    let text = include_str!("../../peers/nginx-lock.conf").replace("@UNSTORED@", &unstored.to_string());
    let config = fill(folder, "nginx-lock.conf", &text, origin, listen)?;
    let server = start_at(pinned("0", installed("nginx", None)?).arg("-p").arg(folder).arg("-c").arg(config), listen)?;
    Ok((server, unstored))
}

fn start_haproxy(origin: SocketAddr, folder: &Path) -> anyhow::Result<Server> {
    let listen = free_address()?;
    let config = fill(folder, "haproxy.cfg", include_str!("../../peers/haproxy.cfg"), origin, listen)?;
    start_at(pinned("0", installed("haproxy", None)?).args(["-db", "-q", "-f"]).arg(config), listen)
}

fn start_envoy(origin: SocketAddr, folder: &Path) -> anyhow::Result<Server> {
    let listen = free_address()?;
    let config = fill(folder, "envoy.yaml", include_str!("../../peers/envoy.yaml"), origin, listen)?;
    let mut envoy = pinned("0", installed("envoy", std::env::var_os("ENVOY"))?);
    envoy.args(["--concurrency", "1", "-l", "error", "--disable-hot-restart", "-c"]).arg(config);
    start_at(&mut envoy, listen)
}

impl Server {
    fn peer(self, name: &'static str, prefix: &'static str) -> Peer {
        Peer { name, target: Target { address: self.address, prefix }, server: Some(self) }
    }
}

pub(crate) fn pinned(core: &str, program: impl Into<PathBuf>) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(program.into());
    command
}

/// Where a program is, or an error that says it is not there.
pub(crate) fn installed(name: &str, own: Option<std::ffi::OsString>) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).chain(["/usr/sbin".into()]).map(|folder| folder.join(name));
    let found = own.map(PathBuf::from).into_iter().chain(found).find(|program| program.is_file());
    found.with_context(|| format!("not installed; bench/peers/README.md says how to get {name}"))
}

/// Writes a peer's configuration with its addresses filled in.
pub(crate) fn fill(
    folder: &Path,
    name: &str,
    text: &str,
    origin: SocketAddr,
    listen: SocketAddr,
) -> anyhow::Result<PathBuf> {
    let text = text
        .replace("@LISTEN_PORT@", &listen.port().to_string())
        .replace("@ORIGIN_PORT@", &origin.port().to_string())
        .replace("@LISTEN@", &listen.to_string())
        .replace("@ORIGIN@", &origin.to_string())
        .replace("@FOLDER@", &folder.display().to_string());
    let path = folder.join(name);
    std::fs::write(&path, text)?;
    Ok(path)
}

/// These programs want to be told a port.
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Starts a program that does not say when it listens.
pub(crate) fn start_at(command: &mut Command, address: SocketAddr) -> anyhow::Result<Server> {
    let process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().context("starting a server")?;
    let mut server = Server { process, address };
    for _ in 0..100 {
        if TcpStream::connect(address).is_ok() {
            return Ok(server);
        }
        if let Some(status) = server.process.try_wait()? {
            bail!("ended with {status} before it listened");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("does not listen at {address} after 10 s")
}

pub(crate) fn said_address(line: &str) -> Option<SocketAddr> {
    line.strip_prefix("listening on ")?.parse().ok()
}
