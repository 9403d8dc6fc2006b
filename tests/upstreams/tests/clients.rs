//! The clients of other languages find nothing wrong with the stand-in itself, and say so if there is.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tidegate_upstreams::{Answer, Rule, Script, Upstream};

#[test]
fn g28_a_python_client_gets_what_was_sent() {
    passes(python, "throttled");
}

#[test]
fn g28_a_node_client_gets_what_was_sent() {
    passes(node, "throttled");
}

#[test]
fn a_client_ends_with_1_when_something_is_off() {
    for client in [python, node] {
        let mut broken = Script::menu();
        broken.rules.insert(0, Rule::new("POST /v1/*", [Answer::status(500)]).unwrap());
        let output = run(client, broken);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        let off = results.as_object().unwrap().values().filter(|result| result["ok"] == false);
        assert_eq!(off.count(), 1, "{results}");
    }
}

fn passes(client: fn() -> Command, last: &str) {
    let output = run(client, Script::menu());
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results[last]["seen"], json!({"status": 429, "retry_after": "30", "tidegate": {}}));
}

/// Runs a client to its end against a stand-in.
fn run(client: fn() -> Command, script: Script) -> Output {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = runtime.block_on(Upstream::with(script)).unwrap();
    client().arg(upstream.url("")).output().unwrap()
}

fn node() -> Command {
    let mut node = Command::new("node");
    node.arg(clients().join("node/client.mjs"));
    node
}

/// The first Python that has `requests`.
fn python() -> Command {
    let own = std::env::var("TIDEGATE_PYTHON").ok();
    let has_requests = |python: &String| {
        Command::new(python).args(["-c", "import requests"]).output().is_ok_and(|output| output.status.success())
    };
    let Some(python) = own.into_iter().chain(["python3".to_owned()]).find(has_requests) else {
        panic!(
            "no python3 with `requests`: pip install -r tests/clients/python/requirements.txt, or set TIDEGATE_PYTHON"
        )
    };
    let mut command = Command::new(python);
    command.arg(clients().join("python/client.py"));
    command
}

fn clients() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("clients")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
