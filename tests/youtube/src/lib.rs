//! A stand-in of YouTube's live chat, for tests and demos of the rooms.
//!
//! It serves a channel's and a video's page and answers polls, with a chat that it makes up at any rate: row *n* is
//! said *n / rate* seconds after the start, so what a viewer must get is known. It answers by a [`Script`]; single
//! answers ([`Fault`]) and throttles by address come ahead of it. All times are tokio's, so that a test with paused
//! time sees virtual time on both sides. Its log holds what was asked for, and when.

mod answers;
mod serve;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// What it shows and how it answers.
#[derive(Clone, Debug)]
pub struct Script {
    /// Rows a second.
    pub rate: f64,
    /// `timeoutMs` of its answers.
    pub hint_ms: u64,
    /// Rows that an answer reaches back at most. YouTube: 150 to 200.
    pub reach_rows: u64,
    /// Rows of the backlog behind a page's token.
    pub backlog: u64,
    /// Whether the stream goes on.
    pub is_live: bool,
}

/// An answer out of the order of things, to the next call.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The status.
    pub status: u16,
    /// `Retry-After`, where it has one.
    pub retry_after: Option<String>,
    /// `Location`, where it has one.
    pub location: Option<String>,
    /// The body.
    pub body: String,
}

/// One call that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Since the start.
    pub at: Duration,
    /// `GET` or `POST` and the path, without its query.
    pub what: String,
    /// The status of the answer.
    pub status: u16,
}

/// A stand-in; dropping it closes its port and all its connections.
#[derive(Debug)]
pub struct YouTube {
    shared: Arc<Shared>,
    address: SocketAddr,
    _closing: watch::Sender<()>,
}

#[derive(Debug)]
struct Shared {
    begun: Instant,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    script: Script,
    faults: VecDeque<Fault>,
    throttled_until: Option<Instant>,
    /// Tokens of earlier pages are refused.
    tokens_from: u64,
    log: Vec<Call>,
}

impl Default for Script {
    fn default() -> Self {
        Self { rate: 1.0, hint_ms: 5_000, reach_rows: 200, backlog: 50, is_live: true }
    }
}

impl Fault {
    /// An answer with this status and body.
    #[must_use]
    pub fn new(status: u16, body: &str) -> Self {
        Self { status, retry_after: None, location: None, body: body.to_owned() }
    }
}

impl YouTube {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (closing, closed) = watch::channel(());
        let inside = Inside { script, faults: VecDeque::new(), throttled_until: None, tokens_from: 0, log: Vec::new() };
        let shared = Arc::new(Shared { begun: Instant::now(), inside: Mutex::new(inside) });
        tokio::spawn(serve::serve(Arc::clone(&shared), listener, closed));
        Ok(Self { shared, address, _closing: closing })
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes what it shows.
    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.shared.inside().script);
    }

    /// Answers the next calls with these, one each.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.shared.inside().faults.extend(faults);
    }

    /// Answers everything with 429 for a time.
    pub fn throttle_for(&self, time: Duration) {
        self.shared.inside().throttled_until = Some(Instant::now() + time);
    }

    /// Refuses every token that it has given out.
    pub fn expire_tokens(&self) {
        let rows = self.shared.rows();
        self.shared.inside().tokens_from = rows + 1;
    }

    /// The calls so far, in order.
    #[must_use]
    pub fn log(&self) -> Vec<Call> {
        self.shared.inside().log.clone()
    }

    /// Rows that were said so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shared.rows()
    }
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time times a rate, never negative")]
    fn rows(&self) -> u64 {
        let rate = self.inside().script.rate;
        (self.begun.elapsed().as_secs_f64() * rate) as u64
    }
}
