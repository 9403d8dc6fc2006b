//! An ask repeated because its answer was lost finds the same entry, and nobody else's.

use serde_json::json;

use crate::support::*;

const NONCE: &str = "a page's nonce, 0123456789";

#[tokio::test]
async fn known_fault_a_201_lost_in_transit_and_asked_again_is_the_same_seat() {
    let house = House::open().await;
    let stream = house.stream(2, 2).await;
    let first = house.admit(&stream, json!({"nonce": NONCE})).await;
    let again = house.admit(&stream, json!({"nonce": NONCE})).await;
    assert_eq!((again.state(), again.seat()), ((201, "in"), first.seat()));
    assert_eq!(house.stats(&stream).await["viewers"]["seats"], 1);

    house.admit(&stream, json!({})).await;
    let place = house.admit(&stream, json!({"nonce": "another page's nonce"})).await;
    let again = house.admit(&stream, json!({"nonce": "another page's nonce"})).await;
    assert_eq!((again.seat(), &again.body["position"]), (place.seat(), &json!(1)));
}

#[tokio::test]
async fn known_fault_a_nonce_is_of_its_stream_and_dies_with_its_entry() {
    let house = House::open().await;
    let (stream, other) = (house.stream(5, 0).await, house.stream(5, 0).await);
    let seat = house.admit(&stream, json!({"nonce": NONCE})).await.seat();
    assert_ne!(house.admit(&other, json!({"nonce": NONCE})).await.seat(), seat);
    assert_ne!(house.admit(&stream, json!({"nonce": format!("{NONCE}x")})).await.seat(), seat);
    house.page(&stream, "leave", json!({"seat": seat})).await;
    let after = house.admit(&stream, json!({"nonce": NONCE})).await;
    assert_ne!(after.seat(), seat);
    assert!(after.body.get("lost").is_none());
}

#[tokio::test]
async fn s8_a_nonce_is_ignored_beside_a_seat() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let mine = house.admit(&stream, json!({"nonce": NONCE})).await.seat();
    let other = house.admit(&stream, json!({})).await.seat();
    let answer = house.admit(&stream, json!({"seat": other, "nonce": NONCE})).await;
    assert_eq!(answer.seat(), other);
    let answer = house.admit(&stream, json!({"seat": "AAAAAAAAAAAAAAAAAAAAAA", "nonce": NONCE})).await;
    assert_ne!(answer.seat(), mine);
    assert_eq!(answer.body["lost"], "unknown");
}

#[tokio::test]
async fn known_fault_a_guessable_nonce_is_refused() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    for nonce in ["", "1", "123456789012345"] {
        let refused = house.admit(&stream, json!({"nonce": nonce})).await;
        assert_eq!(refused.problem(), (400, "bad_nonce"));
        assert_eq!(refused.body["field"], "nonce");
    }
    let refused = house.post(&format!("/v1/streams/{stream}/viewer-tokens"), json!({"nonce": "short"})).await;
    assert_eq!(refused.problem(), (400, "bad_nonce"));
}
