//! `tidegate load`: what it finds at a good server, and that it finds what is wrong with a bad one.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Output;
use std::thread;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::http::call;
use crate::program::{KEY, Server, complaint, run, text, tidegate};

/// Runs these viewers; the summary, whatever the exit code.
fn load(url: &str, words: &[&str]) -> (Output, Value) {
    let output = run(&[&["load", "--json", "--server", url], words].concat());
    let summary = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    (output, summary)
}

/// Makes a stream; its id.
fn stream(server: &Server, viewer_cap: u32, queue_max: u32) -> String {
    let body = json!({"name": "load", "viewer_cap": viewer_cap, "queue_max": queue_max}).to_string();
    let (status, stream) = call(server.address, "POST", "/v1/streams", Some(KEY), &body);
    assert_eq!(status, 201, "{stream}");
    stream["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_crowd_of_pages_is_wronged_in_nothing() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--key", KEY]);
    let stream = stream(&server, 30, 20);
    let words = [
        "--stream",
        &stream,
        "--viewers",
        "60",
        "--seconds",
        "8",
        "--arrive",
        "1s",
        "--churn",
        "50%/10s",
        "--crash",
        "5%/10s",
        "--hidden",
        "10%",
        "--key",
        KEY,
    ];
    let (output, summary) = load(&server.url(), &words);
    assert!(output.status.success(), "{summary:#}");
    assert_eq!(summary["kept"], true);
    assert_eq!(summary["in_at_once"]["cap"], 30);
    assert_eq!(summary["in_at_once"]["proved"], 30, "60 pages for 30 seats fill them all: {summary:#}");
    assert_eq!(summary["in_at_once"]["stats"], 30);
    assert!(summary["offers"]["told"].as_u64().unwrap() > 0, "half of them leave: {summary:#}");
    assert_eq!(summary["no_answers"], json!({}));
    for (promise, times) in summary["promises"].as_object().unwrap() {
        assert_eq!(times, 0, "{promise}");
    }
    let viewers = summary["viewers"].as_object().unwrap();
    assert_eq!(viewers.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 60);
}

#[test]
fn viewers_say_goodbye_at_the_end() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--key", KEY]);
    let stream = stream(&server, 5, 5);
    let words = [
        "--stream",
        &stream,
        "--viewers",
        "10",
        "--seconds",
        "2",
        "--arrive",
        "500ms",
        "--churn",
        "0%/1s",
        "--crash",
        "0%/1s",
    ];
    let (_, summary) = load(&server.url(), &words);
    assert_eq!((&summary["viewers"]["in"], &summary["viewers"]["waiting"]), (&json!(5), &json!(5)), "{summary:#}");
    assert_eq!(summary["in_at_once"]["cap"], Value::Null, "nobody said it");
    let (_, stats) = call(server.address, "GET", &format!("/v1/streams/{stream}/stats"), Some(KEY), "");
    assert_eq!((&stats["viewers"]["seats"], &stats["viewers"]["queued"]), (&json!(0), &json!(0)));
}

#[test]
fn the_ledger_holds_every_answer() {
    let dir = tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"), &["--key", KEY]);
    let stream = stream(&server, 5, 5);
    let file = dir.path().join("ledger.jsonl");
    let words = [
        "--stream",
        &stream,
        "--viewers",
        "10",
        "--seconds",
        "2",
        "--arrive",
        "500ms",
        "--ledger",
        file.to_str().unwrap(),
    ];
    let (_, summary) = load(&server.url(), &words);
    let lines = fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answers: Vec<_> = lines.iter().filter(|line| line["status"].is_u64()).collect();
    assert_eq!(answers.len() as u64, summary["calls"].as_u64().unwrap());
    let seated = answers.iter().filter(|line| line["answer"] == "201 in");
    assert!(seated.clone().count() >= 5);
    assert!(seated.clone().all(|line| line["seat"].as_str().unwrap().len() == 22), "{lines:?}");
    assert!(answers.iter().any(|line| line["position"].is_u64()), "{lines:?}");
    // Whoever compares after a crash must know who had left before it, answered or not.
    let departures = lines.iter().filter(|line| line["call"] == "departs").count();
    assert!(departures >= 10, "all who had a seat or a place say goodbye: {lines:?}");
}

#[test]
fn d1_a_crowd_lives_through_a_kill_and_a_restart() {
    let dir = tempdir().unwrap();
    // A port that a restart can take again, unlike one that the system chose for the first.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let data = dir.path().join("data");
    let start = || {
        let words = ["up", "--listen", &address, "--key", KEY, "--data", data.to_str().unwrap()];
        Server::spawn(&mut tidegate(&words))
    };
    let mut server = start();
    let stream = stream(&server, 20, 10);
    let file = dir.path().join("ledger.jsonl");
    let mut crowd = tidegate(&["load", "--json", "--server", &server.url(), "--stream", &stream]);
    crowd.args(["--viewers", "40", "--seconds", "12", "--arrive", "1s", "--churn", "0%/1s", "--crash", "0%/1s"]);
    crowd.args(["--hidden", "0%", "--key", KEY, "--ledger", file.to_str().unwrap()]);
    let crowd = crowd.stdout(std::process::Stdio::piped()).spawn().unwrap();

    let seated = || fs::read_to_string(&file).unwrap_or_default().matches("201 in").count();
    let started = std::time::Instant::now();
    while seated() < 20 {
        assert!(started.elapsed().as_secs() < 10, "{} of 20 seated", seated());
        thread::sleep(std::time::Duration::from_millis(20));
    }
    server.kill();
    // It stays away until somebody has called in vain.
    drop(TcpListener::bind(&address).unwrap().accept().unwrap());
    let _server = start();
    let output = crowd.wait_with_output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{summary:#}");
    assert_eq!((&summary["viewers"]["in"], &summary["viewers"]["waiting"]), (&json!(20), &json!(10)), "{summary:#}");
    assert_eq!(seated(), 20, "everybody kept the seat of before: {summary:#}");
    assert!(!summary["no_answers"].as_object().unwrap().is_empty(), "the kill was felt: {summary:#}");
}

#[test]
fn nobody_there_and_no_such_stream_are_told_apart() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--demo", "--key", KEY]);
    let url = server.url();
    let said = complaint(&["load", "--server", &url, "--stream", "dmo"]);
    assert!(said.contains("has no stream \"dmo\"") && said.contains("hint:"), "{said}");
    let said = complaint(&["load", "--server", &url, "--stream", "demo", "--key", "a-wrong-key-0123456789"]);
    assert!(said.contains("answered 401") && said.contains("TIDEGATE_KEY"), "{said}");
    server.stop();
    let said = complaint(&["load", "--server", &url, "--stream", "demo"]);
    assert!(said.contains("cannot reach") && said.contains("tidegate up --demo"), "{said}");
}

#[test]
fn a_server_that_breaks_its_promises_is_found_out() {
    // Positions rise with every ask, and some answers are a 500.
    let (url, _server) = bad_server(|number, path| match path {
        path if path.ends_with("/admit") && number % 7 == 3 => (500, "{}".to_owned()),
        path if path.ends_with("/admit") => {
            let position = number + 1;
            (409, format!(r#"{{"state":"wait","seat":"a-seat","position":{position},"retry_after_ms":100}}"#))
        }
        _ => (410, r#"{"code":"seat_gone"}"#.to_owned()),
    });
    let words = [
        "--stream",
        "x",
        "--viewers",
        "1",
        "--seconds",
        "3",
        "--arrive",
        "0s",
        "--hidden",
        "0%",
        "--churn",
        "0%/1s",
        "--crash",
        "0%/1s",
    ];
    let (output, summary) = load(&url, &words);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(summary["kept"], false);
    assert!(summary["promises"]["positions_risen"].as_u64().unwrap() > 0, "{summary:#}");
    assert!(summary["promises"]["server_errors"].as_u64().unwrap() > 0, "{summary:#}");
    assert!(summary["examples"][0].as_str().unwrap().starts_with("viewer 0: position "), "{summary:#}");
}

#[test]
fn s6_more_in_than_seats_are_found_out() {
    let (url, _server) = bad_server(|number, path| match path {
        path if path.ends_with("/admit") => {
            let token = r#""token":"t","token_expires_s":120,"heartbeat_s":5,"relays":[]"#;
            (201, format!(r#"{{"state":"in","seat":"seat-{number}",{token}}}"#))
        }
        path if path.ends_with("/hb") => (200, r#"{"next_ms":5000}"#.to_owned()),
        _ => (204, String::new()),
    });
    let words = [
        "--stream",
        "x",
        "--viewers",
        "3",
        "--seconds",
        "1",
        "--arrive",
        "0s",
        "--cap",
        "2",
        "--churn",
        "0%/1s",
        "--crash",
        "0%/1s",
    ];
    let (output, summary) = load(&url, &words);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(summary["in_at_once"]["proved"], 3);
    assert_eq!(summary["promises"]["over_cap"], 1);
}

/// A server that answers as it is told: by the number of the call and its path.
fn bad_server(answer: fn(u64, &str) -> (u16, String)) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let numbers = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let serve = thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let numbers = std::sync::Arc::clone(&numbers);
            thread::spawn(move || converse(&stream, &numbers, answer));
        }
    });
    (format!("http://{address}"), serve)
}

fn converse(stream: &TcpStream, numbers: &std::sync::atomic::AtomicU64, answer: fn(u64, &str) -> (u16, String)) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut path, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if path.is_empty() {
                path = line.split(' ').nth(1).unwrap().to_owned();
            } else if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let number = numbers.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let (status, body) = answer(number, &path);
        let length = if status == 204 { String::new() } else { format!("content-length: {}\r\n", body.len()) };
        let mut writer = stream;
        if write!(writer, "HTTP/1.1 {status} x\r\n{length}\r\n{body}").is_err() {
            return;
        }
    }
}
