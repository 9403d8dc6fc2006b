//! Live chats: the way from a room to its viewers, over real sockets and from a stand-in YouTube.

use std::time::Duration;

use http::{Method, Request};
use tidegate_chat::{COMMENT_EVERY, ChatSettings, Rooms, STALL};
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;
use tidegate_upstream::{Gate, Preset};
use tidegate_youtube::{Script, YouTube};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::*;

const VIDEO: &str = "abcdefghij0";

async fn with(settings: ControlSettings, script: Script) -> (House, YouTube) {
    let house = House::with(settings, EmbeddedSettings::default()).await;
    let youtube = YouTube::start(script).await.unwrap();
    let gate = Gate::new([("youtube", Preset::Youtube.settings())]).unwrap();
    let settings = ChatSettings { max_rooms: 1, ..ChatSettings::new("youtube", &youtube.url()) };
    house.control.open_rooms(Rooms::new(gate, settings).unwrap());
    (house, youtube)
}

async fn open() -> (House, YouTube) {
    with(unlimited(), Script { rate: 20.0, hint_ms: 1000, ..Script::default() }).await
}

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
    let (house, _youtube) = with(unlimited(), Script { rate: 0.0, hint_ms: 10_000, ..Script::default() }).await;
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
    let (house, youtube) = with(unlimited(), Script { rate: 20.0, hint_ms: 1000, ..Script::default() }).await;
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
async fn c4_before_the_stream_opens_an_error_is_a_status_with_a_code() {
    let (house, youtube) = open().await;
    let events = |name: &str| format!("/v1/chat/{name}/events");
    assert_eq!(house.get(&events("no-id")).await.problem(), (400, "bad_request"));
    assert_eq!(house.get(&format!("{}?view=best", events(VIDEO))).await.problem(), (400, "bad_request"));
    assert_eq!(house.get(&format!("/v1/chat/{VIDEO}")).await.problem(), (404, "room_not_found"));
    assert_eq!(house.get("/v1/chat/@somebody").await.problem(), (400, "bad_request"));
    assert_eq!(house.send(Method::POST, &events(VIDEO), None, "").await.problem(), (405, "method_not_allowed"));
    youtube.change(|script| script.is_live = false);
    assert_eq!(house.get(&events(VIDEO)).await.problem(), (409, "ended"));
    youtube.change(|script| script.is_live = true);
    // C10: another room than the only one that there may be.
    let (_socket, _text) = view(&house, "", |text| ids(text).len() > 1).await;
    assert_eq!(house.get(&events("abcdefghij1")).await.problem(), (503, "too_many_rooms"));
    let origins = ControlSettings { cors_origins: vec!["https://a.example".to_owned()], ..unlimited() };
    house.control.reload(origins);
    let foreign = Request::get(events(VIDEO)).header("host", "a").header("origin", "https://b.example");
    assert_eq!(house.request(foreign.body(String::new()).unwrap()).await.problem(), (403, "origin_not_allowed"));
}

#[tokio::test]
async fn c4_a_rate_limit_refuses_a_room_that_does_not_run_yet() {
    let (house, youtube) = open().await;
    youtube.throttle_for(Duration::from_secs(60));
    for _ in 0..2 {
        let refused = house.get(&format!("/v1/chat/{VIDEO}/events")).await;
        assert_eq!(refused.problem(), (429, "rate_limited"));
        assert!(refused.body["retry_after_ms"].as_u64().unwrap() > 1000, "{refused:?}");
    }
    assert_eq!(youtube.log().len(), 1, "the second is known without a call");
}

#[tokio::test]
async fn c4_without_rooms_the_routes_say_so() {
    let house = House::open().await;
    for path in ["/v1/chat", "/v1/chat/abcdefghij0", "/v1/chat/abcdefghij0/events"] {
        assert_eq!(house.get(path).await.problem(), (404, "chat_off"), "{path}");
    }
}

#[tokio::test]
async fn c1_a_head_and_a_preflight_begin_no_stream() {
    let (house, _youtube) = open().await;
    let path = format!("/v1/chat/{VIDEO}/events");
    let head = house.raw(format!("HEAD {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes(), |_| false).await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream") && !head.contains("content-length"), "{head}");
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
