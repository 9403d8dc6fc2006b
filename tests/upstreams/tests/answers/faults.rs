//! Answers that are slow, never come, or break off.

use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::json;
use tidegate_upstreams::{Answer, Body, Script, Upstream};
use tokio::time::Instant;

use crate::caller::{ask, call, get, over_http2, read, scripted, send};

#[tokio::test]
async fn an_answer_that_never_comes_ends_with_its_caller() {
    let upstream = Upstream::start().await.unwrap();
    let request = ask(&upstream, "GET", "/never", "");
    tokio::select! {
        answer = send(&upstream, request) => panic!("{answer:?}"),
        log = upstream.wait_for_arrivals(1) => assert_eq!(log.entries[0].ended_ns, None),
    }
    let log = upstream.wait_until_idle().await;
    assert_eq!((log.entries[0].status, log.entries[0].whole), (None, false));
}

#[tokio::test]
async fn a_closed_connection_gives_no_head() {
    let upstream = Upstream::start().await.unwrap();
    assert!(send(&upstream, ask(&upstream, "GET", "/close", "")).await.is_err());
    let second = over_http2(&upstream, ask(&upstream, "GET", "/close", ""));
    assert!(send(&upstream, second).await.is_err());
    let log = upstream.wait_until_idle().await;
    assert_eq!(log.by_status(), [(None, 2)].into());
}

#[tokio::test]
async fn a_body_that_hangs_gives_what_it_has_and_no_end() {
    let upstream = Upstream::start().await.unwrap();
    let response = send(&upstream, ask(&upstream, "GET", "/hang", "")).await.unwrap();
    assert_eq!(response.headers()["content-length"], "1024");
    let mut body = response.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first.len(), 512);
    assert_eq!(upstream.log().entries[0].ended_ns, None);
    drop(body);
    let log = upstream.wait_until_idle().await;
    assert_eq!((log.entries[0].status, log.entries[0].whole), (Some(200), false));
}

#[tokio::test]
async fn a_body_that_breaks_off_gives_what_it_has_and_an_error() {
    let upstream = Upstream::start().await.unwrap();
    for second in [false, true] {
        let request = ask(&upstream, "GET", "/break", "");
        let request = if second { over_http2(&upstream, request) } else { request };
        let mut body = send(&upstream, request).await.unwrap().into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), 512);
        assert!(body.frame().await.unwrap().is_err());
    }
    assert!(upstream.wait_until_idle().await.entries.iter().all(|entry| !entry.whole));
}

#[tokio::test]
async fn a_stream_can_break_off_too() {
    let upstream = scripted(json!({"otherwise": {"body": {"sse": {"events": 9}}, "fault": {"break_after": 25}}})).await;
    let response = send(&upstream, ask(&upstream, "GET", "/", "")).await.unwrap();
    assert!(read(response).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn latency_comes_before_the_head_and_slices_have_time_between_them() {
    let upstream = Upstream::start().await.unwrap();
    let before = Instant::now();
    assert_eq!(get(&upstream, "/late").await.body.len(), 1024);
    assert!(before.elapsed() >= Duration::from_millis(200));
    let before = Instant::now();
    assert_eq!(get(&upstream, "/slow").await.body.len(), 1024);
    // Eight slices, seven pauses.
    assert!(before.elapsed() >= Duration::from_millis(140));
}

#[tokio::test]
async fn a_latch_holds_answers_until_the_test_lets_them_go() {
    let held = Answer::body(Body::Empty).with_hold("door");
    let upstream = Upstream::with(Script { otherwise: held, ..Script::default() }).await.unwrap();
    let calls = async { tokio::join!(get(&upstream, "/a"), get(&upstream, "/b"), get(&upstream, "/c")) };
    let test = async {
        let log = upstream.wait_for_arrivals(3).await;
        assert!(log.entries.iter().all(|entry| entry.answered_ns.is_none()));
        upstream.release_some("door", 1);
        let one_ended = upstream.wait_until(|log| log.entries.iter().any(|entry| entry.ended_ns.is_some())).await;
        assert_eq!(one_ended.entries.iter().filter(|entry| entry.answered_ns.is_some()).count(), 1);
        upstream.release("door");
    };
    let (_, ()) = tokio::join!(calls, test);
    assert_eq!(get(&upstream, "/later").await.status, 200);
    assert_eq!(upstream.log().max_in_flight(), 3);
}

#[tokio::test]
async fn an_early_answer_does_not_wait_for_the_upload() {
    let refuses = Answer { early: true, ..Answer::status(413) };
    let upstream = Upstream::with(Script { otherwise: refuses, ..Script::default() }).await.unwrap();
    let (never_ends, body) = futures_body();
    let request = ask(&upstream, "POST", "/", "").map(|_| body);
    assert_eq!(send(&upstream, request).await.unwrap().status(), 413);
    drop(never_ends);
}

#[tokio::test]
async fn an_uploader_that_leaves_is_logged_as_cut() {
    let upstream = Upstream::start().await.unwrap();
    let (never_ends, body) = futures_body();
    let request = ask(&upstream, "POST", "/echo", "").map(|_| body);
    tokio::select! {
        answer = send(&upstream, request) => panic!("{answer:?}"),
        _ = upstream.wait_for_arrivals(1) => {}
    }
    drop(never_ends);
    assert!(!upstream.wait_until_idle().await.entries[0].whole);
    let after = call(&upstream, ask(&upstream, "POST", "/echo", "x")).await;
    assert_eq!(after.status, 200);
}

#[tokio::test]
async fn a_dropped_stand_in_closes_its_connections() {
    let upstream = Upstream::start().await.unwrap();
    let response = send(&upstream, ask(&upstream, "GET", "/hang", "")).await.unwrap();
    drop(upstream);
    assert!(read(response).await.is_err());
}

/// A body without an end, as long as its sender is kept.
fn futures_body() -> (http_body_util::channel::Sender<bytes::Bytes, std::convert::Infallible>, crate::caller::Sent) {
    let (sender, body) = http_body_util::channel::Channel::new(1);
    (sender, body.boxed())
}
