//! S16: how often pages may call, and whose address counts.

use std::num::NonZeroU32;

use http::Request;
use serde_json::json;
use tidegate_control::{ControlSettings, ForwardedHeader};
use tidegate_store::EmbeddedSettings;

use crate::support::*;

/// Three calls at once, and then none for an hour: a test never waits for a bucket, nor does a slow one find it
/// refilled.
fn three_calls() -> ControlSettings {
    ControlSettings {
        page_burst: NonZeroU32::new(3).unwrap(),
        page_refill_ms: NonZeroU32::new(3_600_000).unwrap(),
        stop_notice_ms: 0,
        ..ControlSettings::default()
    }
}

async fn limited(settings: ControlSettings) -> (House, String) {
    let house = House::with(settings, EmbeddedSettings::default()).await;
    let stream = house.stream(50, 50).await;
    (house, stream)
}

/// An ask with headers that a proxy might have written.
async fn ask(house: &House, stream: &str, from: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::post(format!("/v1/play/{stream}/admit")).header("host", "test");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    house.request_from(from.parse().unwrap(), request.body(String::new()).unwrap()).await
}

#[tokio::test]
async fn s16_the_default_burst_is_20_and_then_429() {
    let slow = NonZeroU32::new(3_600_000).unwrap();
    let (house, stream) = limited(ControlSettings { page_refill_ms: slow, ..three_calls_default_burst() }).await;
    for n in 1..=20 {
        assert_eq!(house.admit(&stream, json!({})).await.status, 201, "call {n}");
    }
    let refused = house.admit(&stream, json!({})).await;
    assert_eq!(refused.problem(), (429, "rate_limited"));
    assert_eq!(refused.body["detail"], "too many requests from this address");
    assert_eq!(refused.header("retry-after"), "3600");
}

fn three_calls_default_burst() -> ControlSettings {
    ControlSettings { stop_notice_ms: 0, ..ControlSettings::default() }
}

#[tokio::test]
async fn s16_every_page_call_draws_and_bad_ones_too() {
    let (house, stream) = limited(three_calls()).await;
    assert_eq!(house.page(&stream, "hb", json!({"seat": "AAAAAAAAAAAAAAAAAAAAAA"})).await.status, 410);
    assert_eq!(house.page(&stream, "leave", json!({"seat": 5})).await.status, 400);
    assert_eq!(house.page("nowhere", "token", json!({"seat": "x"})).await.status, 410);
    for call in ["admit", "hb", "token", "leave"] {
        assert_eq!(house.page(&stream, call, json!({})).await.problem(), (429, "rate_limited"), "{call}");
        assert_eq!(house.page("nowhere", call, json!({})).await.problem(), (429, "rate_limited"), "{call}");
    }
    // Another address, and a tenant's backend, are not this address.
    assert_eq!(ask(&house, &stream, "127.0.0.2", &[]).await.status, 201);
    for _ in 0..10 {
        assert_eq!(house.post(&format!("/v1/streams/{stream}/viewer-tokens"), json!({})).await.status, 201);
    }
    assert_eq!(house.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn s16_s1_neighbours_behind_one_address_do_not_cost_a_seat_its_calls() {
    let (house, stream) = limited(three_calls()).await;
    let seat = house.admit(&stream, json!({"nonce": "a nonce of one page"})).await.seat();
    let other = house.admit(&stream, json!({})).await.seat();
    house.admit(&stream, json!({})).await;
    assert_eq!(house.admit(&stream, json!({})).await.status, 429);
    // The address is spent; each live seat has three calls of its own, whatever they are.
    assert_eq!(house.page(&stream, "hb", json!({"seat": seat})).await.status, 200);
    assert_eq!(house.page(&stream, "token", json!({"seat": seat})).await.status, 200);
    assert_eq!(house.admit(&stream, json!({"nonce": "a nonce of one page"})).await.status, 201);
    let refused = house.page(&stream, "hb", json!({"seat": seat})).await;
    assert_eq!(refused.problem(), (429, "rate_limited"));
    assert_eq!(refused.body["detail"], "too many requests for this seat");
    assert_eq!(house.page(&stream, "hb", json!({"seat": other})).await.status, 200);
    // A seat of this stream is nobody in another one.
    let elsewhere = house.stream(1, 0).await;
    assert_eq!(house.page(&elsewhere, "hb", json!({"seat": other})).await.problem(), (429, "rate_limited"));
}

#[tokio::test]
async fn s16_a_waiting_place_has_its_own_bucket_too() {
    let (house, _) = limited(three_calls()).await;
    let stream = house.stream(1, 5).await;
    house.admit(&stream, json!({})).await;
    let place = house.admit(&stream, json!({})).await.seat();
    house.admit(&stream, json!({})).await;
    assert_eq!(house.admit(&stream, json!({})).await.status, 429);
    for _ in 0..3 {
        assert_eq!(house.admit(&stream, json!({"seat": place})).await.state(), (409, "wait"));
    }
    assert_eq!(house.admit(&stream, json!({"seat": place})).await.status, 429);
}

#[tokio::test]
async fn s16_forwarded_addresses_count_only_behind_trusted_proxies() {
    let (house, stream) = limited(three_calls()).await;
    for n in 0..3 {
        let forged = format!("203.0.113.{n}");
        assert_eq!(ask(&house, &stream, "127.0.0.1", &[("x-forwarded-for", &forged)]).await.status, 201);
    }
    assert_eq!(ask(&house, &stream, "127.0.0.1", &[("x-forwarded-for", "203.0.113.9")]).await.status, 429);

    let trusted = ControlSettings { trusted_proxies: networks(&["127.0.0.1/32"]), ..three_calls() };
    let (house, stream) = limited(trusted).await;
    let by = |address: &'static str| [("x-forwarded-for", address)];
    for client in ["203.0.113.1", "203.0.113.2"] {
        for _ in 0..3 {
            assert_eq!(ask(&house, &stream, "127.0.0.1", &by(client)).await.status, 201, "{client}");
        }
        assert_eq!(ask(&house, &stream, "127.0.0.1", &by(client)).await.status, 429, "{client}");
    }
    // What the client wrote itself stands left of what the proxy saw.
    assert_eq!(ask(&house, &stream, "127.0.0.1", &by("198.51.100.1, 203.0.113.1")).await.status, 429);
    assert_eq!(ask(&house, &stream, "127.0.0.1", &[("forwarded", "for=\"203.0.113.1:99\"")]).await.status, 429);
    assert_eq!(ask(&house, &stream, "127.0.0.1", &[("forwarded", "for=203.0.113.7")]).await.status, 201);
    // IPv6 counts by /64.
    for host in 0..3 {
        let address = format!("2001:db8::{host}");
        assert_eq!(ask(&house, &stream, "127.0.0.1", &[("x-forwarded-for", &address)]).await.status, 201);
    }
    assert_eq!(ask(&house, &stream, "127.0.0.1", &by("2001:db8::ffff")).await.status, 429);
    assert_eq!(ask(&house, &stream, "127.0.0.1", &by("2001:db8:0:1::1")).await.status, 201);
    // Another peer is not the proxy.
    assert_eq!(ask(&house, &stream, "127.0.0.2", &by("203.0.113.1")).await.status, 201);
}

#[tokio::test]
async fn s16_exempt_networks_are_not_limited_and_settings_change_while_running() {
    let (house, stream) = limited(three_calls()).await;
    for _ in 0..3 {
        house.admit(&stream, json!({})).await;
    }
    assert_eq!(house.admit(&stream, json!({})).await.status, 429);
    house.control.reload(ControlSettings { exempt_networks: networks(&["127.0.0.1/32"]), ..three_calls() });
    for _ in 0..10 {
        assert_eq!(house.admit(&stream, json!({})).await.status, 201);
    }
    house.control.reload(three_calls());
    assert_eq!(house.admit(&stream, json!({})).await.status, 429, "the same limits keep what was drawn");
    let forwarded = ControlSettings {
        trusted_proxies: networks(&["127.0.0.1/32"]),
        forwarded_header: ForwardedHeader::Forwarded,
        ..three_calls()
    };
    house.control.reload(forwarded);
    let both = [("x-forwarded-for", "203.0.113.5"), ("forwarded", "for=127.0.0.1")];
    assert_eq!(ask(&house, &stream, "127.0.0.1", &both).await.status, 429);
}
