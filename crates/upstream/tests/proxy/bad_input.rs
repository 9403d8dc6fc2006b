//! Bad input: each answer is a problem with its own code, and none is counted as a throttle.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::channel::Channel;
use hyper_util::rt::TokioIo;
use tidegate_upstreams::{Answer, Rule, Script};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::stage::{Stage, read};

#[tokio::test(start_paused = true)]
async fn an_unknown_upstream_is_404_with_the_names_there_are() {
    let stage = Stage::new("").await;
    for path in ["/", "/apj/x", "/API/x", "/a%70i/x"] {
        let answer = stage.ask(stage.get(path)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (404, "unknown_upstream"), "{path}");
        assert_eq!(answer.json()["upstreams"], serde_json::json!(["absent", "api"]));
    }
    assert!(stage.upstream.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn g22_a_bad_header_is_400_and_named() {
    let stage = Stage::new("").await;
    for (name, value) in [
        ("Tidegate-Max-Attempts", "three"),
        ("Tidegate-Max-Wait-Ms", "-1"),
        ("Tidegate-Priority", "urgent"),
        ("Tidegate-Key", ""),
        ("Tidegate-Retries", "3"),
    ] {
        let answer = stage.ask(stage.get("/api/echo").header(name, value)).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "bad_header"));
        assert_eq!(answer.json()["header"], name.to_ascii_lowercase());
    }
    assert!(stage.upstream.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_oversized_body_is_413_whether_it_says_so_or_not() {
    let stage = Stage::new("min_interval_ms = 0\nmax_body_bytes = 1000").await;
    let declared = stage.ask_with(Request::post(stage.url("/api/echo")), vec![b'x'; 1001]).await;
    assert_eq!((declared.status, declared.problem().as_str()), (413, "body_too_large"));
    assert!(stage.upstream.log().is_empty());
    // A streamed one, and one that is gathered first because it might be retried.
    for method in ["POST", "PUT"] {
        let (mut sender, body) = Channel::<Bytes>::new(4);
        sender.send_data(vec![b'x'; 600].into()).await.unwrap();
        sender.send_data(vec![b'x'; 600].into()).await.unwrap();
        drop(sender);
        let socket = TokioIo::new(TcpStream::connect(stage.address).await.unwrap());
        let (mut to, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri("/api/echo").header("host", "x").body(body).unwrap();
        let answer = read(to.send_request(request).await.unwrap()).await;
        assert_eq!((answer.status, answer.problem().as_str()), (413, "body_too_large"), "{method}");
    }
    let allowed = stage.ask_with(Request::post(stage.url("/api/echo")), vec![b'x'; 1000]).await;
    assert_eq!(allowed.json()["body_bytes"], 1000);
    let after = stage.until(|gate| gate.running == 0).await;
    assert_eq!(after.counters.throttled, 0);
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_cannot_be_reached_is_502_with_the_cause() {
    let stage = Stage::new("").await;
    let answer = stage.ask(stage.get("/absent/x")).await;
    assert_eq!((answer.status, answer.problem().as_str()), (502, "upstream_unreachable"));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("Connection refused"), "{detail}");
    let closed = stage.ask(stage.get("/api/close")).await;
    assert_eq!((closed.status, closed.problem().as_str()), (502, "upstream_unreachable"));
    let absent = stage.gate.snapshot("absent").unwrap();
    assert_eq!((absent.running, absent.counters.throttled, absent.holds.len()), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_never_answers_is_504_in_its_time() {
    let stage = Stage::new("answer_timeout_ms = 7000\ndedupe = []").await;
    let since = Instant::now();
    let answer = stage.ask(stage.get("/api/never")).await;
    assert_eq!((answer.status, answer.problem().as_str()), (504, "upstream_timeout"));
    assert!((7000..7100).contains(&since.elapsed().as_millis()), "{:?}", since.elapsed());
    let after = stage.until(|gate| gate.running == 0).await;
    assert_eq!((after.counters.throttled, after.counters.failed), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_is_503_and_so_is_a_wait_that_is_too_long() {
    let held = Answer::default().with_hold("door");
    let script = Script { rules: vec![Rule::new("GET /held", [held]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "min_interval_ms = 0\nmax_concurrency = 1\nmax_queue = 1\ndedupe = []").await;
    let running = stage.asking(stage.get("/api/held"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let waiting = stage.asking(stage.get("/api/a").header("tidegate-max-wait-ms", "5000"), "");
    stage.until(|gate| gate.waiting == 1).await;

    let full = stage.ask(stage.get("/api/b")).await;
    assert_eq!((full.status, full.problem().as_str()), (503, "gate_queue_full"));
    assert!(full.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);

    let exceeded = waiting.await.unwrap();
    assert_eq!((exceeded.status, exceeded.problem().as_str()), (503, "gate_wait_exceeded"));
    assert_eq!(exceeded.header("tidegate-wait-ms"), Some("5000"));
    stage.upstream.release("door");
    assert_eq!(running.await.unwrap().status, 200);
    assert_eq!(stage.snapshot().counters.throttled, 0);
}

#[tokio::test(start_paused = true)]
async fn g18_a_local_429_has_an_integer_retry_after_of_at_least_the_remaining_time() {
    let throttled = Answer::status(429).with_header("retry-after", "60").with_header("x-ratelimit-limit", "100");
    let script = Script { rules: vec![Rule::new("GET /x", [throttled]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "dedupe = []").await;
    let real = stage.ask(stage.get("/api/x")).await;
    assert_eq!((real.status, real.header("retry-after")), (429, Some("60")));
    assert_eq!(real.header("tidegate-synthetic"), None);
    sleep(Duration::from_millis(10_300)).await;
    let local = stage.ask(stage.get("/api/y").header("tidegate-max-wait-ms", "100")).await;
    assert_eq!((local.status, local.problem().as_str()), (429, "rate_limited"));
    let seconds: u64 = local.header("retry-after").unwrap().parse().unwrap();
    let left = local.json()["retry_after_ms"].as_u64().unwrap();
    assert!((49_000..=49_700).contains(&left), "{left}");
    assert_eq!(seconds, 50);
    assert_eq!((local.header("x-ratelimit-limit"), local.json()["scope"].as_str()), (Some("100"), Some("upstream")));
    assert_eq!(stage.upstream.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stalls_in_its_body_is_408_and_keeps_no_slot() {
    let stage = Stage::new("min_interval_ms = 0\nstall_ms = 3000").await;
    for method in ["POST", "PUT"] {
        let (mut sender, body) = Channel::<Bytes>::new(4);
        sender.send_data(Bytes::from_static(b"begun")).await.unwrap();
        let socket = TokioIo::new(TcpStream::connect(stage.address).await.unwrap());
        let (mut to, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri("/api/echo").header("host", "x").body(body).unwrap();
        let since = Instant::now();
        let answer = read(to.send_request(request).await.unwrap()).await;
        assert_eq!((answer.status, answer.problem().as_str()), (408, "request_timeout"), "{method}");
        assert!((3000..3100).contains(&since.elapsed().as_millis()));
        stage.until(|gate| gate.running == 0).await;
        drop(sender);
    }
}

#[tokio::test(start_paused = true)]
async fn g28_what_cannot_be_passed_on_as_it_is_is_400() {
    let stage = Stage::new("").await;
    for head in [
        "GET /api/../x HTTP/1.1\r\nhost: x\r\n",
        "GET /api/a/%2e%2e%2f%2E./x HTTP/1.1\r\nhost: x\r\n",
        "CONNECT /api/echo HTTP/1.1\r\nhost: x\r\n",
        "POST /api/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n",
        "GET /api/echo HTTP/1.1\r\n",
        "GET /api/echo HTTP/1.1\r\nhost: x\r\nhost: y\r\n",
    ] {
        let answer = stage.raw(format!("{head}connection: close\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("\"bad_request\""), "{head}: {answer}");
    }
    assert!(stage.upstream.log().is_empty());
}
