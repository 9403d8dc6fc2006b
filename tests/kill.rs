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
    let load = load(&server, &stream, &ledger);

    for kill in 1..=KILLS {
        // The instant is random on purpose: it may fall into any commit.
        sleep(Duration::from_millis(rand::rng().random_range(300..2_500))).await;
        server.kill();
        let owed = seats_owed(&ledger);
        server.restart();
        let seated = seated(&server, &stream).await;
        let lost: Vec<&String> = owed.difference(&seated).collect();
        assert!(
            lost.is_empty(),
            "kill {kill}: of {} seats answered 201, {} are gone: {lost:?}",
            owed.len(),
            lost.len()
        );
        println!("kill {kill}: {} seats owed, {} seated, none lost", owed.len(), seated.len());
    }
    let summary = end(load);
    println!("{summary:#}");
    assert_eq!(summary["broken_promises"].as_object().map(serde_json::Map::len).unwrap_or_default(), 0, "{summary:#}");
}

/// Seats whose `201` was received and whose viewer has not left, gone silent or been told otherwise since.
fn seats_owed(ledger: &Path) -> BTreeSet<String> {
    let mut owed: BTreeMap<u64, String> = BTreeMap::new();
    for line in std::fs::read_to_string(ledger).unwrap_or_default().lines() {
        // The last line may be half written: its answer is not known to have been read.
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let viewer = line["viewer"].as_u64().unwrap();
        match (line["call"].as_str().unwrap(), line["status"].as_u64()) {
            ("admit", Some(201)) => drop(owed.insert(viewer, line["seat"].as_str().unwrap().to_owned())),
            ("hb", Some(200)) | ("token", _) => {}
            ("admit" | "hb", Some(503)) => {}
            _ => drop(owed.remove(&viewer)),
        }
    }
    owed.into_values().collect()
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

fn load(server: &Server, stream: &str, ledger: &Path) -> Child {
    Command::new(tidegate())
        .args([
            "load",
            "--server",
            &server.url(),
            "--stream",
            stream,
            "--viewers",
            &VIEWERS.to_string(),
            "--seconds",
            "600",
        ])
        .args(["--arrive", "5s", "--churn", "10%/10s", "--crash", "1%/10s", "--json", "--key", KEY, "--ledger"])
        .arg(ledger)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Ends the load as ctrl-C does, and reads its summary.
fn end(load: Child) -> Value {
    let interrupted = Command::new("kill").args(["-INT", &load.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = load.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|why| panic!("{why}: {}", String::from_utf8_lossy(&output.stdout)))
}
