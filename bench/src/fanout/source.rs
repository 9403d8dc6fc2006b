//! Where rows come from: a server under measure, and when it was handed each row.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tidegate_youtube::{Script, YouTube};
use tokio::runtime::Runtime;

use crate::http::Server;
use crate::proxy::peers::{fill, free_address, installed, pinned, said_address, start_at};

/// Who sends to the viewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Tidegate,
    Nchan,
}

/// How rows leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// One by one, ten a second.
    Single,
    /// Ten together, once a second: a room that polls each second gives out what a poll brought.
    Batch,
}

/// A server, and rows that come to it.
pub(crate) struct Source {
    pub(crate) server: Server,
    pub(crate) path: String,
    rows: Rows,
}

enum Rows {
    /// The room asks for them, of a stand-in on a runtime of its own.
    Asked { youtube: YouTube, _runtime: Runtime },
    /// They are posted.
    Posted(Arc<Posting>),
}

#[derive(Default)]
struct Posting {
    given: Mutex<BTreeMap<u64, Instant>>,
    over: AtomicBool,
}

impl Source {
    pub(crate) fn start(sender: Sender, release: Release, tidegate: &Path, folder: &Path) -> anyhow::Result<Self> {
        match sender {
            Sender::Tidegate => Self::room(release, tidegate, folder),
            Sender::Nchan => Self::nchan(release, folder),
        }
    }

    /// A room that reads from a stand-in in this process.
    fn room(release: Release, tidegate: &Path, folder: &Path) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let hint_ms = match release {
            Release::Single => 98, // and the poll itself takes two
            Release::Batch => 1_000,
        };
        let script = Script { rate: f64::from(RATE), hint_ms, ..Script::default() };
        let youtube = runtime.block_on(YouTube::start(script))?;
        let server = match release {
            Release::Single => start_host(&youtube.url())?,
            Release::Batch => start_tidegate(tidegate, &youtube.url(), folder)?,
        };
        let path = "/v1/chat/abcdefghij0/events".to_owned();
        Ok(Self { server, path, rows: Rows::Asked { youtube, _runtime: runtime } })
    }

    /// nginx with nchan, and a thread that posts to it.
    fn nchan(release: Release, folder: &Path) -> anyhow::Result<Self> {
        let listen = free_address()?;
        let config = fill(folder, "nginx-nchan.conf", include_str!("../../peers/nginx-nchan.conf"), listen, listen)?;
        let nginx = installed("nginx", None)?;
        let server = start_at(pinned("0", nginx).arg("-p").arg(folder).arg("-c").arg(config), listen)?;
        let posting = Arc::new(Posting::default());
        let posted = Arc::clone(&posting);
        let socket = TcpStream::connect(listen)?;
        socket.set_nodelay(true)?;
        std::thread::spawn(move || posted.run(socket, listen, release));
        Ok(Self { server, path: "/room".to_owned(), rows: Rows::Posted(posting) })
    }

    /// When the server was handed each row, by this process's clock: when the stand-in's answer or the post left.
    pub(crate) fn given(&self) -> BTreeMap<u64, Instant> {
        match &self.rows {
            Rows::Asked { youtube, .. } => {
                let mut given = BTreeMap::new();
                for (at, rows) in youtube.given() {
                    rows.for_each(|row| {
                        given.entry(row).or_insert(at.into_std());
                    });
                }
                given
            }
            Rows::Posted(posting) => posting.given.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Rows::Posted(posting) = &self.rows {
            posting.over.store(true, Ordering::Relaxed);
        }
    }
}

impl Posting {
    /// Posts until it is over. The thread ends with the connection at the latest.
    fn run(&self, mut socket: TcpStream, server: SocketAddr, release: Release) -> anyhow::Result<()> {
        let (every, together) = match release {
            Release::Single => (Duration::from_secs(1) / RATE, 1),
            Release::Batch => (Duration::from_secs(1), u64::from(RATE)),
        };
        let (start, mut answer) = (Instant::now(), [0; 4096]);
        let mut row = 0;
        for turn in 0.. {
            std::thread::sleep((start + every * turn).saturating_duration_since(Instant::now()));
            for _ in 0..together {
                if self.over.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let body = message(row);
                let post = format!(
                    "POST /post HTTP/1.1\r\nhost: {server}\r\ncontent-type: application/json\r\n\
                     content-length: {}\r\n\r\n{body}",
                    body.len()
                );
                self.given.lock().unwrap_or_else(PoisonError::into_inner).insert(row, Instant::now());
                socket.write_all(post.as_bytes())?;
                let read = socket.read(&mut answer).context("posting")?;
                ensure!(answer[..read].starts_with(b"HTTP/1.1 20"), "{}", String::from_utf8_lossy(&answer[..read]));
                row += 1;
            }
        }
        Ok(())
    }
}

/// The data of a row, byte for byte as a room sends them.
fn message(row: u64) -> String {
    format!(
        r#"{{"schema":1,"kind":"message","id":"m{row}","at_us":{},"author":{{"id":"UCabcdefghijklmnopqrstuv","name":"@viewer{}"}},"text":"row {row}"}}"#,
        row * 100_000 + 1,
        row % 97
    )
}

fn start_host(youtube: &str) -> anyhow::Result<Server> {
    let mut host = pinned("0", std::env::current_exe()?);
    host.args(["room", youtube]).env("TOKIO_WORKER_THREADS", "1");
    Server::start(&mut host, said_address)
}

fn start_tidegate(tidegate: &Path, youtube: &str, folder: &Path) -> anyhow::Result<Server> {
    let config = folder.join("fanout.toml");
    let text = format!(
        "[control]\nconnections_max = 20000\nexempt_networks = [\"127.0.0.0/8\"]\n\
         [upstreams.youtube]\npreset = \"youtube\"\nbase_url = \"{youtube}\"\n"
    );
    std::fs::write(&config, text)?;
    let data = folder.join("data");
    std::fs::remove_dir_all(&data).ok();
    let mut up: Command = pinned("0", tidegate);
    up.args(["up", "--listen", "127.0.0.1:0", "--gate-listen", "127.0.0.1:0", "--relay-listen", "off", "--data"])
        .arg(data);
    up.arg("--config").arg(config).env("TOKIO_WORKER_THREADS", "1");
    Server::start(&mut up, |line| line.trim().strip_prefix("control")?.trim().strip_prefix("http://")?.parse().ok())
}

/// Rows a second.
pub(crate) const RATE: u32 = 10;
