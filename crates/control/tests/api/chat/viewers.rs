//! A viewer's connection, byte by byte (C1, C8, C9, O9).

use std::io::Read;

use flate2::read::GzDecoder;
use http::Method;
use tidegate_chat::{COMMENT_EVERY, STALL};
use tidegate_youtube::Script;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::{VIDEO, open, with};
use crate::support::*;

/// A viewer's connection, with what was read up to `enough`.
async fn view(house: &House, headers: &str, enough: impl Fn(&str) -> bool) -> (TcpStream, String) {
    let mut socket = TcpStream::connect(house.address).await.unwrap();
    let head = format!("GET /v1/chat/{VIDEO}/events HTTP/1.1\r\nhost: a\r\n{headers}\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let text = read_until(&mut socket, enough).await;
    (socket, text)
}

/// The ids of whole frames, as numbers behind the epoch.
fn ids(text: &str) -> Vec<(&str, u64)> {
    let whole = &text[..text.rfind("\n\n").map_or(0, |at| at + 1)];
    let ids = whole.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.map(|id| id.split_once('-').map(|(epoch, seq)| (epoch, seq.parse().unwrap())).unwrap()).collect()
}

#[tokio::test]
async fn c1_a_viewer_gets_a_greeting_and_events_with_ids() {
    let (house, youtube) = open().await;
    let (_socket, text) =
        view(&house, "origin: https://a.example\r\nx-request-id: r1\r\n", |text| ids(text).len() > 60).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    for line in [
        "content-type: text/event-stream",
        "cache-control: no-store",
        "connection: close",
        "access-control-allow-origin: *",
        "x-request-id: r1",
    ] {
        assert_eq!(head.lines().filter(|found| *found == line).count(), 1, "{line} in {head}");
    }
    assert!(!head.contains("transfer-encoding") && !head.contains("content-length"), "{head}");
    assert!(body.starts_with("retry: 3000\n\nid: "), "{body}");
    assert!(body.contains("event: message\ndata: {\"schema\":1,\"kind\":\"message\","), "{body}");
    // C10: the room and the list say the same.
    let room = house.get(&format!("/v1/chat/{VIDEO}")).await;
    assert_eq!((room.status, &room.body["viewers"], &room.body["doing"]), (200, &1.into(), &"reading".into()));
    assert_eq!(house.get("/v1/chat").await.body["rooms"][0]["video"], VIDEO);
    // Whatever name it is asked by, it is one room.
    let address = format!("/v1/chat/https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{VIDEO}/events");
    let other = format!("GET {address} HTTP/1.1\r\nhost: a\r\n\r\n");
    let text = house.raw(other.as_bytes(), |text| ids(text).len() > 40).await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert_eq!(youtube.log().iter().filter(|call| call.what.starts_with("GET")).count(), 1);
}

#[tokio::test]
async fn c9_who_takes_gzip_reads_each_event_as_it_comes() {
    let (house, _youtube) = open().await;
    let mut socket = TcpStream::connect(house.address).await.unwrap();
    let head = format!("GET /v1/chat/{VIDEO}/events HTTP/1.1\r\nhost: a\r\naccept-encoding: br, gzip;q=0.5\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let (mut got, mut text) = (Vec::new(), String::new());
    while ids(&text).len() <= 60 {
        assert_ne!(socket.read_buf(&mut got).await.unwrap(), 0, "the stream ended: {text}");
        let Some(end) = got.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        text.clear();
        // The stream has not ended, which is all that may be wrong with it.
        let _more_comes = GzDecoder::new(&got[end + 4..]).read_to_string(&mut text);
    }
    let head = String::from_utf8_lossy(&got);
    assert!(head.contains("content-encoding: gzip\r\n") && head.contains("vary: accept-encoding\r\n"), "{head}");
    assert!(text.starts_with("retry: 3000\n\nid: "), "{text}");
    for refused in ["identity", "gzip;q=0, br"] {
        let (_socket, plain) = view(&house, &format!("accept-encoding: {refused}\r\n"), |it| ids(it).len() > 3).await;
        assert!(!plain.contains("content-encoding"), "{plain}");
    }
}

#[tokio::test]
async fn c8_who_comes_back_with_its_last_id_goes_on_behind_it() {
    let (house, _youtube) = open().await;
    let (socket, text) = view(&house, "", |text| ids(text).len() > 10).await;
    drop(socket);
    let (epoch, last) = *ids(&text).last().unwrap();
    let (_socket, text) =
        view(&house, &format!("last-event-id: {epoch}-{last}\r\n"), |text| ids(text).len() > 80).await;
    let expected: Vec<_> = (last + 1..).take(ids(&text).len()).map(|seq| (epoch, seq)).collect();
    assert_eq!(ids(&text), expected);
    // One of another life is told that it missed something.
    let (_socket, text) = view(&house, "last-event-id: 1-5\r\n", |text| ids(text).len() > 1).await;
    assert_eq!(text.matches("event: gap\n").count(), 1, "{text}");
}

#[tokio::test]
async fn c9_a_quiet_chat_sends_a_comment() {
    let (house, _youtube) = with(Script { rate: 0.0, hint_ms: 10_000, ..Script::default() }).await;
    let (mut socket, text) = view(&house, "", |text| text.contains("retry: ")).await;
    assert!(!text.contains("\n:\n\n"), "{text}");
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let text = read_until(&mut socket, |text| text.contains(":\n\n")).await;
    assert!(text.ends_with(":\n\n"), "{text}");
    assert!(begun.elapsed() < 2 * COMMENT_EVERY);
}

#[tokio::test]
async fn c9_a_viewer_that_reads_nothing_is_cut() {
    let (house, youtube) = with(Script { rate: 20.0, hint_ms: 1000, ..Script::default() }).await;
    let socket = TcpSocket::new_v4().unwrap();
    // The less the system keeps for it, the sooner nothing more can be written.
    socket.set_recv_buffer_size(4096).unwrap();
    let mut socket = socket.connect(house.address).await.unwrap();
    let head = format!("GET /v1/chat/{VIDEO}/events HTTP/1.1\r\nhost: a\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let _opened = read_until(&mut socket, |text| !ids(text).is_empty()).await;
    youtube.change(|script| script.rate = 200.0);
    tokio::time::pause();
    let rooms_viewers = async || house.get(&format!("/v1/chat/{VIDEO}")).await.body["viewers"].clone();
    while rooms_viewers().await == 1 {
        tokio::time::sleep(STALL).await;
    }
    // What was sent is still there to be read, and then comes the end.
    let mut rest = Vec::new();
    let _end_or_reset = socket.read_to_end(&mut rest).await;
    assert!(rest.len() > 1000, "{}", rest.len());
}

#[tokio::test]
async fn c1_a_head_and_a_preflight_begin_no_stream() {
    let (house, youtube) = open().await;
    let path = format!("/v1/chat/{VIDEO}/events");
    let head = house.raw(format!("HEAD {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes(), |_| false).await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream") && !head.contains("content-length"), "{head}");
    assert!(youtube.log().is_empty(), "nobody came, so no room is opened");
    let asked = house.send(Method::OPTIONS, &path, None, "").await;
    assert_eq!((asked.status, asked.header("access-control-allow-methods")), (204, "GET, POST"));
    assert!(asked.header("access-control-allow-headers").contains("last-event-id"));
}

#[tokio::test]
async fn o9_a_stop_ends_the_streams() {
    let (mut house, _youtube) = open().await;
    let (mut socket, _text) = view(&house, "", |text| ids(text).len() > 10).await;
    let stopping = house.stop();
    // Whoever is cut comes back elsewhere with its last id.
    let _rest = read_until(&mut socket, |_| false).await;
    stopping.await.unwrap();
}

#[tokio::test]
async fn c9_answers_ahead_of_a_stream_are_not_lost() {
    let (house, _youtube) = open().await;
    let both = format!(
        "{}GET /v1/chat/{VIDEO}/events HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2)
    );
    let text = house.raw(both.as_bytes(), |text| ids(text).len() > 2).await;
    assert_eq!(text.matches("{\"status\":\"ok\"}").count(), 2, "{text}");
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3, "{text}");
}
