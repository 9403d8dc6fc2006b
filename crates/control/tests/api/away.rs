//! D2, S20: the store cannot be written. The seated go on, newcomers are told when to come back, nothing hangs.

use serde_json::json;
use tidegate_control::fresh_seed;
use tidegate_seats::SeatId;
use tidegate_store::Seats;
use tidegate_token::{Claims, KeySet, Role};

use crate::support::*;

/// Fills the store's file to its bound.
async fn take_away(house: &House, stream: &str) {
    house.store.set_file_max_bytes(Some(1));
    while house.store.writable().await.is_ok() {
        house.admit(stream, json!({})).await;
    }
}

#[tokio::test]
async fn d2_new_seats_are_refused_and_the_seated_go_on() {
    let house = House::open().await;
    let stream = house.stream(150, 0).await;
    let seated = house.admit(&stream, json!({})).await;
    let left = house.admit(&stream, json!({})).await;
    house.page(&stream, "leave", json!({"seat": left.seat()})).await;
    take_away(&house, &stream).await;

    let refused = house.admit(&stream, json!({})).await;
    assert_eq!(refused.problem(), (503, "store_unavailable"));
    for answer in [
        house.page(&stream, "leave", json!({"seat": seated.seat()})).await,
        house.post(&format!("/v1/streams/{stream}/kick"), json!({"seat": seated.seat()})).await,
        house.post("/v1/streams", json!({"name": "a", "viewer_cap": 1})).await,
        house.patch(&stream, json!({"queue_max": 3})).await,
        house.get("/readyz").await,
    ] {
        assert_eq!(answer.problem(), (503, "store_unavailable"));
    }
    let spread = refused.body["retry_after_ms"].as_u64().unwrap();
    assert!((2000..=7000).contains(&spread), "{spread}");
    assert_eq!(house.get("/healthz").await.status, 200);

    assert_eq!(house.page(&stream, "hb", json!({"seat": seated.seat()})).await.status, 200);
    let renewal = json!({"seat": seated.seat(), "token": seated.token()});
    assert_eq!(house.page(&stream, "token", renewal).await.status, 200);
    // One that left stays gone, even though its token has not ended.
    let gone = json!({"seat": left.seat(), "token": left.token()});
    for call in ["hb", "token"] {
        assert_eq!(house.page(&stream, call, gone.clone()).await.problem(), (410, "seat_gone"), "{call}");
    }

    house.store.set_file_max_bytes(None);
    while house.get("/readyz").await.status != 200 {}
    assert_eq!(house.page(&stream, "hb", json!({"seat": seated.seat()})).await.status, 200);
}

#[tokio::test]
async fn s20_with_the_store_away_a_token_alone_renews() {
    let house = House::open().await;
    let keys = KeySet::generate(fresh_seed(), 0);
    house.tokens.set_keys(keys.clone());
    let stream = house.stream(150, 0).await;
    take_away(&house, &stream).await;
    let until = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 100;
    // A seat that this store never heard of, as after a failover that lost the last second.
    let seat = SeatId::from_random([9; 16]).to_string();
    let token = keys.sign(&Claims {
        sub: seat.clone(),
        stream: stream.clone(),
        tenant: "acme".into(),
        role: Role::Viewer,
        iat: until - 1,
        exp: until,
        jti: "j".into(),
        back: false,
    });
    let shown = json!({"seat": seat, "token": token});
    let renewed = house.page(&stream, "token", shown.clone()).await;
    assert_eq!(renewed.status, 200, "{renewed:?}");
    assert_eq!(house.page(&stream, "hb", shown).await.body, json!({"next_ms": 5000}));
    // Without a token nobody can say whether the seat is gone, so nobody says so.
    for call in ["hb", "token"] {
        assert_eq!(house.page(&stream, call, json!({"seat": seat})).await.problem(), (503, "store_unavailable"));
        let forged = json!({"seat": seat, "token": "a.b.c"});
        assert_eq!(house.page(&stream, call, forged).await.problem(), (503, "store_unavailable"));
    }
}
