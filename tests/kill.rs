//! `kill -9` under load: nothing that was answered is lost (D1).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand::RngExt;
use serde_json::Value;
use tidegate_tests::{KEY, Server, tidegate};
use tokio::time::sleep;

const KILLS: usize = 20;
const VIEWERS: usize = 2_000;
const STREAM: &str = r#"{"name":"kill","viewer_cap":500,"queue_max":1000}"#;

#[tokio::test]
async fn d1_kill_9_at_twenty_random_instants_loses_nothing_that_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger.jsonl");
    let mut server = Server::start(&folder.path().join("data"), &[]);
    let (status, stream) = server.call("POST", "/v1/streams", STREAM).await;
    assert_eq!(status, 201, "{stream}");
    let stream = stream["id"].as_str().unwrap().to_owned();
    let load = Load::start(&server, &stream, &ledger);

    for kill in 1..=KILLS {
        // The instant is random on purpose: it may fall into any commit.
        sleep(Duration::from_millis(rand::rng().random_range(300..2_500))).await;
        server.kill();
        let owed = Ledger::read(&ledger).owed;
        server.restart();
        let seated = seated(&server, &stream).await;
        // The load goes on meanwhile: who gave the seat up before the list was read is owed nothing.
        let given_up = Ledger::read(&ledger).given_up;
        let lost: Vec<&String> = owed.difference(&seated).filter(|seat| !given_up.contains(*seat)).collect();
        let stories = || lost.iter().map(|seat| story(&ledger, seat)).collect::<Vec<_>>().join("\n");
        assert!(lost.is_empty(), "kill {kill}: {} of {} seats are gone\n{}", lost.len(), owed.len(), stories());
        println!("kill {kill}: {} seats owed, {} seated, none lost", owed.len(), seated.len());
    }
    let summary = load.end();
    println!("{summary:#}");
    let promises: u64 = summary["promises"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!((promises, &summary["kept"]), (0, &Value::Bool(true)), "{summary:#}");
}

/// What the load's own record says of seats.
#[derive(Default)]
struct Ledger {
    /// A `201` was received, and no other word since.
    owed: BTreeSet<String>,
    /// Its viewer left or went silent.
    given_up: BTreeSet<String>,
}

impl Ledger {
    fn read(path: &Path) -> Self {
        let mut seat_of: BTreeMap<u64, String> = BTreeMap::new();
        let mut given_up = BTreeSet::new();
        for line in lines(path) {
            let viewer = line["viewer"].as_u64().unwrap();
            match (line["call"].as_str().unwrap(), line["status"].as_u64()) {
                ("admit", Some(201)) => drop(seat_of.insert(viewer, line["seat"].as_str().unwrap().to_owned())),
                ("hb" | "token", Some(200)) | (_, Some(503)) => {}
                ("departs", None) => given_up.extend(seat_of.remove(&viewer)),
                _ => drop(seat_of.remove(&viewer)),
            }
        }
        Self { owed: seat_of.into_values().collect(), given_up }
    }
}

/// All that was said to the viewer whose seat is lost, for whoever has to find out why.
fn story(ledger: &Path, seat: &str) -> String {
    let lines: Vec<Value> = lines(ledger).collect();
    let viewer = &lines.iter().find(|line| line["seat"] == seat).unwrap()["viewer"];
    lines.iter().filter(|line| line["viewer"] == *viewer).map(|line| format!("  {line}\n")).collect()
}

/// The last line may be half written: its answer is not known to have been read.
fn lines(ledger: &Path) -> impl Iterator<Item = Value> {
    let text = std::fs::read_to_string(ledger).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>().into_iter()
}

async fn seated(server: &Server, stream: &str) -> BTreeSet<String> {
    let mut seats = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = server.call("GET", &format!("/v1/streams/{stream}/seats?limit=500{cursor}"), "").await;
        assert_eq!(status, 200, "{page}");
        seats.extend(page["seats"].as_array().unwrap().iter().map(|seat| seat["id"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return seats,
        }
    }
}

/// A running load client; it ends with this value, also when the test fails.
struct Load(Child);

impl Load {
    fn start(server: &Server, stream: &str, ledger: &Path) -> Self {
        let load = Command::new(tidegate())
            .args(["load", "--server", &server.url(), "--stream", stream, "--viewers", &VIEWERS.to_string()])
            .args(["--seconds", "600", "--arrive", "5s", "--churn", "10%/10s", "--crash", "1%/10s", "--json"])
            .args(["--key", KEY, "--ledger"])
            .arg(ledger)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        Self(load.unwrap())
    }

    /// Ends the run as ctrl-C does, and reads its summary.
    fn end(mut self) -> Value {
        let interrupted = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        serde_json::from_reader(self.0.stdout.take().unwrap()).unwrap()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // After `end` it ends by itself; this is for a test that failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
