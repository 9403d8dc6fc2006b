//! G28: what passes, and what of it is changed.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tidegate_upstream::{Gate, ServerSettings};
use tidegate_upstreams::{Answer, Body, Like, Rule, Script, Upstream};
use tokio::net::TcpStream;

use crate::stage::{Stage, echoed, read, settings};

const UNPACED: &str = "min_interval_ms = 0\ndedupe = []";

#[tokio::test(start_paused = true)]
async fn g28_a_request_arrives_as_it_was_sent_without_what_is_one_connections() {
    let stage = Stage::new(UNPACED).await;
    let request = Request::post(stage.url("/api/echo/a%20b//?q=1&q=%2F?"))
        .header("Authorization", "Bearer x")
        .header("X-Two", "1")
        .header("X-Two", "2")
        .header("Connection", "keep-alive, X-Private")
        .header("X-Private", "secret")
        .header("Keep-Alive", "timeout=5")
        .header("Proxy-Authorization", "Basic eA==")
        .header("TE", "trailers, gzip")
        .header("Via", "1.0 before")
        .header("Tidegate-Key", "k")
        .header("Tidegate-Priority", "interactive");
    let answer = stage.ask_with(request, "hello").await;
    let echo = answer.json();
    assert_eq!((echo["method"].as_str(), echo["path"].as_str()), (Some("POST"), Some("/echo/a%20b//")));
    assert_eq!((echo["query"].as_str(), echo["body"].as_str()), (Some("q=1&q=%2F?"), Some("hello")));
    assert_eq!(echo["authority"], stage.upstream.address().to_string());
    assert_eq!(echoed(&echo, "authorization"), ["Bearer x"]);
    assert_eq!(echoed(&echo, "x-two"), ["1", "2"]);
    assert_eq!(echoed(&echo, "te"), ["trailers"]);
    assert_eq!(echoed(&echo, "via"), ["1.0 before", "1.1 tidegate"]);
    for gone in ["x-private", "connection", "keep-alive", "proxy-authorization", "tidegate-key", "tidegate-priority"] {
        assert_eq!(echoed(&echo, gone), [""; 0], "{gone}");
    }
    assert_eq!(answer.header("tidegate-wait-ms"), Some("0"));
    assert_eq!(answer.header("tidegate-attempts"), Some("1"));
    assert_eq!((answer.header("tidegate-shared"), answer.header("tidegate-synthetic")), (None, None));
}

#[tokio::test(start_paused = true)]
async fn g28_an_answer_comes_as_it_was_given_without_what_is_one_connections() {
    let answer = Answer::status(203)
        .with_header("Connection", "X-Hop")
        .with_header("X-Hop", "1")
        .with_header("Keep-Alive", "timeout=1")
        .with_header("X-End", "1")
        .with_header("X-End", "2")
        .with_header("Via", "1.1 inner");
    let script = Script { rules: vec![Rule::new("GET /x", [answer]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, UNPACED).await;
    let answer = stage.ask(stage.get("/api/x")).await;
    assert_eq!(answer.status, 203);
    let all = |name| answer.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(all("x-end"), ["1", "2"]);
    assert_eq!(all("via"), ["1.1 inner", "1.1 tidegate"]);
    assert!(all("x-hop").is_empty() && all("keep-alive").is_empty());
}

#[tokio::test(start_paused = true)]
async fn g28_redirects_are_passed_on_and_never_followed() {
    let away = Answer::status(302).with_header("location", "http://elsewhere.example/x?y=1");
    let script = Script { rules: vec![Rule::new("GET /old", [away]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, UNPACED).await;
    let answer = stage.ask(stage.get("/api/old")).await;
    assert_eq!((answer.status, answer.header("location")), (302, Some("http://elsewhere.example/x?y=1")));
    assert_eq!(stage.upstream.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn g28_a_mebibyte_passes_both_ways() {
    let stage = Stage::new(UNPACED).await;
    let megabyte: Bytes = (0..=250_u8).cycle().take(1 << 20).collect();
    let answer = stage.ask_with(Request::post(stage.url("/api/mirror")), megabyte.clone()).await;
    assert_eq!(answer.body, megabyte);
    assert_eq!(stage.ask(stage.get("/api/bytes/1mib")).await.body, megabyte);
    assert_eq!(stage.until(|gate| gate.running == 0).await.counters.started, 2);
}

#[tokio::test(start_paused = true)]
async fn g28_trailers_pass_both_ways() {
    let stage = Stage::new(UNPACED).await;
    let answer = stage.ask(stage.get("/api/trailers").header("te", "trailers")).await;
    assert_eq!(answer.trailers.unwrap()["x-checksum"], "abc");

    let (mut sender, body) = Channel::<Bytes>::new(4);
    sender.send_data(Bytes::from_static(b"data")).await.unwrap();
    let trailers = HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from_static("7"))]);
    sender.send_trailers(trailers).await.unwrap();
    drop(sender);
    let socket = TokioIo::new(TcpStream::connect(stage.address).await.unwrap());
    let (mut to, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post("/api/mirror").header("host", "x").header("te", "trailers").header("trailer", "x-sum");
    let answer = to.send_request(request.body(body).unwrap()).await.unwrap();
    // The mirror gives back what it got, trailers too, but announces none, so HTTP/1.1 drops them on the way back.
    assert_eq!(read(answer).await.body, "data");
    let echoed = stage.upstream.wait_until_idle().await;
    assert_eq!(echoed.entries[1].body_bytes, 4);
}

#[tokio::test(start_paused = true)]
async fn g28_http_2_comes_in_with_prior_knowledge_and_many_streams_at_once() {
    let stage = Stage::new("min_interval_ms = 0\ndedupe = []\nmax_concurrency = 100").await;
    let socket = TokioIo::new(TcpStream::connect(stage.address).await.unwrap());
    let (to, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), socket).await.unwrap();
    tokio::spawn(connection);
    let calls: Vec<_> = (0..50)
        .map(|n| {
            let mut to = to.clone();
            let request = Request::get(stage.url(&format!("/api/echo?n={n}"))).header("cookie", "a=1");
            let request = request.body(Full::<Bytes>::default()).unwrap();
            tokio::spawn(async move { read(to.send_request(request).await.unwrap()).await })
        })
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        let answer = call.await.unwrap();
        assert_eq!(answer.json()["query"], format!("n={n}"));
        assert_eq!(echoed(&answer.json(), "via"), ["2.0 tidegate"]);
        assert_eq!(answer.header("tidegate-attempts"), Some("1"));
    }
    let unknown = stage.url("/nowhere");
    let mut to = to.clone();
    let refused = to.send_request(Request::get(unknown).body(Full::<Bytes>::default()).unwrap()).await.unwrap();
    assert_eq!(read(refused).await.problem(), "unknown_upstream");
}

#[tokio::test(start_paused = true)]
async fn g28_answers_without_a_body_have_none() {
    let rules = vec![
        Rule::new("GET /none", [Answer { body: Some(Body::Empty), ..Answer::status(204) }]).unwrap(),
        Rule::new("GET /same", [Answer { body: Some(Body::Empty), ..Answer::status(304) }]).unwrap(),
    ];
    for toml in [UNPACED, "min_interval_ms = 0"] {
        let stage = Stage::with(Script { rules: rules.clone(), ..Script::default() }, toml).await;
        for (path, status) in [("/api/none", 204), ("/api/same", 304)] {
            let answer = stage.ask(stage.get(path)).await;
            assert_eq!((answer.status, answer.body.len()), (status, 0));
        }
        let head = stage.ask(Request::head(stage.url("/api/echo"))).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_ne!(head.header("content-length"), Some("0"), "it is the length of what a GET would get");
        stage.until(|gate| gate.running == 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn g28_a_base_url_may_have_a_path() {
    let upstream = Upstream::start().await.unwrap();
    let api = settings(&format!("base_url = \"{}/v1/\"\nmin_interval_ms = 0", upstream.url("")));
    let stage = Stage::of(upstream, Gate::new([("api", api)]).unwrap(), ServerSettings::default()).await;
    for (path, at_upstream) in [("/api/things?x=1", "/v1/things"), ("/api", "/v1/"), ("/api?x=1", "/v1/")] {
        assert_eq!(stage.ask(stage.get(path)).await.json()["path"], at_upstream, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn g28_only_configured_upstreams_are_reached_whatever_the_target_looks_like() {
    let stage = Stage::new(UNPACED).await;
    let elsewhere = Upstream::start().await.unwrap();
    let host = elsewhere.address();
    for head in [
        format!("GET http://{host}/api/echo HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"),
        format!("CONNECT {host} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"),
        "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned(),
        format!("GET //{host}/echo HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"),
        format!("GET /api@{host}/echo HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"),
    ] {
        stage.raw(head.as_bytes()).await;
    }
    assert!(elsewhere.log().is_empty());
    // The first has a path, and that names an upstream.
    assert_eq!(stage.upstream.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn g28_a_page_of_its_own_is_served_beside_the_upstreams() {
    let upstream = Upstream::start().await.unwrap();
    let gate = Gate::new([("api", settings(&format!("base_url = \"{}\"", upstream.url(""))))]).unwrap();
    let page = |parts: &http::request::Parts| {
        (parts.uri.path() == "/healthz").then(|| http::Response::new(Bytes::from_static(b"ok")))
    };
    let proxy = std::sync::Arc::new(tidegate_upstream::Proxy::new(gate, ServerSettings::default()).with_page(page));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(tidegate_upstream::serve(listener, proxy, std::future::pending()));
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut to, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    for (path, status) in [("/healthz", StatusCode::OK), ("/readyz", StatusCode::NOT_FOUND)] {
        let request = Request::get(path).header("host", "x").body(Full::<Bytes>::default()).unwrap();
        let answer = to.send_request(request).await.unwrap();
        assert_eq!(answer.status(), status);
        answer.into_body().collect().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn g11c_the_sorry_page_is_passed_on_and_holds_every_call() {
    let script =
        Script { rules: vec![Rule::new("GET /watch", [Answer::like(Like::Sorry)]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "preset = \"youtube\"\nmax_attempts = 1").await;
    let answer = stage.ask(stage.get("/api/watch?v=1")).await;
    assert_eq!(answer.status, 302);
    assert!(answer.header("location").unwrap().contains("/sorry/"));
    let refused = stage.ask(stage.get("/api/live_chat").header("tidegate-max-wait-ms", "1000")).await;
    assert_eq!((refused.status, refused.problem().as_str()), (429, "rate_limited"));
    assert_eq!(stage.upstream.log().len(), 1);
}
