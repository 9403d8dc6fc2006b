//! G3 over sockets: the slot ends with the body, with the head of a stream, and with whoever goes away.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tidegate_upstreams::{Answer, Body, Rule, Script};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::stage::Stage;

const UNPACED: &str = "min_interval_ms = 0\ndedupe = []";

fn empty(request: http::request::Builder) -> Request<Full<Bytes>> {
    request.body(Full::default()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn g3_ten_streams_of_events_are_open_at_once_and_an_ordinary_call_still_goes() {
    let stage = Stage::new("min_interval_ms = 0").await;
    let mut streams = Vec::new();
    for _ in 0..10 {
        let mut stream = stage.send(empty(stage.get("/api/sse/endless"))).await.into_body();
        let first = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(first.starts_with(b"id: 0\n"), "it comes as it is sent");
        streams.push(stream);
    }
    assert_eq!(stage.snapshot().running, 0);
    assert_eq!(stage.ask(stage.get("/api/echo")).await.status, 200);
    drop(streams);
    stage.upstream.wait_until(|log| log.entries.iter().all(|entry| entry.ended_ns.is_some())).await;
}

#[tokio::test(start_paused = true)]
async fn g3_a_client_that_is_gone_in_the_middle_of_its_answer_gives_the_slot_back() {
    let stage = Stage::new(UNPACED).await;
    let response = stage.send(empty(stage.get("/api/slow"))).await;
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
    assert_eq!(stage.snapshot().running, 1);
    drop(body);
    stage.until(|gate| gate.running == 0).await;
    let log = stage.upstream.wait_until_idle().await;
    assert!(!log.entries[0].whole, "the upstream's work is ended too");
}

#[tokio::test(start_paused = true)]
async fn g3_a_client_that_is_gone_before_its_answer_gives_its_place_and_its_slot_back() {
    let held = Answer::default().with_hold("door");
    let script = Script { rules: vec![Rule::new("GET /held", [held]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "min_interval_ms = 0\ndedupe = []\nmax_concurrency = 1").await;
    let running = stage.asking(stage.get("/api/held"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let waiting = stage.asking(stage.get("/api/held"), "");
    stage.until(|gate| gate.waiting == 1).await;
    waiting.abort();
    stage.until(|gate| gate.waiting == 0).await;
    running.abort();
    stage.until(|gate| gate.running == 0).await;
    assert_eq!(stage.ask(stage.get("/api/echo")).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn g3_a_client_that_is_gone_in_the_middle_of_its_request_gives_the_slot_back() {
    let stage = Stage::new(UNPACED).await;
    let mut socket = TcpStream::connect(stage.address).await.unwrap();
    socket.write_all(b"POST /api/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf").await.unwrap();
    stage.upstream.wait_for_arrivals(1).await;
    assert_eq!(stage.snapshot().running, 1);
    drop(socket);
    stage.until(|gate| gate.running == 0).await;
}

#[tokio::test(start_paused = true)]
async fn g3_a_client_that_stops_reading_gives_the_slot_back_at_its_deadline() {
    let big = Answer::body(Body::Bytes(64 << 20));
    let script = Script { rules: vec![Rule::new("GET /big", [big]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "min_interval_ms = 0\ndedupe = []\nstall_ms = 5000").await;
    let mut socket = TcpStream::connect(stage.address).await.unwrap();
    socket.write_all(b"GET /api/big HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    socket.readable().await.unwrap();
    let since = Instant::now();
    assert_eq!(stage.snapshot().running, 1);
    stage.until(|gate| gate.running == 0).await;
    let taken = since.elapsed().as_millis();
    // Until its buffers are full the body still moves.
    assert!((4500..60_000).contains(&taken), "{taken}");
    // Who reads on finds the answer cut, not complete.
    let mut answer = Vec::new();
    let _reset = socket.read_to_end(&mut answer).await;
    assert!(answer.len() < 64 << 20);
}

#[tokio::test(start_paused = true)]
async fn g3_half_an_answer_ends_at_its_deadline_and_a_broken_one_at_once() {
    let stage = Stage::new("min_interval_ms = 0\ndedupe = []\nstall_ms = 5000").await;
    for (path, least_ms, most_ms) in [("/api/hang", 5000, 7000), ("/api/break", 0, 1000)] {
        let since = Instant::now();
        let response = stage.send(empty(stage.get(path))).await;
        assert_eq!(response.status(), 200);
        assert!(response.into_body().collect().await.is_err(), "{path} is cut, and seen to be");
        let taken = since.elapsed().as_millis();
        assert!((least_ms..most_ms).contains(&taken), "{path}: {taken}");
        stage.until(|gate| gate.running == 0).await;
    }
    assert_eq!(stage.snapshot().counters.throttled, 0);
}

#[tokio::test(start_paused = true)]
async fn g3_aborted_calls_never_eat_up_the_slots() {
    let held = Answer::default().with_hold("door");
    let script = Script { rules: vec![Rule::new("GET /held", [held]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "min_interval_ms = 0\ndedupe = []").await;
    for round in 1..=10 {
        let calls: Vec<_> = (0..4).map(|_| stage.asking(stage.get("/api/held"), "")).collect();
        stage.upstream.wait_for_arrivals(round * 4).await;
        calls.iter().for_each(|call| call.abort());
        stage.until(|gate| gate.running == 0).await;
    }
    assert_eq!(stage.ask(stage.get("/api/echo")).await.status, 200);
}
