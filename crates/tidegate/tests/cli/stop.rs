//! O9: a graceful stop, and the start after it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use tempfile::tempdir;

use crate::http::{get, post};
use crate::program::{KEY, Server};

#[test]
fn o9_a_stop_ends_well_and_the_next_start_goes_on() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--demo", "--key", KEY]);
    let asked: Vec<_> = (0..3).map(|_| post(server.address, "/v1/play/demo/admit", "{}").1).collect();
    server.stop();
    assert!(!dir.path().join("admin.sock").exists());

    let server = Server::start(dir.path(), &[]);
    let again = |told: &serde_json::Value| {
        post(server.address, "/v1/play/demo/admit", &format!("{{\"seat\":{}}}", told["seat"])).1
    };
    let told: Vec<_> = asked.iter().map(again).collect();
    for (before, after) in asked.iter().zip(&told) {
        assert_eq!((&before["state"], &before["seat"]), (&after["state"], &after["seat"]));
    }
    assert_eq!(told[2]["position"], 1);
    assert_eq!(get(server.address, "/v1/streams/demo/stats", KEY).1["viewers"]["seats"], 2);
}

#[test]
fn o9_readiness_falls_before_the_door_closes() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    // Long enough to look, ended by the second signal.
    fs::write(&file, "[control]\nstop_notice_ms = 60000\n").unwrap();
    let mut server = Server::start(&dir.path().join("data"), &["--config", file.to_str().unwrap()]);
    assert_eq!(get(server.address, "/readyz", "").0, 200);
    server.signal(Signal::TERM);
    server.logged("stopping");
    server.logged("readiness ended");
    assert_eq!(get(server.address, "/readyz", "").0, 503);
    assert_eq!(get(server.address, "/healthz", "").0, 200);
    server.signal(Signal::TERM);
    assert_eq!(server.end().0, Some(130), "a second signal ends it at once");
}

#[test]
fn o9_a_second_ctrl_c_ends_it_at_once() {
    let dir = tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    // A call that never comes to its end holds a graceful stop up.
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.write_all(b"POST /v1/play/x/hb HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{").unwrap();
    server.signal(Signal::INT);
    server.logged("stopping");
    server.signal(Signal::INT);
    assert_eq!(server.end().0, Some(130));
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).ok();
}
