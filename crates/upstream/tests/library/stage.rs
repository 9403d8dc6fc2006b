//! What the tests have in common: a gate from TOML, answers, and a notebook of starts and ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use tidegate_upstream::{CallError, CallOptions, Done, Gate, Key, UpstreamSettings, UpstreamToml};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

pub(crate) type Answer = Response<Bytes>;
pub(crate) type Called = Result<Done<Answer>, CallError<Answer>>;

pub(crate) fn settings(toml: &str) -> UpstreamSettings {
    toml::from_str::<UpstreamToml>(toml).unwrap().resolve().unwrap()
}

/// A gate to one upstream, `api`.
pub(crate) fn gate(toml: &str) -> Gate {
    Gate::new([("api", settings(toml))]).unwrap()
}

pub(crate) fn ok() -> Answer {
    Response::new(Bytes::from_static(b"{}"))
}

pub(crate) fn status(status: u16) -> Answer {
    let mut response = ok();
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

/// A 429 that asks for so many seconds.
pub(crate) fn throttled(retry_after: &str) -> Answer {
    let mut response = status(429);
    response.headers_mut().insert("retry-after", retry_after.parse().unwrap());
    response
}

pub(crate) fn keyed(key: &str) -> CallOptions {
    CallOptions { key: Some(Key::of(key)), ..CallOptions::default() }
}

/// When calls started and ended, and who they were.
#[derive(Clone, Default)]
pub(crate) struct Notebook(Arc<Mutex<Vec<Note>>>);

#[derive(Clone)]
pub(crate) struct Note {
    pub(crate) who: String,
    pub(crate) started: Instant,
    pub(crate) ended: Option<Instant>,
}

impl Notebook {
    /// A call that takes this long and gives this answer.
    pub(crate) async fn call(self, who: String, takes: Duration, answer: Answer) -> Answer {
        let place = {
            let mut notes = self.0.lock().unwrap();
            notes.push(Note { who, started: Instant::now(), ended: None });
            notes.len() - 1
        };
        let _ending = Ending { notebook: self.clone(), place };
        sleep(takes).await;
        answer
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn who(&self) -> Vec<String> {
        self.notes().into_iter().map(|note| note.who).collect()
    }

    /// Milliseconds from `since` to each start.
    pub(crate) fn starts(&self, since: Instant) -> Vec<u128> {
        self.notes().iter().map(|note| (note.started - since).as_millis()).collect()
    }

    pub(crate) fn min_gap(&self) -> Duration {
        self.notes().windows(2).map(|pair| pair[1].started - pair[0].started).min().unwrap()
    }

    pub(crate) fn max_running(&self) -> usize {
        let notes = self.notes();
        let running = |at: Instant| {
            notes.iter().filter(|note| note.started <= at && note.ended.is_none_or(|ended| ended > at)).count()
        };
        notes.iter().map(|note| running(note.started)).max().unwrap_or(0)
    }
}

/// Notes a call's end, also when it is cancelled.
struct Ending {
    notebook: Notebook,
    place: usize,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.notebook.0.lock().unwrap()[self.place].ended = Some(Instant::now());
    }
}

/// Makes one call in a task of its own.
pub(crate) fn spawn(
    gate: &Gate,
    options: CallOptions,
    notebook: &Notebook,
    who: &str,
    takes_ms: u64,
    answer: Answer,
) -> JoinHandle<Called> {
    let (gate, notebook, who) = (gate.clone(), notebook.clone(), who.to_owned());
    tokio::spawn(async move {
        let attempt = || notebook.clone().call(who.clone(), Duration::from_millis(takes_ms), answer.clone());
        gate.call("api", options, attempt).await
    })
}

/// Lets every task run that can.
pub(crate) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}
