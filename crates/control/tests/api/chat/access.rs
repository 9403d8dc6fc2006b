//! Who may read, and how often somebody may come (C10, S16, C7's metrics).

use std::num::NonZeroU32;

use serde_json::json;
use tidegate_chat::{ChatSettings, Readers};
use tidegate_control::ControlSettings;
use tidegate_youtube::{Script, YouTube};

use super::viewer::{Got, Viewer};
use super::{VIDEO, events, house, open};
use crate::support::*;

/// A house whose chats are for those who are known.
async fn known() -> (House, YouTube) {
    let youtube = YouTube::start(Script { rate: 20.0, hint_ms: 1000, ..Script::default() }).await.unwrap();
    let chat = ChatSettings { readers: Readers::Known, ..ChatSettings::new("youtube") };
    (house(unlimited(), youtube.url(), chat).await, youtube)
}

/// A call without a key.
async fn ask(house: &House, path: &str) -> Answer {
    house.send(http::Method::GET, path, None, "").await
}

/// The head of an answer to an events call with this query and these headers.
async fn head(house: &House, query: &str, headers: &str) -> String {
    let head = format!("GET {}{query} HTTP/1.1\r\nhost: a\r\n{headers}\r\n", events(VIDEO));
    house.raw(head.as_bytes(), |text| text.contains("\r\n\r\n")).await
}

#[tokio::test]
async fn c10_a_strangers_call_opens_no_room_where_readers_must_be_known() {
    let (house, youtube) = known().await;
    for path in [events(VIDEO), format!("{}?token=nonsense", events(VIDEO)), "/v1/chat".to_owned()] {
        assert_eq!(ask(&house, &path).await.problem(), (401, "unauthorized"), "{path}");
    }
    assert_eq!(ask(&house, &format!("/v1/chat/{VIDEO}")).await.problem(), (401, "unauthorized"));
    let key_in_address = ask(&house, &format!("{}?token={KEY}", events(VIDEO))).await;
    assert_eq!(key_in_address.problem(), (401, "unauthorized"), "addresses are logged on their way");
    let publisher = house.stream(1, 0).await;
    let made = house.send(http::Method::POST, &format!("/v1/streams/{publisher}/ingest-token"), Some(KEY), "{}").await;
    let path = format!("{}?token={}", events(VIDEO), made.body["token"].as_str().unwrap());
    assert_eq!(ask(&house, &path).await.problem(), (401, "unauthorized"), "a publisher has no seat");
    assert!(youtube.log().is_empty());
}

#[tokio::test]
async fn c10_tenants_and_seats_read_where_readers_must_be_known() {
    let (house, _youtube) = known().await;
    let stream = house.stream(5, 0).await;
    let token = house.admit(&stream, json!({})).await.token();
    for (query, headers) in [
        (String::new(), format!("authorization: Bearer {KEY}\r\n")),
        (String::new(), format!("authorization: Bearer {token}\r\n")),
        (format!("?token={token}"), String::new()),
    ] {
        let head = head(&house, &query, &headers).await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    }
    let list = house.send(http::Method::GET, "/v1/chat", Some(KEY), "").await;
    assert_eq!(list.body["rooms"][0]["video"], VIDEO);
}

#[tokio::test]
async fn c4_who_was_let_in_comes_back_without_a_token_that_still_holds() {
    let (house, _youtube) = known().await;
    let open = format!("GET {} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {KEY}\r\n\r\n", events(VIDEO));
    let text = house.raw(open.as_bytes(), |text| text.contains("\nid: ")).await;
    let id = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    let got = Got { last_id: Some(id.clone()), ..Got::default() };
    let mut viewer = Viewer::resume(&house, VIDEO, got).await;
    viewer.until(|got| !got.rows.is_empty()).await;
    // The id of another life, and another room's, prove nothing.
    let (_, seq) = id.split_once('-').unwrap();
    let strange = head(&house, "", &format!("last-event-id: 1-{seq}\r\n")).await;
    assert!(strange.starts_with("HTTP/1.1 401 "), "{strange}");
    let other = format!("GET {} HTTP/1.1\r\nhost: a\r\nlast-event-id: {id}\r\n\r\n", events("otherotherx"));
    let other = house.raw(other.as_bytes(), |text| text.contains("\r\n\r\n")).await;
    assert!(other.starts_with("HTTP/1.1 401 "), "{other}");
}

#[tokio::test]
async fn s16_events_draw_on_the_addresss_bucket_and_a_seats_on_its_own() {
    let youtube = YouTube::start(Script::default()).await.unwrap();
    let few = ControlSettings {
        page_burst: NonZeroU32::new(6).unwrap(),
        page_refill_ms: NonZeroU32::new(60_000).unwrap(),
        ..ControlSettings::default()
    };
    let house = house(few, youtube.url(), ChatSettings::new("youtube")).await;
    let stream = house.stream(5, 0).await;
    let token = house.admit(&stream, json!({})).await.token();
    for _ in 0..5 {
        assert!(head(&house, "", "").await.starts_with("HTTP/1.1 200 "));
    }
    let refused = ask(&house, &events(VIDEO)).await;
    assert_eq!(refused.problem(), (429, "rate_limited"));
    assert!(refused.body["detail"].as_str().unwrap().contains("from this address"), "{refused:?}");
    assert!(head(&house, "", "last-event-id: 1-5\r\n").await.starts_with("HTTP/1.1 429 "));
    // Neighbours do not cost a seat its chat, nor does a tenant's backend wait.
    assert!(head(&house, &format!("?token={token}"), "").await.starts_with("HTTP/1.1 200 "));
    assert!(head(&house, "", &format!("authorization: Bearer {KEY}\r\n")).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn o8_the_description_has_the_rooms_bodies() {
    let (house, _youtube) = open().await;
    let _viewer = Viewer::enter(&house, VIDEO).await;
    let description = house.get("/openapi.json").await.body;
    let body = |path: &str| {
        description["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].clone()
    };
    assert_eq!(body("/v1/chat"), "#/components/schemas/RoomList");
    assert_eq!(body("/v1/chat/{name}"), "#/components/schemas/Room");
    let room = house.get(&format!("/v1/chat/{VIDEO}")).await.body;
    let described = description["components"]["schemas"]["Room"].to_string()
        + &description["components"]["schemas"]["RoomState"].to_string();
    for field in room.as_object().unwrap().keys() {
        assert!(described.contains(&format!("\"{field}\"")), "{field} is not described: {described}");
    }
}
