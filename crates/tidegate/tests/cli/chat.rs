//! `tidegate chat`, and the rooms of `tidegate up`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use tidegate_youtube::{Script, YouTube};

use crate::program::*;

const VIDEO: &str = "abcdefghij0";

/// A stand-in on a thread of its own, and its address.
fn youtube() -> (tokio::runtime::Runtime, YouTube) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let script = Script { rate: 20.0, hint_ms: 1000, ..Script::default() };
    let youtube = runtime.block_on(YouTube::start(script)).unwrap();
    (runtime, youtube)
}

#[test]
fn c12_a_chat_is_printed_from_a_running_server() {
    let (_runtime, youtube) = youtube();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("tidegate.toml");
    let text = format!("[upstreams.youtube]\npreset = \"youtube\"\nbase_url = \"{}\"\n", youtube.url());
    std::fs::write(&config, text).unwrap();
    let server = Server::start(dir.path(), &["--config", config.to_str().unwrap()]);
    let mut printing = Server::printing(&["chat", VIDEO, "--server", &server.url()]);
    let line = printing.line_with(": ");
    assert!(line.contains('@') || !line.starts_with('['), "{line}");
    let mut json = Server::printing(&["chat", VIDEO, "--json", "--server", &server.url()]);
    let line = json.line_with("\"kind\":\"message\"");
    assert!(line.starts_with("{\"schema\":1,"), "{line}");
    assert_eq!(youtube.log().iter().filter(|call| call.what.starts_with("GET")).count(), 1, "C1: one room for both");
    // O4.
    let mut scrape = TcpStream::connect(server.address).unwrap();
    write!(scrape, "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut metrics = String::new();
    scrape.read_to_string(&mut metrics).unwrap();
    for line in ["tidegate_chat_rooms 1", "tidegate_chat_viewers 2", "tidegate_chat_rate_limits_total{by=\"answer\"} 0"]
    {
        assert!(metrics.lines().any(|told| told == line), "{line} in {metrics}");
    }
    assert!(metrics.contains("tidegate_chat_events_total{kind=\"message\"}"), "{metrics}");
}

#[test]
fn c8_c12_a_chat_goes_on_when_its_server_comes_back() {
    let (_runtime, youtube) = youtube();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("tidegate.toml");
    let text = format!("[upstreams.youtube]\npreset = \"youtube\"\nbase_url = \"{}\"\n", youtube.url());
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let mut server = Server::start(dir.path(), &["--config", config]);
    let mut printing = Server::printing(&["chat", VIDEO, "--json", "--server", &server.url()]);
    printing.line_with("\"kind\":\"message\"");
    server.kill();
    printing.logged("again in 3 s");
    let listen = server.address.to_string();
    let data = dir.path().to_str().unwrap();
    let _again = Server::spawn(&mut tidegate(&["up", "--listen", &listen, "--data", data, "--config", config]));
    // Another life of the server has other ids, so it begins with a gap.
    printing.line_with("\"kind\":\"gap\"");
    printing.line_with("\"kind\":\"message\"");
}

#[test]
fn c12_without_a_server_a_chat_is_read_through_a_gate_of_its_own() {
    let (_runtime, youtube) = youtube();
    let mut printing = Server::printing(&["chat", VIDEO, "--json", "--youtube", &youtube.url()]);
    let line = printing.line_with("\"kind\":\"message\"");
    assert!(line.starts_with("{\"schema\":1,"), "{line}");
}

#[test]
fn c12_a_chat_that_nobody_reads_any_more_ends() {
    let (_runtime, youtube) = youtube();
    let mut printing = tidegate(&["chat", VIDEO, "--youtube", &youtube.url()]).stdout(Stdio::piped()).spawn().unwrap();
    drop(printing.stdout.take());
    assert!(printing.wait().unwrap().success());
}

#[test]
fn c12_what_cannot_be_read_is_said() {
    let said = complaint(&["chat", "no-id"]);
    assert!(said.contains("\"no-id\" is no video id"), "{said}");
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let said = complaint(&["chat", VIDEO, "--server", &server.url()]);
    assert!(said.starts_with("error: chats need an upstream youtube"), "{said}");
}

#[test]
fn c14_a_capture_is_printed_one_event_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("captured.json");
    std::fs::write(&file, r#"{"removeChatItemAction":{"targetItemId":"a"}}"#).unwrap();
    let printed = said(&["chat", "--decode", file.to_str().unwrap()]);
    assert_eq!(printed, "{\"schema\":1,\"kind\":\"removed\",\"target_id\":\"a\"}\n");
    std::fs::write(&file, "{\"cut").unwrap();
    let said = complaint(&["chat", "--decode", file.to_str().unwrap()]);
    assert!(said.contains("neither a page nor JSON"), "{said}");
}
