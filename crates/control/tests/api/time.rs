//! Rules that take minutes, under virtual time: the routes without sockets, over the real store.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::Request;
use ipnet::IpNet;
use serde_json::{Value, json};
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;
use tokio::time::sleep;
use tower::ServiceExt;

use crate::support::*;

/// The routes, a stream, and whole seconds that pass at once.
struct Night {
    _house: House,
    routes: Router,
    stream: String,
}

impl Night {
    async fn of(viewer_cap: u32, queue_max: u32) -> Self {
        let everybody = ["0.0.0.0/0"].iter().map(|net| net.parse::<IpNet>().unwrap()).collect();
        let settings = ControlSettings { exempt_networks: everybody, ..unlimited() };
        let house = House::unserved(settings, EmbeddedSettings::default()).await;
        let night = Self { routes: house.control.router(), _house: house, stream: String::new() };
        let made =
            night.call("/v1/streams", json!({"name": "n", "viewer_cap": viewer_cap, "queue_max": queue_max})).await;
        let stream = made.1["id"].as_str().unwrap().to_owned();
        Self { stream, ..night }
    }

    async fn call(&self, path: &str, body: Value) -> (u16, Value) {
        let request = Request::post(path).header("authorization", format!("Bearer {KEY}"));
        let response = self.routes.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    async fn page(&self, call: &str, body: Value) -> (u16, Value) {
        self.call(&format!("/v1/play/{}/{call}", self.stream), body).await
    }

    async fn admit(&self, body: Value) -> (u16, Value) {
        self.page("admit", body).await
    }
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[tokio::test(start_paused = true)]
async fn known_fault_a_hidden_page_heard_every_59_s_for_ten_minutes_keeps_its_seat_and_at_61_s_it_is_gone() {
    let night = Night::of(1, 0).await;
    let seat = night.admit(json!({})).await.1["seat"].clone();
    let hidden = json!({"seat": seat, "hidden": true});
    for _ in 0..11 {
        assert_eq!(night.page("hb", hidden.clone()).await, (200, json!({"next_ms": 20_000})));
        sleep(secs(59)).await;
    }
    assert_eq!(night.page("hb", hidden.clone()).await.0, 200);
    sleep(secs(61)).await;
    assert_eq!(night.page("hb", hidden).await.0, 410);
}

#[tokio::test(start_paused = true)]
async fn known_fault_a_hidden_place_asked_for_every_74_s_is_kept() {
    let night = Night::of(1, 1).await;
    let seated = night.admit(json!({})).await.1["seat"].clone();
    let place = night.admit(json!({"hidden": true})).await.1["seat"].clone();
    for _ in 0..8 {
        for _ in 0..5 {
            sleep(secs(14)).await;
            assert_eq!(night.page("hb", json!({"seat": seated})).await.0, 200);
        }
        sleep(secs(4)).await;
        let (status, told) = night.admit(json!({"seat": place, "hidden": true})).await;
        assert_eq!((status, &told["position"], &told["seat"]), (409, &json!(1), &place));
    }
}

#[tokio::test(start_paused = true)]
async fn s5_the_offers_seconds_run_from_its_telling_and_s3_a_silent_place_leaves() {
    let night = Night::of(1, 2).await;
    let first = night.admit(json!({})).await.1["seat"].clone();
    let (second, third) =
        (night.admit(json!({})).await.1["seat"].clone(), night.admit(json!({})).await.1["seat"].clone());
    night.page("leave", json!({"seat": first})).await;
    sleep(secs(8)).await;
    let ask = async |seat: &Value| night.admit(json!({"seat": seat})).await.1;
    let told = ask(&second).await;
    assert_eq!((&told["state"], &told["offer_s"]), (&json!("offer"), &json!(10)));
    sleep(secs(3)).await;
    assert_eq!(ask(&second).await["offer_s"], 7);
    assert_eq!(ask(&third).await["state"], "wait");
    sleep(secs(8)).await;
    assert_eq!(ask(&third).await["state"], "offer", "it passed to the next in line");
    let late = ask(&second).await;
    assert_eq!((&late["state"], &late["lost"]), (&json!("wait"), &json!("expired")));
    let joined = night.admit(json!({"seat": third, "join": true})).await;
    assert_eq!((joined.0, &joined.1["state"]), (201, &json!("in")));
    sleep(secs(16)).await;
    let newcomer = night.admit(json!({})).await.1;
    assert_eq!(newcomer["position"], 1, "the silent place left the line");
}
