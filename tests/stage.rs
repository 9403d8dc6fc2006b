//! What the whole-product tests share: real processes, and a plain client to talk to them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// The secret key of the tests' tenant.
pub const KEY: &str = "test-key-0123456789abcdef0123456789abcdef";

/// The binary under test, which cargo built beside this test.
///
/// # Panics
/// When it is not there.
#[must_use]
pub fn tidegate() -> PathBuf {
    let beside = std::env::current_exe().unwrap();
    let path = beside.parent().unwrap().parent().unwrap().join("tidegate");
    assert!(path.exists(), "{} is not built: run ./x test, or cargo build -p tidegate first", path.display());
    path
}

/// The first Python that has `requests`, as clients of the gate use it.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn python() -> String {
    let own = std::env::var("TIDEGATE_PYTHON").ok();
    let has_requests = |python: &String| {
        Command::new(python).args(["-c", "import requests"]).output().is_ok_and(|output| output.status.success())
    };
    own.into_iter().chain(["python3".to_owned()]).find(has_requests).unwrap_or_else(|| {
        panic!(
            "no python3 with `requests`: pip install -r tests/clients/python/requirements.txt, or set TIDEGATE_PYTHON"
        )
    })
}

/// A server process with its data folder; ended with this value.
pub struct Server {
    process: Child,
    /// Where it listens.
    pub address: SocketAddr,
    arguments: Vec<String>,
    data: PathBuf,
}

impl Server {
    /// Starts `tidegate up` on a free port of its own, with these further arguments.
    ///
    /// # Panics
    /// When it does not come up.
    #[must_use]
    pub fn start(data: &Path, arguments: &[&str]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let arguments = arguments.iter().map(ToString::to_string).collect::<Vec<_>>();
        let process = spawn(data, free, &arguments);
        Self { process, address: free, arguments, data: data.to_owned() }
    }

    /// Kills it with signal 9: no farewell, no flush.
    ///
    /// # Panics
    /// When the process cannot be signalled.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again on the same port and data.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn restart(&mut self) {
        self.process = spawn(&self.data, self.address, &self.arguments);
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Calls it with the tenant's key; the status and the JSON body.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut send, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {KEY}"))
            .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
            .unwrap();
        let answer = send.send_request(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the server and waits for the line that says its address.
fn spawn(data: &Path, address: SocketAddr, arguments: &[String]) -> Child {
    let mut command = Command::new(tidegate());
    command.env("TIDEGATE_RELAY_LISTEN", "off");
    command.args(["up", "--listen", &address.to_string(), "--gate-listen", "127.0.0.1:0", "--key", KEY, "--data"]);
    let (process, said) = start(command.arg(data).args(arguments), "  control  http://");
    assert_eq!(said, address);
    process
}

/// A process of `tidegate gate`; ended with this value.
pub struct GateServer {
    process: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl GateServer {
    /// Starts it with these settings, on a free port.
    ///
    /// # Panics
    /// When it does not come up.
    #[must_use]
    pub fn start(config: &Path) -> Self {
        let mut command = Command::new(tidegate());
        command.args(["gate", "--gate-listen", "127.0.0.1:0", "--config"]);
        let (process, address) = start(command.arg(config), "  gate     http://");
        Self { process, address }
    }

    /// Asks it to stop, as a service manager does.
    ///
    /// # Panics
    /// When the process cannot be signalled.
    pub fn ask_to_stop(&self) {
        let asked = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }

    /// Waits for its end, and says whether it ended well.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn ends_well(&mut self) -> bool {
        self.process.wait().unwrap().success()
    }

    /// The URL of a path: `url("/NAME/…")`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for GateServer {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a process and waits for the line that says its address.
fn start(command: &mut Command, label: &str) -> (Child, SocketAddr) {
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let said = lines.find_map(|line| line.unwrap().strip_prefix(label)?.parse().ok());
    let address = said.expect("the server ended before it said its address");
    // The rest is read and dropped, so that the server never waits for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    (process, address)
}
