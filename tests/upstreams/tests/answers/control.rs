//! The control routes, as another language uses them, and the program.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tidegate_upstreams::{Log, Script, Upstream};

use crate::caller::{Reply, ask, call, get, over_http2};

async fn post(upstream: &Upstream, path: &str, body: Value) -> Reply {
    call(upstream, ask(upstream, "POST", path, body.to_string())).await
}

#[tokio::test]
async fn a_script_is_set_at_run_time_and_read_back() {
    let upstream = Upstream::start().await.unwrap();
    let script = json!({"rules": [{"route": "GET /a", "answers": [{"status": 418}], "then": "pass_on"}]});
    assert_eq!(post(&upstream, "/_script", script.clone()).await.status, 204);
    assert_eq!(get(&upstream, "/a").await.status, 418);
    assert_eq!(get(&upstream, "/a").await.status, 200);
    let read_back: Script = serde_json::from_slice(&get(&upstream, "/_script").await.body).unwrap();
    assert_eq!(read_back, serde_json::from_value(script).unwrap());
}

#[tokio::test]
async fn a_wrong_script_is_refused_with_its_fault_and_changes_nothing() {
    let upstream = Upstream::start().await.unwrap();
    for (script, says) in [
        (json!({"rulez": []}), "unknown field `rulez`"),
        (json!({"rules": [{"route": "/a", "answers": []}]}), "`/a` is no route"),
        (json!({"otherwise": {"body": "eho"}}), "unknown variant `eho`"),
    ] {
        let reply = post(&upstream, "/_script", script).await;
        assert_eq!(reply.status, 400);
        assert!(reply.json()["detail"].as_str().unwrap().contains(says), "{reply:?}");
    }
    assert_eq!(get(&upstream, "/throttled").await.status, 429);
}

#[tokio::test]
async fn the_log_is_read_with_its_summary_and_forgotten_on_reset() {
    let upstream = Upstream::start().await.unwrap();
    let mut request = ask(&upstream, "GET", "/throttled?a=1", "");
    for (name, value) in [("x-key", "room-1"), ("tidegate-key", "leak"), ("x-unlogged", "1")] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    call(&upstream, over_http2(&upstream, request)).await;
    get(&upstream, "/echo").await;
    let reply = get(&upstream, "/_log").await;
    let summary = &reply.json()["summary"];
    assert_eq!((&summary["requests"], &summary["max_in_flight"]), (&json!(2), &json!(1)));
    assert_eq!(summary["by_status"], json!({"200": 1, "429": 1}));
    assert_eq!(summary["by_key"], json!({"": 1, "room-1": 1}));
    assert!(summary["min_gap_ms"].as_f64().unwrap() > 0.0);
    let log: Log = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(log, upstream.log());
    let first = &log.entries[0];
    assert_eq!((first.operation.as_str(), first.query.as_str()), ("* /throttled", "a=1"));
    assert_eq!(first.headers["tidegate-key"], ["leak"]);
    assert!(!first.headers.contains_key("x-unlogged") && first.whole);
    assert_eq!(post(&upstream, "/_reset", Value::Null).await.status, 204);
    assert!(upstream.log().is_empty());
}

#[tokio::test]
async fn addresses_are_throttled_and_latches_released_over_http() {
    let upstream = Upstream::start().await.unwrap();
    let script = json!({"otherwise": {"hold": "door", "body": "empty"}});
    post(&upstream, "/_script", script).await;
    let (reply, released) = tokio::join!(get(&upstream, "/"), async {
        upstream.wait_for_arrivals(1).await;
        post(&upstream, "/_release", json!({"latch": "door", "calls": 1})).await
    });
    assert_eq!((reply.status, released.status), (200, 204));
    assert_eq!(post(&upstream, "/_throttle", json!({"for_ms": 60_000})).await.status, 204);
    assert_eq!(get(&upstream, "/").await.status, 429);
}

#[tokio::test]
async fn an_unknown_control_route_says_which_there_are() {
    let upstream = Upstream::start().await.unwrap();
    let reply = get(&upstream, "/_lgo").await;
    assert_eq!(reply.status, 404);
    assert!(reply.json()["detail"].as_str().unwrap().contains("GET /_log"));
    assert!(upstream.log().is_empty());
}

#[test]
fn the_program_says_where_it_listens() {
    let mut child = program().args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().parse::<std::net::SocketAddr>().unwrap();
    let connected = std::net::TcpStream::connect(address);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(connected.is_ok());
}

#[test]
fn the_program_refuses_a_wrong_script_and_names_it() {
    let file = std::env::temp_dir().join(format!("tidegate-upstreams-{}.json", std::process::id()));
    std::fs::write(&file, r#"{"latency": 1}"#).unwrap();
    let output = program().arg("--script").arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let says = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(says.contains("is no script") && says.contains("unknown field `latency`"), "{says}");
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tidegate-upstreams"))
}
