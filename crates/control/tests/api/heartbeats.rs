//! S18: a page's heartbeats, and a backend's for many.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_seats::SeatSettings;

use crate::support::*;

#[tokio::test]
async fn s18_a_heartbeat_says_when_the_next_is_due() {
    let house = House::open().await;
    let stream = house.stream(1, 1).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    let beat = async |body: Value| {
        let kept = house.page(&stream, "hb", body).await;
        assert_eq!(kept.status, 200, "{kept:?}");
        kept.text
    };
    assert_eq!(beat(json!({"seat": seat})).await, r#"{"next_ms":5000}"#);
    assert_eq!(beat(json!({"seat": seat, "hidden": true})).await, r#"{"next_ms":20000}"#);
    assert_eq!(beat(json!({"seat": seat})).await, r#"{"next_ms":20000}"#, "what was said last holds");
    assert_eq!(beat(json!({"seat": seat, "hidden": false, "hls": true})).await, r#"{"next_ms":5000}"#);
    assert_eq!(house.stats(&stream).await["viewers"]["hls"], 1);
}

#[tokio::test]
async fn s18_a_seat_that_is_gone_is_410() {
    let house = House::open().await;
    let stream = house.stream(1, 1).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    let place = house.admit(&stream, json!({})).await.seat();
    house.page(&stream, "leave", json!({"seat": seat})).await;
    for body in [
        json!({"seat": seat}),
        json!({"seat": "AAAAAAAAAAAAAAAAAAAAAA"}),
        json!({"seat": "shapeless"}),
        json!({"seat": place}),
        json!({}),
    ] {
        for call in ["hb", "token"] {
            let gone = house.page(&stream, call, body.clone()).await;
            assert_eq!(gone.problem(), (410, "seat_gone"), "{call} {body}");
        }
    }
    assert_eq!(house.page("nowhere", "hb", json!({"seat": seat})).await.problem(), (404, "stream_not_found"));
    assert_eq!(house.page("NO-SUCH%20ID", "hb", json!({"seat": seat})).await.problem(), (404, "stream_not_found"));
}

#[tokio::test]
async fn s18_silence_frees_the_seat() {
    let seats = SeatSettings { seat_silence: Duration::from_millis(200), ..SeatSettings::default() };
    let house = House::with(unlimited(), lasting(seats)).await;
    let stream = house.stream(1, 1).await;
    let silent = house.admit(&stream, json!({})).await.seat();
    let waiting = house.admit(&stream, json!({})).await.seat();
    let told = loop {
        let told = house.admit(&stream, json!({"seat": waiting})).await;
        if told.body["state"] != "wait" {
            break told;
        }
    };
    assert_eq!(told.state(), (409, "offer"));
    assert_eq!(house.page(&stream, "hb", json!({"seat": silent})).await.problem(), (410, "seat_gone"));
}

#[tokio::test]
async fn s18_a_backend_keeps_1000_seats_at_once_with_an_answer_for_each() {
    let house = House::open().await;
    let stream = house.stream(100, 0).await;
    let mut seats = Vec::new();
    for _ in 0..100 {
        seats.push(house.admit(&stream, json!({})).await.seat());
    }
    house.page(&stream, "leave", json!({"seat": seats[7]})).await;
    house.post(&format!("/v1/streams/{stream}/kick"), json!({"seat": seats[8]})).await;
    house.page(&stream, "hb", json!({"seat": seats[9], "hidden": true})).await;
    let asked: Vec<String> =
        (0..1000).map(|n| seats.get(n).cloned().unwrap_or_else(|| format!("unknown-{n}"))).collect();
    let path = format!("/v1/streams/{stream}/hb");
    let kept = house.post(&path, json!({"seats": asked})).await;
    assert_eq!(kept.status, 200);
    let answers = kept.body["seats"].as_array().unwrap();
    assert_eq!(answers.len(), 1000);
    for (n, answer) in answers.iter().enumerate() {
        let expected = match n {
            7 | 100.. => json!({"seat": asked[n], "status": 410, "code": "seat_gone"}),
            8 => json!({"seat": asked[n], "status": 403, "code": "kicked"}),
            9 => json!({"seat": asked[n], "status": 200, "next_ms": 20_000}),
            _ => json!({"seat": asked[n], "status": 200, "next_ms": 5000}),
        };
        assert_eq!(*answer, expected, "{n}");
    }
    let over: Vec<_> = (0..1001).map(|_| "x").collect();
    assert_eq!(house.post(&path, json!({"seats": over})).await.problem(), (400, "bad_request"));
    assert_eq!(house.send(http::Method::POST, &path, Some(OTHER_KEY), "{}").await.problem(), (404, "stream_not_found"));
}
