//! The gate's port: alone and in `up`, how it is taken, told about and stopped. What passes through it is tested
//! with the whole product, where there is somebody to call.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::http::get;
use crate::program::{Server, complaint, said, tidegate};

/// A settings file with an upstream where nobody listens.
fn settings(dir: &Path, more: &str) -> PathBuf {
    let file = dir.join("tidegate.toml");
    fs::write(&file, format!("[upstreams.api]\nbase_url = \"http://127.0.0.1:9\"\n{more}")).unwrap();
    file
}

/// A page as text.
fn page(server: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn o2_the_gate_runs_alone_and_says_how_each_upstream_is_called() {
    let dir = tempdir().unwrap();
    let mut server = Server::gate(&settings(dir.path(), ""));
    let gate = server.gate;
    server.line_with(&format!("http://{gate}/api/…  calls http://127.0.0.1:9"));
    server.line_with("at most 4 calls/s, 4 at once; a 429 stops everything for its Retry-After, else 30 s");
    let (status, problem) = get(gate, "/nobody/x", "");
    assert_eq!((status, &problem["upstreams"]), (404, &serde_json::json!(["api"])));
    server.stop();
}

#[test]
fn o1_the_gate_is_in_up_too_and_its_port_is_said() {
    let dir = tempdir().unwrap();
    let file = settings(dir.path(), "");
    let server = Server::start(&dir.path().join("data"), &["--config", file.to_str().unwrap()]);
    assert_eq!(get(server.gate, "/api/x", "").1["code"], "upstream_unreachable");
    let metrics = page(server.address, "/metrics");
    assert!(metrics.contains("tidegate_gate_starts_total{upstream=\"api\"}"), "{metrics}");
    server.stop();

    let data = dir.path().join("other");
    let mut command = tidegate(&["up", "--listen", "127.0.0.1:0", "--gate-listen", "off", "--data"]);
    let server = Server::spawn(command.arg(data));
    assert_eq!(server.gate.port(), 0, "it is off");
    server.stop();
}

#[test]
fn o4_the_gates_port_answers_for_itself() {
    let dir = tempdir().unwrap();
    let server = Server::gate(&settings(dir.path(), ""));
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(server.gate, path, ""), (200, serde_json::json!({"status": "ok"})));
    }
    get(server.gate, "/api/x", "");
    let metrics = page(server.gate, "/metrics");
    for line in [
        "# HELP tidegate_gate_starts_total ",
        "tidegate_gate_starts_total{upstream=\"api\"} 1\n",
        "tidegate_gate_throttles_total{upstream=\"api\",signal=\"status\"} 0\n",
        "tidegate_gate_problems_total{code=\"upstream_unreachable\"} 1\n",
        "tidegate_gate_wait_seconds_bucket{upstream=\"api\",le=\"30\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{line:?} is not in\n{metrics}");
    }
    assert_eq!(crate::http::post(server.gate, "/metrics", "").0, 404, "only to be read");
}

#[test]
fn o1_a_taken_gate_port_is_named_with_its_setting_and_a_free_one() {
    let dir = tempdir().unwrap();
    let file = settings(dir.path(), "");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (listen, file) = (address.to_string(), file.to_str().unwrap());
    let data = dir.path().join("data");
    for words in [
        vec!["gate", "--config", file, "--gate-listen", &listen],
        vec!["up", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap(), "--gate-listen", &listen],
    ] {
        let said = complaint(&words);
        assert!(said.contains(&format!("port {} of 127.0.0.1 is taken by another process", address.port())), "{said}");
        assert!(said.contains("--gate-listen 127.0.0.1:") && said.contains("[gate] listen"), "{said}");
    }
}

#[test]
fn o2_a_gate_without_upstreams_or_without_a_port_says_what_to_do() {
    let said = complaint(&["gate"]);
    assert!(said.contains("there is no upstream to call\nhint: write [upstreams.NAME] with"), "{said}");
    let dir = tempdir().unwrap();
    let file = settings(dir.path(), "[gate]\nlisten = \"127.0.0.1:1\"");
    let said = complaint(&["gate", "--config", file.to_str().unwrap(), "--gate-listen", "off"]);
    assert!(said.contains("the gate listens nowhere\nhint: name its port with --gate-listen"), "{said}");
}

#[test]
fn o9_readiness_falls_before_the_gates_door_closes() {
    let dir = tempdir().unwrap();
    // Long enough to look, ended by the second signal.
    let mut server = Server::gate(&settings(dir.path(), "[gate]\nstop_notice_ms = 60000\n"));
    server.signal(Signal::TERM);
    server.logged("stopping");
    server.logged("the gate is no longer ready");
    let (status, problem) = get(server.gate, "/readyz", "");
    assert_eq!((status, problem["code"].as_str()), (503, Some("not_ready")));
    assert_eq!(get(server.gate, "/healthz", "").0, 200);
    assert_eq!(get(server.gate, "/api/x", "").0, 502, "calls are still taken");
    server.signal(Signal::TERM);
    assert_eq!(server.end().0, Some(130));
}

#[test]
fn o3_a_good_file_changes_the_upstreams_at_once_and_a_bad_one_nothing() {
    let dir = tempdir().unwrap();
    let file = settings(dir.path(), "");
    let data = dir.path().join("data");
    for alone in [true, false] {
        settings(dir.path(), "");
        let mut server = match alone {
            true => Server::gate(&file),
            false => Server::start(&data, &["--config", file.to_str().unwrap()]),
        };
        let names = |server: &Server| get(server.gate, "/", "").1["upstreams"].clone();
        settings(dir.path(), "[upstreams.hub]\npreset = \"github\"\n[gate]\nstreams_max = 10\n");
        server.signal(Signal::HUP);
        assert!(server.logged("holds from the next start").contains("gate.streams_max"));
        server.logged("settings reloaded");
        assert_eq!(names(&server), serde_json::json!(["api", "hub"]));

        settings(dir.path(), "max_concurrency = 0\n");
        server.signal(Signal::HUP);
        let line = server.logged("settings not reloaded, nothing was changed");
        assert!(line.contains("tidegate.toml:3: upstreams.api.max_concurrency: at least 1"), "{line}");
        assert_eq!(names(&server), serde_json::json!(["api", "hub"]));
        server.stop();
    }
}

#[test]
fn o3_check_explains_each_upstream_in_words() {
    let dir = tempdir().unwrap();
    let more = "[upstreams.chat]\npreset = \"youtube\"\nmode = \"observe\"\n\
                [upstreams.far]\nbase_url = \"http://far.example/v1\"\n[gate]\nlisten = \"0.0.0.0:8090\"\n";
    let file = settings(dir.path(), more);
    let data = dir.path().join("data");
    let said = said(&["check", file.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    let said = said.split_once("\ngate ").unwrap().1;
    insta::assert_snapshot!(said, @r"
          calls go to http://0.0.0.0:8090/NAME/…, where NAME is an upstream; no other can be reached
               at most 10,000 connections, 1,000 of one address
    relay      `tidegate relay` takes sessions at 127.0.0.1:4443, with tokens of http://127.0.0.1:8080
               refuses newcomers from a busy share of 0.850, and has them try again in 2000 ms
               makes a certificate for development, which browsers take by its hash alone
    upstream   api is http://127.0.0.1:9, with the preset generic
               at most 4 calls/s, 4 at once; a 429 stops everything for its Retry-After, else 30 s
               up to 1000 calls wait, at the proxy for up to 30 s; no cooldown is longer than 300 s
               a rate limit that is 70 / 85 / 95 % used up holds all calls for 0.5 / 1.5 / 3 s
               a budget that is 60 / 70 / 80 % used up holds all calls for 1-2 / 5-10 / 30-60 s
               a 403 is a throttle only where its headers say so
               a throttled call is tried up to 3 times if the delay is at most 10 s; retries stay under 20 % of calls
               the same calls at the same time are one: GET /**, HEAD /**
    upstream   chat is https://www.youtube.com, with the preset youtube
               observe mode: everything passes; what follows is only measured and reported
               at most 4 calls/s, 4 at once; a 429 or 403 stops everything for its Retry-After, else 30 s
               up to 1000 calls wait, at the proxy for up to 30 s; no cooldown is longer than 300 s
               throttles inside answers below 500 are recognised by their body
               a throttled call is tried up to 3 times if the delay is at most 10 s; retries stay under 20 % of calls
               the same calls at the same time are one: POST /youtubei/v1/live_chat/get_live_chat, POST /youtubei/v1/live_chat/get_live_chat_replay
    upstream   far is http://far.example/v1, with the preset generic
               at most 4 calls/s, 4 at once; a 429 stops everything for its Retry-After, else 30 s
               up to 1000 calls wait, at the proxy for up to 30 s; no cooldown is longer than 300 s
               a rate limit that is 70 / 85 / 95 % used up holds all calls for 0.5 / 1.5 / 3 s
               a budget that is 60 / 70 / 80 % used up holds all calls for 1-2 / 5-10 / 30-60 s
               a 403 is a throttle only where its headers say so
               a throttled call is tried up to 3 times if the delay is at most 10 s; retries stay under 20 % of calls
               the same calls at the same time are one: GET /**, HEAD /**

    warning: [gate] listen 0.0.0.0:8090 is reachable from outside, asks nobody who they are, and speaks plain http: whoever reaches it can spend the upstreams' limits

    warning: [upstreams.far] base_url http://far.example/v1: keys travel over plain http, which anybody on the way reads
    ");
}
