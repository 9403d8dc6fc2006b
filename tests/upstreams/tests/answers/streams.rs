//! Server-sent events, WebSockets, and bodies that flow both ways at once.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tidegate_upstreams::Upstream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::caller::{ask, call, get, over_http2, send};

#[tokio::test(start_paused = true)]
async fn server_sent_events_come_with_ids_and_data() {
    let upstream = Upstream::start().await.unwrap();
    let reply = get(&upstream, "/sse").await;
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    assert_eq!(text.matches("\n\n").count(), 5);
    assert!(text.starts_with("id: 0\ndata: {\"n\":0}\n\nid: 1\n"), "{text}");
}

#[tokio::test]
async fn g3_a_stream_without_end_holds_no_slot() {
    let upstream = Upstream::start().await.unwrap();
    let stream = send(&upstream, ask(&upstream, "GET", "/sse/endless", "")).await.unwrap();
    let mut body = stream.into_body();
    for _ in 0..3 {
        body.frame().await.unwrap().unwrap();
    }
    get(&upstream, "/echo").await;
    let log = upstream.log();
    assert_eq!((log.max_in_flight(), log.entries[0].ended_ns), (1, None));
    assert!(log.entries[0].streams);
    drop(body);
    assert!(!upstream.wait_until_idle().await.entries[0].whole);
}

#[tokio::test]
async fn g28_a_websocket_sends_back_what_it_gets() {
    let upstream = Upstream::start().await.unwrap();
    let request = ask(&upstream, "GET", "/ws", "");
    let (mut parts, body) = request.into_parts();
    for (name, value) in [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", "chat, superchat"),
    ] {
        parts.headers.insert(name, value.parse().unwrap());
    }
    let response = send(&upstream, Request::from_parts(parts, body)).await.unwrap();
    assert_eq!(response.status(), 101);
    // The key and its answer are the example of RFC 6455.
    assert_eq!(response.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(response.headers()["sec-websocket-protocol"], "chat");
    let upgraded = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
    let mut socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
    for message in [Message::text("hello"), Message::binary(vec![7; 70_000])] {
        socket.send(message.clone()).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), message);
    }
    socket.close(None).await.unwrap();
    while socket.next().await.is_some() {}
    let log = upstream.wait_until_idle().await;
    let entry = &log.entries[0];
    assert_eq!((entry.status, entry.whole, entry.streams, entry.body_bytes), (Some(101), true, true, 70_005));
}

#[tokio::test]
async fn a_plain_request_at_a_websocket_is_told_to_upgrade() {
    let upstream = Upstream::start().await.unwrap();
    let reply = get(&upstream, "/ws").await;
    assert_eq!((reply.status, reply.header("upgrade")), (426, "websocket"));
}

#[tokio::test]
async fn g28_a_mirror_sends_back_each_frame_before_the_next_is_sent() {
    let upstream = Upstream::start().await.unwrap();
    for second in [false, true] {
        let (mut sender, body) = http_body_util::channel::Channel::<Bytes, std::convert::Infallible>::new(1);
        let request = ask(&upstream, "POST", "/mirror", "").map(|_| body.boxed());
        let request = if second { over_http2(&upstream, request) } else { request };
        let mut back = send(&upstream, request).await.unwrap().into_body();
        for piece in ["one", "two", "three"] {
            sender.send_data(piece.into()).await.unwrap();
            assert_eq!(back.frame().await.unwrap().unwrap().into_data().unwrap(), piece);
        }
        drop(sender);
        assert!(back.collect().await.unwrap().to_bytes().is_empty());
    }
}

#[tokio::test]
async fn g28_trailers_of_a_request_are_seen() {
    let upstream = Upstream::start().await.unwrap();
    let (mut sender, body) = http_body_util::channel::Channel::<Bytes, std::convert::Infallible>::new(2);
    let request = over_http2(&upstream, ask(&upstream, "POST", "/echo", "").map(|_| body.boxed()));
    sender.send_data("x".into()).await.unwrap();
    sender.send_trailers([("x-sum".parse().unwrap(), "7".parse().unwrap())].into_iter().collect()).await.unwrap();
    drop(sender);
    let seen = call(&upstream, request).await.json();
    assert_eq!(seen["trailers"], serde_json::json!([["x-sum", "7"]]));
    let nothing = ask(&upstream, "GET", "/echo", "").map(|_| Empty::new().boxed());
    assert_eq!(call(&upstream, nothing).await.json()["trailers"], serde_json::Value::Null);
}
