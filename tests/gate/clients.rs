//! Clients of other languages: they find nothing wrong with the stand-in itself, and get the same through the gate.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use tidegate_upstreams::{Answer, Rule, Script, Upstream};
use tokio::process::Command;

use crate::stage::Stage;

#[tokio::test]
async fn g28_a_python_client_gets_what_was_sent() {
    passes(python).await;
}

#[tokio::test]
async fn g28_a_node_client_gets_what_was_sent() {
    passes(node).await;
}

#[tokio::test]
async fn g28_a_python_client_gets_the_same_through_the_gate() {
    passes_through_the_gate(python).await;
}

#[tokio::test]
async fn g28_a_node_client_gets_the_same_through_the_gate() {
    passes_through_the_gate(node).await;
}

#[tokio::test]
async fn a_client_ends_with_1_when_something_is_off() {
    let mut broken = Script::menu();
    broken.rules.insert(0, Rule::new("POST /v1/*", [Answer::status(500)]).unwrap());
    let upstream = Upstream::with(broken).await.unwrap();
    for client in [python, node] {
        let output = run(client().arg(upstream.url(""))).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let off = results(&output).as_object().unwrap().values().filter(|result| result["ok"] == false).count();
        assert_eq!(off, 1, "{}", results(&output));
    }
}

async fn passes(client: fn() -> Command) {
    let upstream = Upstream::start().await.unwrap();
    let results = passed(client().arg(upstream.url(""))).await;
    assert_eq!(results["throttled"]["seen"], json!({"status": 429, "retry_after": "30", "tidegate": {}}));
}

async fn passes_through_the_gate(client: fn() -> Command) {
    // Quick, and paced all the same. One of the calls is answered with a redirect to a captcha, which is a throttle.
    let stage = Stage::with(Script::menu(), "min_interval_ms = 20\ncooldown_ms = 300").await;
    let results = passed(client().arg(stage.gate.url("/api")).arg("--through-gate")).await;
    let again = ["throttled_again", "throttledAgain"].iter().find_map(|name| results.get(name)).unwrap();
    assert_eq!(again["seen"]["tidegate"]["tidegate-synthetic"], "1");
    let log = stage.upstream.log();
    assert_eq!(log.filter(|entry| entry.path == "/throttled").len(), 1);
    assert_eq!(log.entries.last().unwrap().path, "/throttled", "what came later was answered by the gate");
    assert!(log.max_in_flight() <= 4);
}

/// What a client saw, with nothing off.
async fn passed(client: &mut Command) -> Value {
    let output = run(client).await;
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    results(&output)
}

fn results(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a client to its end, beside the stand-in.
async fn run(client: &mut Command) -> Output {
    client.output().await.unwrap()
}

fn node() -> Command {
    let mut node = Command::new("node");
    node.arg(clients().join("node/client.mjs"));
    node
}

fn python() -> Command {
    let mut command = Command::new(tidegate_tests::python());
    command.arg(clients().join("python/client.py"));
    command
}

fn clients() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
