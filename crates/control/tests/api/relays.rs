//! E2, E3, E12, E14, T2, T6, S21, S23, S27: what relays report, and what follows for viewers.

use http::Method;
use serde_json::{Value, json};
use tidegate_control::auth::key_digest;
use tidegate_token::{PublicKeys, VerifyAt};

use crate::support::*;

const SECRET: &str = "relay-0123456789abcdef0123456789abcdef";

async fn house() -> House {
    let house = House::open().await;
    house.control.admit_relays(key_digest(SECRET));
    house
}

impl House {
    async fn report(&self, relay: &str, version: u64, more: Value) -> Answer {
        let mut report = json!({
            "relay": relay, "region": "eu-west", "public_url": format!("https://{relay}.example:4443"), "hls_url": "",
            "busy": 0.1, "lag_ms": 1, "state": "open", "full": false, "version": version, "since": null,
            "sessions": []
        });
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send(Method::POST, "/v1/relays/report", Some(SECRET), &report.to_string()).await
    }
}

fn session(jti: &str, seat: &str, stream: &str) -> Value {
    json!({"jti": jti, "seat": seat, "stream": stream, "tenant": "acme", "role": "viewer", "since_ms": 9, "heard_ms": 0})
}

fn closed(answer: &Answer) -> Vec<&str> {
    let closed = answer.body["close"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    let mut closed: Vec<_> = closed.iter().map(|token| token.as_str().unwrap()).collect();
    closed.sort_unstable();
    closed
}

#[tokio::test]
async fn e12_only_the_fleets_secret_may_report() {
    let house = House::open().await;
    for key in [None, Some(KEY), Some(SECRET)] {
        let refused = house.send(Method::POST, "/v1/relays/report", key, "{}").await;
        assert_eq!(refused.problem(), (401, "unauthorized"), "{key:?}, and no relay is awaited");
    }
    house.control.admit_relays(key_digest(SECRET));
    for key in [None, Some(KEY), Some("relay-0123456789abcdef0123456789abcdeg")] {
        let refused = house.send(Method::POST, "/v1/relays/report", key, "{}").await;
        assert_eq!(refused.problem(), (401, "unauthorized"), "{key:?}");
    }
    let incomplete = house.send(Method::POST, "/v1/relays/report", Some(SECRET), "{}").await;
    assert_eq!(incomplete.problem(), (400, "bad_request"));
    assert_eq!(house.report("a b", 1, json!({})).await.body["field"], "relay");
    assert_eq!(house.report("a", 1, json!({"busy": 1.5})).await.body["field"], "busy");
}

#[tokio::test]
async fn e14_s27_answers_list_the_relays_that_report_the_viewers_region_first() {
    let house = house().await;
    let stream = house.stream(5, 0).await;
    house.report("far", 1, json!({"region": "us-east"})).await;
    house.report("near", 1, json!({"cert_sha256": "0a".repeat(32)})).await;
    house.report("full", 1, json!({"full": true})).await;
    // Until the first has confirmed that it gave up some of the tenant's sessions, there are none for the others (E3).
    let first = house.admit(&stream, json!({"region": "eu-west"})).await;
    assert_eq!(first.body["relays"][0]["id"], "far");
    house.report("far", 2, json!({"region": "us-east", "since": 1})).await;
    house.report("far", 3, json!({"region": "us-east", "since": 2})).await;
    house.report("near", 2, json!({"cert_sha256": "0a".repeat(32), "since": 1})).await;
    let seated = house.admit(&stream, json!({"region": "eu-west"})).await;
    let near = json!({
        "id": "near", "url": "https://near.example:4443", "hls_url": "", "region": "eu-west",
        "cert_sha256": "0a".repeat(32), "full": false
    });
    let far =
        json!({"id": "far", "url": "https://far.example:4443", "hls_url": "", "region": "us-east", "full": false});
    assert_eq!(seated.body["relays"], json!([near, far]));
    let renewed = house.page(&stream, "token", json!({"seat": seated.seat()})).await;
    assert_eq!(renewed.body["relays"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn e16_a_relay_is_told_whom_to_connect_to_and_gets_a_token_for_it() {
    let house = house().await;
    let first = house.report("b", 1, json!({})).await;
    assert_eq!(first.body.get("peers"), None, "{first:?}");
    let told = house.report("a", 1, json!({"cert_sha256": "0a".repeat(32)})).await;
    let peer = &told.body["peers"][0];
    assert_eq!((&peer["relay"], &peer["url"]), (&json!("b"), &json!("https://b.example:4443")));
    assert_eq!((peer.get("cert_sha256"), &peer["token_expires_s"]), (None, &json!(43_200)));
    let keys = house.get("/.well-known/jwks.json").await;
    let keys = PublicKeys::from_jwks(&keys.body.to_string()).unwrap();
    let token = keys.verify(peer["token"].as_str().unwrap(), VerifyAt::Now(0)).unwrap().peer().unwrap();
    assert_eq!((token.sub.as_str(), token.stream.as_str()), ("a", ""));
    let linked = house.report("a", 2, json!({"since": 1, "linked": ["b"]})).await;
    assert_eq!(linked.body.get("peers"), None, "{linked:?}");
}

#[tokio::test]
async fn t6_s21_the_sessions_of_freed_seats_are_closed_with_the_next_report_and_no_others() {
    let house = house().await;
    let [stream, ending, deleted] = [house.stream(9, 0).await, house.stream(9, 0).await, house.stream(9, 0).await];
    let seat = async |stream: &str| house.admit(stream, json!({})).await.seat();
    let [left, kicked, stays] = [seat(&stream).await, seat(&stream).await, seat(&stream).await];
    let [ended, gone] = [seat(&ending).await, seat(&deleted).await];
    let unknown = "AAAAAAAAAAAAAAAAAAAAAA";
    let sessions = json!([
        session("left", &left, &stream),
        session("kicked", &kicked, &stream),
        session("stays", &stays, &stream),
        session("ended", &ended, &ending),
        session("deleted", &gone, &deleted),
        // The store may have lost it, or all of its stream: who watches is not cut for that (T5, E4).
        session("unknown", unknown, &stream),
        session("elsewhere", unknown, "nostream"),
    ]);
    assert!(closed(&house.report("a", 1, json!({"sessions": sessions})).await).is_empty());
    house.page(&stream, "leave", json!({"seat": left})).await;
    house.post(&format!("/v1/streams/{stream}/kick"), json!({"seat": kicked})).await;
    house.post(&format!("/v1/streams/{ending}/end"), json!({})).await;
    house.send(Method::DELETE, &format!("/v1/streams/{deleted}"), Some(KEY), "").await;
    let told = house.report("a", 2, json!({"since": 1})).await;
    assert_eq!(closed(&told), ["deleted", "ended", "kicked", "left"]);
    let told = house.report("a", 3, json!({"since": 2, "ended": ["deleted", "ended", "kicked", "left"]})).await;
    assert!(closed(&told).is_empty());
}

#[tokio::test]
async fn e2_a_token_at_two_relays_is_closed_at_the_later_one() {
    let house = house().await;
    let stream = house.stream(9, 0).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    let mut older = session("t", &seat, &stream);
    older["since_ms"] = json!(5000);
    assert!(closed(&house.report("a", 1, json!({"sessions": [older]})).await).is_empty());
    let told = house.report("b", 1, json!({"sessions": [session("t", &seat, &stream)]})).await;
    assert_eq!(closed(&told), ["t"]);
    assert!(closed(&house.report("a", 2, json!({"since": 1})).await).is_empty());
}

#[tokio::test]
async fn t2_a_seat_that_was_at_a_relay_comes_back_with_a_token_that_says_so() {
    let house = house().await;
    let stream = house.stream(9, 0).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    let keys = PublicKeys::from_jwks(&house.get("/.well-known/jwks.json").await.text).unwrap();
    let back = async || {
        let token = house.page(&stream, "token", json!({"seat": seat})).await.token();
        keys.verify(&token, VerifyAt::Now(0)).unwrap().viewer_of(&stream).unwrap().back
    };
    assert!(!back().await);
    house.report("a", 1, json!({"sessions": [session("t", &seat, &stream)]})).await;
    assert!(back().await);
    house.report("a", 2, json!({"since": 1, "ended": ["t"]})).await;
    assert!(back().await, "it left a moment ago");
}

#[tokio::test]
async fn e3_s23_shares_are_of_max_sessions_and_the_account_says_what_is_open() {
    let house = house().await;
    assert_eq!(house.get("/v1/tenant").await.body["used"]["max_sessions"], Value::Null);
    let told = house.report("a", 1, json!({"sessions": [session("t", "s", "x")]})).await;
    assert_eq!(told.body["shares"], json!({"acme": 420, "other": 420}));
    assert_eq!((&told.body["store_away"], &told.body["resend"]), (&json!(false), &json!(false)));
    assert!(!told.body["keys_version"].as_str().unwrap().is_empty());
    let used = &house.get("/v1/tenant").await.body["used"];
    assert_eq!((&used["max_sessions"], &used["publishers"]), (&json!(1), &json!(0)));
    let lost = house.report("a", 3, json!({"since": 2})).await;
    assert_eq!(lost.body["resend"], true);
}
