//! Runs the program and reads what it says.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// A key that a test chose.
pub(crate) const KEY: &str = "test-key-0123456789abcdef0123456789abcdef";

/// The program, with nothing of the caller's environment that it would heed.
pub(crate) fn tidegate(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    for name in ["KEY", "DATA", "CONFIG", "CONTROL", "LISTEN", "LOG", "LOG_FORMAT", "RELAY_LISTEN", "RELAY_SECRET"] {
        command.env_remove(format!("TIDEGATE_{name}"));
    }
    // Each test has ports of its own, and no relay unless it is about one; a flag wins over this.
    command.args(words).env("TIDEGATE_GATE_LISTEN", "127.0.0.1:0").env("TIDEGATE_RELAY_LISTEN", "off");
    command.stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn run(words: &[&str]) -> Output {
    tidegate(words).output().unwrap()
}

/// What it printed, with nothing wrong.
pub(crate) fn said(words: &[&str]) -> String {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// What it complained about, with exit code 1.
pub(crate) fn complaint(words: &[&str]) -> String {
    let output = run(words);
    assert_eq!(output.status.code(), Some(1), "{words:?}: {}", text(&output.stdout));
    text(&output.stderr)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A running server. It is killed with this value.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    pub(crate) gate: SocketAddr,
    stdout: Receiver<String>,
    log: Receiver<String>,
}

impl Server {
    /// Starts it on a port that the system chooses.
    pub(crate) fn start(data: &Path, words: &[&str]) -> Self {
        Self::spawn(tidegate(&["up", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]).args(words))
    }

    /// Starts what is prepared, and waits until it says where it listens.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut server = Self::begin(command);
        server.address = server.heard_address("  control  ");
        server.gate = server.heard_address("  gate     ");
        server
    }

    /// Starts the gate alone, on a port that the system chooses.
    pub(crate) fn gate(config: &Path) -> Self {
        let mut server = Self::begin(&mut tidegate(&["gate", "--config", config.to_str().unwrap()]));
        server.gate = server.heard_address("  gate     ");
        server
    }

    /// Starts a relay alone, on a port that the system chooses; its pages are at `address`.
    pub(crate) fn relay(control: &str, words: &[&str]) -> Self {
        let mut command = tidegate(&["relay", "--relay-listen", "127.0.0.1:0", "--control", control]);
        let mut server = Self::begin(command.args(words));
        server.address = server.heard_address("  pages    ");
        server
    }

    /// Starts a command that prints and goes on.
    pub(crate) fn printing(words: &[&str]) -> Self {
        Self::begin(&mut tidegate(words))
    }

    fn begin(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = lines(process.stdout.take().unwrap());
        let log = lines(process.stderr.take().unwrap());
        Self { process, address: NOWHERE, gate: NOWHERE, stdout, log }
    }

    fn heard_address(&mut self, label: &str) -> SocketAddr {
        let line = self.line_with(label);
        line.split("http://").nth(1).map_or(NOWHERE, |address| address.parse().unwrap())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next line of stdout that holds this; the ones before are gone.
    pub(crate) fn line_with(&mut self, words: &str) -> String {
        wait_for(&self.stdout, words)
    }

    /// The next line of the log that holds this; the ones before are gone.
    pub(crate) fn logged(&mut self, words: &str) -> String {
        wait_for(&self.log, words)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Kills it: no farewell, no flush.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for its end; the exit code, the rest of stdout, the rest of the log.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        let code = self.process.wait().unwrap().code();
        let rest = |lines: &Receiver<String>| lines.iter().map(|line| line + "\n").collect::<String>();
        (code, rest(&self.stdout), rest(&self.log))
    }

    /// Stops it as a service manager does.
    pub(crate) fn stop(self) -> String {
        self.signal(Signal::TERM);
        let (code, stdout, log) = self.end();
        assert_eq!(code, Some(0), "{log}");
        stdout
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn wait_for(lines: &Receiver<String>, words: &str) -> String {
    let mut before = Vec::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line.contains(words) => return line,
            Ok(line) => before.push(line),
            Err(_) => panic!("no line with {words:?} after\n{}", before.join("\n")),
        }
    }
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = channel();
    let pass_on = move |to: Sender<String>| {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                break;
            }
        }
    };
    thread::spawn(|| pass_on(to));
    lines
}

/// A line that has not come by then will not come.
const PATIENCE: Duration = Duration::from_secs(30);
/// What is off.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
