//! S2–S13, S17, S19, S21 and the worked example.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tidegate_seats::SeatSettings;

use crate::support::*;

#[tokio::test]
async fn s2_a_free_seat_is_given_with_a_token() {
    let house = House::open().await;
    let stream = house.stream(2, 1).await;
    let seated = house.admit(&stream, json!({})).await;
    assert_eq!(seated.state(), (201, "in"));
    let (seat, token) = (seated.seat(), seated.token());
    assert_eq!(seat.len(), 22);
    let whole =
        json!({"state": "in", "seat": seat, "token": token, "token_expires_s": 120, "heartbeat_s": 5, "relays": []});
    assert_eq!(seated.body, whole);
}

#[tokio::test]
async fn the_worked_example() {
    let house = House::open().await;
    let stream = house.stream(2, 1).await;
    let a = house.admit(&stream, json!({})).await;
    let b = house.admit(&stream, json!({})).await;
    assert_eq!((a.state(), b.state()), ((201, "in"), (201, "in")));
    let c = house.admit(&stream, json!({})).await;
    assert_eq!(c.state(), (409, "wait"));
    assert_eq!(c.body["position"], 1);
    let d = house.admit(&stream, json!({})).await;
    assert_eq!(d.body, json!({"state": "full", "retry_s": 30, "retry_after_ms": 30_000}));
    assert_eq!(d.header("retry-after"), "30");

    assert_eq!(house.page(&stream, "leave", json!({"seat": b.seat()})).await.status, 204);
    let told = house.admit(&stream, json!({"seat": c.seat()})).await;
    assert_eq!(told.body, json!({"state": "offer", "seat": c.seat(), "offer_s": 10, "retry_after_ms": 2000}));
    let d = house.admit(&stream, json!({})).await;
    assert_eq!((d.state(), &d.body["position"]), ((409, "wait"), &json!(1)));
    let joined = house.admit(&stream, json!({"seat": c.seat(), "join": true})).await;
    assert_eq!((joined.state(), joined.seat()), ((201, "in"), c.seat()));

    let stats = house.stats(&stream).await;
    assert_eq!(
        stats,
        json!({"viewers": {"cap": 2, "hls": 0, "peak": 2, "queue_max": 1, "queued": 1, "seats": 2},
            "seats_with_tokens": 2, "turns": 0, "ingest_token_at": null})
    );
}

#[tokio::test]
async fn the_worked_examples_variant_an_untaken_offer_passes_on() {
    // Short times, and the pages ask until they are told: nothing here depends on how long a step takes.
    let offer = Duration::from_millis(300);
    let seats = SeatSettings { offer, ..SeatSettings::default() };
    let house = House::with(unlimited(), lasting(seats)).await;
    let stream = house.stream(2, 1).await;
    let _a = house.admit(&stream, json!({})).await;
    let b = house.admit(&stream, json!({})).await;
    let c = house.admit(&stream, json!({})).await;
    house.page(&stream, "leave", json!({"seat": b.seat()})).await;
    assert_eq!(house.admit(&stream, json!({"seat": c.seat()})).await.state(), (409, "offer"));
    let d = house.admit(&stream, json!({})).await;
    assert_eq!(d.state(), (409, "wait"));
    let told = loop {
        let told = house.admit(&stream, json!({"seat": d.seat()})).await;
        if told.body["state"] != "wait" {
            break told;
        }
    };
    assert_eq!(told.state(), (409, "offer"));
    let c = house.admit(&stream, json!({"seat": c.seat()})).await;
    assert_eq!((c.state(), &c.body["lost"], &c.body["position"]), ((409, "wait"), &json!("expired"), &json!(1)));
}

#[tokio::test]
async fn s3_a_place_says_its_position_and_when_to_ask_again() {
    let house = House::open().await;
    let stream = house.stream(1, 3).await;
    house.admit(&stream, json!({})).await;
    for position in 1..=3 {
        let wait = house.admit(&stream, json!({})).await;
        assert_eq!((wait.state(), &wait.body["position"]), ((409, "wait"), &json!(position)));
        let retry = wait.body["retry_after_ms"].as_u64().unwrap();
        assert!((1800..=2200).contains(&retry), "2 s, spread by a tenth: {retry}");
        let again = house.admit(&stream, json!({"seat": wait.seat()})).await;
        assert_eq!((again.seat(), &again.body["position"]), (wait.seat(), &json!(position)));
        assert!(again.body.get("lost").is_none());
    }
}

#[tokio::test]
async fn s4_a_full_line_is_answered_exactly_and_stores_nothing() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    house.admit(&stream, json!({})).await;
    let full = house.admit(&stream, json!({})).await;
    assert_eq!(full.status, 409);
    assert_eq!(full.header("content-type"), "application/json");
    assert_eq!(full.text, r#"{"state":"full","retry_s":30,"retry_after_ms":30000}"#);
    assert_eq!(house.stats(&stream).await["viewers"]["queued"], 0);
}

#[tokio::test]
async fn s8_asking_again_with_a_seat_is_a_refresh() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let first = house.admit(&stream, json!({})).await;
    let again = house.admit(&stream, json!({"seat": first.seat(), "join": true})).await;
    assert_eq!((again.state(), again.seat()), ((201, "in"), first.seat()));
    assert_ne!(again.token(), first.token(), "one session per token, so each answer has its own");
}

#[tokio::test]
async fn s8_what_became_of_a_lost_seat_is_said() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let left = house.admit(&stream, json!({})).await.seat();
    house.page(&stream, "leave", json!({"seat": left})).await;
    let lost = async |seat: &str| {
        let answer = house.admit(&stream, json!({"seat": seat})).await;
        assert_eq!(answer.state(), (201, "in"));
        assert_ne!(answer.seat(), seat, "a client never chooses an id");
        answer.body["lost"].clone()
    };
    assert_eq!(lost(&left).await, "left");
    assert_eq!(lost("AAAAAAAAAAAAAAAAAAAAAA").await, "unknown");
    for shapeless in ["", "x", "AAAAAAAAAAAAAAAAAAAAAAA", "!!!!!!!!!!!!!!!!!!!!!!", &"x".repeat(30_000)] {
        let answer = house.admit(&stream, json!({"seat": shapeless})).await;
        assert!(answer.body["lost"] == "unknown", "{answer:?}");
    }
    let other = house.stream(1, 0).await;
    let elsewhere = house.admit(&other, json!({})).await.seat();
    let answer = house.admit(&stream, json!({"seat": elsewhere})).await;
    assert_eq!(answer.state(), (409, "full"));
    assert_eq!(answer.body["lost"], "unknown");
}

#[tokio::test]
async fn s8_s21_a_kicked_seat_and_a_kicked_name_are_refused() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let (kick, tokens) = (format!("/v1/streams/{stream}/kick"), format!("/v1/streams/{stream}/viewer-tokens"));
    let seat = house.admit(&stream, json!({})).await.seat();
    let kicked = house.post(&kick, json!({"seat": seat})).await;
    assert_eq!((kicked.status, &kicked.body), (200, &json!({"seat": seat})));
    let refused = house.admit(&stream, json!({"seat": seat})).await;
    assert_eq!(refused.problem(), (403, "kicked"));
    assert!(refused.body["retry_after_ms"].as_u64().unwrap() > 590_000);
    assert_eq!(house.page(&stream, "hb", json!({"seat": seat})).await.problem(), (403, "kicked"));
    assert_eq!(house.page(&stream, "token", json!({"seat": seat})).await.problem(), (403, "kicked"));

    let ann = house.post(&tokens, json!({"viewer": "ann"})).await;
    let kicked = house.post(&kick, json!({"viewer": "ann"})).await;
    assert_eq!(kicked.body["seat"], ann.seat());
    assert_eq!(house.post(&tokens, json!({"viewer": "ann"})).await.problem(), (403, "kicked"));
    // A name that has no seat yet is blocked all the same; text that is no seat id is nobody.
    assert_eq!(house.post(&kick, json!({"viewer": "bob"})).await.body, json!({"seat": null}));
    assert_eq!(house.post(&tokens, json!({"viewer": "bob"})).await.problem(), (403, "kicked"));
    assert_eq!(house.post(&kick, json!({"seat": "nonsense"})).await.body, json!({"seat": null}));
    assert_eq!(house.stats(&stream).await["viewers"]["seats"], 0);
}

#[tokio::test]
async fn s11_a_raised_cap_seats_the_line_in_order_without_join() {
    let house = House::open().await;
    let stream = house.stream(1, 3).await;
    house.admit(&stream, json!({})).await;
    let mut line = Vec::new();
    for _ in 0..3 {
        line.push(house.admit(&stream, json!({})).await.seat());
    }
    assert_eq!(house.patch(&stream, json!({"viewer_cap": 3})).await.body["viewer_cap"], 3);
    let ask = async |seat: &str| house.admit(&stream, json!({"seat": seat})).await;
    let last = ask(&line[2]).await;
    assert_eq!(last.state(), (409, "wait"));
    assert_eq!(ask(&line[1]).await.state(), (201, "in"));
    assert_eq!(ask(&line[0]).await.state(), (201, "in"));
    let last = ask(&line[2]).await;
    assert_eq!((last.state(), &last.body["position"]), ((409, "wait"), &json!(1)));
}

#[tokio::test]
async fn s10_lowering_the_cap_unseats_nobody() {
    let house = House::open().await;
    let stream = house.stream(3, 1).await;
    let mut seats = Vec::new();
    for _ in 0..3 {
        seats.push(house.admit(&stream, json!({})).await.seat());
    }
    assert_eq!(house.patch(&stream, json!({"viewer_cap": 1})).await.status, 200);
    for seat in &seats {
        assert_eq!(house.page(&stream, "hb", json!({"seat": seat})).await.body, json!({"next_ms": 5000}));
        assert_eq!(house.admit(&stream, json!({"seat": seat})).await.state(), (201, "in"));
    }
    assert_eq!(house.admit(&stream, json!({})).await.state(), (409, "wait"));
    assert_eq!(house.stats(&stream).await["viewers"]["seats"], 3);
}

#[tokio::test]
async fn s13_the_seat_over_the_tenants_cap_is_refused_everywhere() {
    let house = House::open().await;
    let (full, empty) = (house.stream(200, 0).await, house.stream(10, 5).await);
    for _ in 0..200 {
        assert_eq!(house.admit(&full, json!({})).await.state(), (201, "in"));
    }
    for answer in [
        house.admit(&empty, json!({})).await,
        house.post(&format!("/v1/streams/{empty}/viewer-tokens"), json!({})).await,
    ] {
        assert_eq!(answer.problem(), (409, "tenant_viewer_cap"));
        assert_eq!(answer.body["state"], "full");
        assert!(answer.body["retry_after_ms"].as_u64().is_some());
    }
    let tenant = house.get("/v1/tenant").await.body;
    assert_eq!(tenant["used"]["viewer_cap"], 200);
    // Another tenant has its own.
    let others = house.stream_of(OTHER_KEY, json!({"name": "o", "viewer_cap": 1})).await;
    assert_eq!(house.admit(&others, json!({})).await.state(), (201, "in"));
}

#[tokio::test]
async fn s17_a_private_stream_has_its_seats_from_the_backend_only() {
    let house = House::open().await;
    let stream = house.stream_of(KEY, json!({"name": "p", "viewer_cap": 3, "public": false})).await;
    assert_eq!(house.admit(&stream, json!({})).await.problem(), (403, "server_admission"));
    let tokens = format!("/v1/streams/{stream}/viewer-tokens");
    let first = house.post(&tokens, json!({"viewer": "ann"})).await;
    assert_eq!(first.state(), (201, "in"));
    let again = house.post(&tokens, json!({"viewer": "ann"})).await;
    assert_eq!(again.seat(), first.seat(), "the same viewer twice is one seat");
    assert_eq!(house.post(&tokens, json!({"viewer": "bob", "hls": true})).await.state(), (201, "in"));
    assert_eq!(house.stats(&stream).await["viewers"]["hls"], 1);
    // The seat is the page's from then on.
    assert_eq!(house.page(&stream, "hb", json!({"seat": first.seat()})).await.status, 200);
    assert_eq!(house.page(&stream, "token", json!({"seat": first.seat()})).await.status, 200);
}

#[tokio::test]
async fn s17_viewer_tokens_needs_the_streams_own_tenant() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let path = format!("/v1/streams/{stream}/viewer-tokens");
    assert_eq!(house.send(Method::POST, &path, None, "").await.problem(), (401, "unauthorized"));
    assert_eq!(house.send(Method::POST, &path, Some("sk-wrong"), "").await.problem(), (401, "unauthorized"));
    assert_eq!(house.send(Method::POST, &path, Some(OTHER_KEY), "").await.problem(), (404, "stream_not_found"));
    assert_eq!(house.send(Method::POST, &path, Some(KEY), "").await.state(), (201, "in"));
}

#[tokio::test]
async fn s19_leaving_frees_at_once_and_twice_is_harmless() {
    let house = House::open().await;
    let stream = house.stream(1, 1).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    let place = house.admit(&stream, json!({})).await.seat();
    // As `navigator.sendBeacon` sends it.
    let beacon = http::Request::post(format!("/v1/play/{stream}/leave"))
        .header("host", "test")
        .header("content-type", "text/plain;charset=UTF-8")
        .body(json!({"seat": place}).to_string());
    assert_eq!(house.request(beacon.unwrap()).await.status, 204);
    for body in [json!({"seat": place}), json!({"seat": seat}), json!({"seat": seat}), json!({"seat": "x"}), json!({})]
    {
        let left = house.page(&stream, "leave", body).await;
        assert_eq!((left.status, left.text.as_str()), (204, ""));
    }
    assert_eq!(
        house.stats(&stream).await["viewers"],
        json!({"cap": 1, "hls": 0, "peak": 1, "queue_max": 1, "queued": 0, "seats": 0})
    );
    assert_eq!(house.page("nowhere", "leave", json!({"seat": seat})).await.status, 204);
}

#[tokio::test]
async fn s21_seats_are_listed_a_page_at_a_time() {
    let house = House::open().await;
    let stream = house.stream(10, 5).await;
    let tokens = format!("/v1/streams/{stream}/viewer-tokens");
    for n in 0..5 {
        house.post(&tokens, json!({"viewer": format!("v{n}"), "hidden": n == 1, "hls": n == 2})).await;
    }
    let path = format!("/v1/streams/{stream}/seats");
    let mut listed: Vec<Value> = Vec::new();
    let mut query = "?limit=2".to_owned();
    let mut pages = 0;
    loop {
        let page = house.get(&format!("{path}{query}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        listed.extend(page.body["seats"].as_array().unwrap().iter().cloned());
        pages += 1;
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(pages, 3);
    let viewers: Vec<_> = listed.iter().map(|seat| seat["viewer"].as_str().unwrap()).collect();
    assert_eq!(viewers, ["v0", "v1", "v2", "v3", "v4"]);
    assert_eq!(
        (&listed[1]["hidden"], &listed[2]["hls"], &listed[0]["hidden"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert!(listed.iter().all(|seat| seat["since"].as_u64().is_some() && seat["id"].as_str().unwrap().len() == 22));
    assert_eq!(house.get(&format!("{path}?limit=0")).await.problem(), (400, "bad_request"));
    assert_eq!(house.get(&format!("{path}?cursor=x")).await.body["field"], "cursor");
}

#[tokio::test]
async fn known_fault_1000_parallel_asks_at_cap_150_seat_exactly_150() {
    let house = std::sync::Arc::new(House::open().await);
    let stream = house.stream(150, 100).await;
    let mut asks = Vec::new();
    for _ in 0..20 {
        let (house, stream) = (std::sync::Arc::clone(&house), stream.clone());
        asks.push(tokio::spawn(async move {
            let mut states = Vec::new();
            for _ in 0..50 {
                states.push(house.admit(&stream, json!({})).await.state().1.to_owned());
            }
            states
        }));
    }
    let mut states = Vec::new();
    for ask in asks {
        states.extend(ask.await.unwrap());
    }
    let count = |state: &str| states.iter().filter(|told| *told == state).count();
    assert_eq!((count("in"), count("wait"), count("full")), (150, 100, 750));
    let viewers = house.stats(&stream).await["viewers"].clone();
    assert_eq!((&viewers["seats"], &viewers["queued"], &viewers["peak"]), (&json!(150), &json!(100), &json!(150)));
}
