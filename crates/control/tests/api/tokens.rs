//! S20, T1–T6: what tokens say, renewals, and seats that a token restores.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use tidegate_control::{TokenSettings, fresh_seed};
use tidegate_seats::{SeatId, StreamId, StreamSettings, TenantId};
use tidegate_store::{Catalogue, Embedded, EmbeddedSettings, TenantSettings};
use tidegate_token::{Claims, KeySet, PublicKeys, Role, VerifyAt};

use crate::support::*;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test]
async fn t2_a_viewers_token_says_seat_stream_tenant_and_ends_in_120_s() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let seated = house.admit(&stream, json!({})).await;
    let jwks = house.get("/.well-known/jwks.json").await;
    assert_eq!(jwks.header("content-type"), "application/jwk-set+json");
    let keys = PublicKeys::from_jwks(&jwks.text).unwrap();
    let claims = keys.verify(&seated.token(), VerifyAt::Now(now())).unwrap().viewer_of(&stream).unwrap();
    assert_eq!((claims.sub, claims.tenant.as_str(), claims.back), (seated.seat(), "acme", false));
    assert_eq!(claims.exp - claims.iat, 120);
    assert!(claims.iat.abs_diff(now()) <= 5);
}

#[tokio::test]
async fn t4_only_a_given_seat_gets_a_token() {
    let house = House::open().await;
    let stream = house.stream(1, 1).await;
    house.admit(&stream, json!({})).await;
    for _ in 0..2 {
        let told = house.admit(&stream, json!({})).await;
        assert_eq!(told.status, 409);
        assert!(!told.text.contains("token"), "{}", told.text);
    }
}

#[tokio::test]
async fn s20_a_renewal_is_a_new_token_of_the_same_seat() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let seated = house.admit(&stream, json!({})).await;
    let renewed = house.page(&stream, "token", json!({"seat": seated.seat(), "token": seated.token()})).await;
    assert_eq!(renewed.status, 200);
    let token = renewed.token();
    assert_eq!(renewed.body, json!({"token": token, "token_expires_s": 120, "relays": []}));
    let keys = PublicKeys::from_jwks(&house.get("/.well-known/jwks.json").await.text).unwrap();
    let claims = |token: &str| keys.verify(token, VerifyAt::Now(now())).unwrap().viewer_of(&stream).unwrap();
    let (first, second) = (claims(&seated.token()), claims(&token));
    assert_eq!(first.sub, second.sub);
    assert_ne!(first.jti, second.jti, "one session per token");
    // The seat id alone is enough while the store knows it: whoever holds it owns the seat.
    assert_eq!(house.page(&stream, "token", json!({"seat": seated.seat(), "token": "nonsense"})).await.status, 200);
}

#[tokio::test]
async fn t1_keys_rotate_with_overlap_while_running() {
    let house = House::open().await;
    let stream = house.stream(2, 0).await;
    let keys = KeySet::generate(fresh_seed(), now());
    house.tokens.set_keys(keys.clone());
    let old = house.admit(&stream, json!({})).await;
    house.tokens.set_keys(keys.rotate(fresh_seed(), now(), 600));
    let jwks = house.get("/.well-known/jwks.json").await;
    assert_eq!(jwks.body["keys"].as_array().unwrap().len(), 2);
    let public = PublicKeys::from_jwks(&jwks.text).unwrap();
    let new = house.admit(&stream, json!({})).await;
    for token in [old.token(), new.token()] {
        assert!(public.verify(&token, VerifyAt::Now(now())).is_ok());
    }
    assert_ne!(old.token().split('.').next(), new.token().split('.').next(), "another key signs");
}

#[tokio::test]
async fn t2_the_lives_of_tokens_are_settings() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let life = std::num::NonZeroU32::new(45).unwrap();
    house.tokens.set_settings(TokenSettings { viewer_life_s: life, ..TokenSettings::default() });
    assert_eq!(house.admit(&stream, json!({})).await.body["token_expires_s"], 45);
}

/// A store that was born now and knows the stream, but nobody in it.
async fn forgetful(keys: KeySet) -> (House, String) {
    let dir = tempfile::tempdir().unwrap();
    let store = Embedded::open(dir.path(), EmbeddedSettings::default()).unwrap();
    let (acme, live) = (TenantId::parse("acme").unwrap(), StreamId::parse("live").unwrap());
    let tenant = TenantSettings { name: "Acme".into(), viewer_cap: 5, max_sessions: None, publishers: 1 };
    store.add_tenant(&acme, tenant, tidegate_control::auth::key_digest(KEY)).await.unwrap();
    let stream = StreamSettings {
        name: "Live".into(),
        viewer_cap: 1,
        queue_max: 0,
        public: true,
        region: None,
        estimate: false,
    };
    store.open_stream(&acme, &live, stream).await.unwrap();
    (House::over(store, dir, unlimited(), keys).served().await, "live".into())
}

fn token(keys: &KeySet, seat: &str, stream: &str, role: Role, iat: u64, exp: u64) -> String {
    let claims = Claims {
        sub: seat.into(),
        stream: stream.into(),
        tenant: "acme".into(),
        role,
        iat,
        exp,
        jti: "j".into(),
        back: false,
    };
    keys.sign(&claims)
}

#[tokio::test]
async fn t5_a_token_of_a_seat_that_the_store_forgot_puts_it_back() {
    for call in ["hb", "admit", "token"] {
        let keys = KeySet::generate(fresh_seed(), 0);
        let (house, stream) = forgetful(keys.clone()).await;
        let seat = SeatId::from_random([7; 16]).to_string();
        // Somebody took the only seat meanwhile: back over the cap all the same.
        assert_eq!(house.admit(&stream, json!({})).await.state(), (201, "in"));
        let token = token(&keys, &seat, &stream, Role::Viewer, now() - 60, now() + 60);
        let back = house.page(&stream, call, json!({"seat": seat, "token": token})).await;
        assert!([200, 201].contains(&back.status), "{call}: {back:?}");
        assert_eq!(house.stats(&stream).await["viewers"]["seats"], 2, "{call}");
        assert_eq!(house.page(&stream, "hb", json!({"seat": seat})).await.status, 200, "{call}");
    }
}

#[tokio::test]
async fn t5_no_other_token_puts_a_seat_back() {
    let keys = KeySet::generate(fresh_seed(), 0);
    let (house, stream) = forgetful(keys.clone()).await;
    let (seat, other) = (SeatId::from_random([7; 16]).to_string(), SeatId::from_random([8; 16]).to_string());
    let (then, later) = (now() - 60, now() + 60);
    let strangers = KeySet::generate(fresh_seed(), 0);
    for (why, token) in [
        ("another seat's", token(&keys, &other, &stream, Role::Viewer, then, later)),
        ("another stream's", token(&keys, &seat, "other", Role::Viewer, then, later)),
        ("a publisher's", token(&keys, &seat, &stream, Role::Publisher, then, later)),
        ("ended", token(&keys, &seat, &stream, Role::Viewer, then, now() - 1)),
        ("another key's", token(&strangers, &seat, &stream, Role::Viewer, then, later)),
        ("issued after the store's birth", token(&keys, &seat, &stream, Role::Viewer, now() + 30, later)),
        ("no token", "nonsense".into()),
    ] {
        let body = json!({"seat": seat, "token": token});
        assert_eq!(house.page(&stream, "hb", body.clone()).await.problem(), (410, "seat_gone"), "{why}");
        assert_eq!(house.page(&stream, "token", body).await.problem(), (410, "seat_gone"), "{why}");
    }
    assert_eq!(house.stats(&stream).await["viewers"]["seats"], 0);
}

#[tokio::test]
async fn t6_a_departed_seats_token_puts_nothing_back() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let left = house.admit(&stream, json!({})).await;
    house.page(&stream, "leave", json!({"seat": left.seat()})).await;
    let kicked = house.admit(&stream, json!({})).await;
    house.post(&format!("/v1/streams/{stream}/kick"), json!({"seat": kicked.seat()})).await;
    let body = |gone: &Answer| json!({"seat": gone.seat(), "token": gone.token()});
    for call in ["hb", "token"] {
        assert_eq!(house.page(&stream, call, body(&left)).await.problem(), (410, "seat_gone"));
        assert_eq!(house.page(&stream, call, body(&kicked)).await.problem(), (403, "kicked"));
    }
    assert_eq!(house.admit(&stream, body(&left)).await.body["lost"], "left");
    assert_eq!(house.admit(&stream, body(&kicked)).await.problem(), (403, "kicked"));
}
