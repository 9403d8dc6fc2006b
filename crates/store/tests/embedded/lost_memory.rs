//! T5: the file is gone, and signed tokens bring the seats back.

use std::fs;

use tidegate_seats::{Answer, Ask, Beat, BeatAnswer, Lost, Renewal, RenewalAnswer, SeatId};
use tidegate_store::{Catalogue, Embedded, Seats};

use crate::support::*;

/// A store that had seats, lost its file, and was told of the same tenant and stream again.
async fn without_its_file(viewer_cap: u32) -> (std::sync::Arc<Embedded>, tempfile::TempDir, Vec<SeatId>) {
    let fixture = Fixture::with_stream(viewer_cap, 5).await;
    let mut seats = Vec::new();
    for _ in 0..viewer_cap {
        seats.push(seated(&fixture.ask(newcomer()).await));
    }
    let Fixture { store, dir } = fixture;
    let epoch = store.epoch().to_owned();
    drop(store);
    fs::remove_file(dir.path().join("seats.db")).unwrap();
    let store = open(dir.path());
    assert_ne!(store.epoch(), epoch);
    assert_eq!(store.tenants().await, []);
    store.add_tenant(&acme(), tenant_settings(5_000), [1; 32]).await.unwrap();
    store.open_stream(&acme(), &live(), stream_settings(viewer_cap, 5)).await.unwrap();
    (store, dir, seats)
}

#[tokio::test]
async fn t5_a_token_from_before_the_birth_restores_its_seat_over_the_cap() {
    let (store, dir, seats) = without_its_file(3).await;
    let before = store.birth() - 1;
    // Strangers were quicker.
    for _ in 0..3 {
        seated(&store.ask(&live(), newcomer()).await.unwrap());
    }
    let kept = Beat { proof: Some(proof(seats[0], before)), ..beat(seats[0]) };
    assert!(matches!(store.beat(&live(), kept).await, BeatAnswer::Kept { .. }));
    let asked = Ask { proof: Some(proof(seats[1], before)), ..again(seats[1]) };
    assert_eq!(store.ask(&live(), asked).await.unwrap(), Answer::In { seat: seats[1], lost: None });
    let renewal = Renewal { seat: seats[2], proof: Some(proof(seats[2], before)), token_until: 2_000_000_000 };
    assert_eq!(store.renew(&live(), renewal).await, RenewalAnswer::Granted);
    assert_eq!(store.stats(&live()).await.unwrap().seats, 6);

    store.close().await.unwrap();
    let back = open(dir.path());
    assert_eq!(back.stats(&live()).await.unwrap().seats, 6);
    assert!(matches!(back.beat(&live(), beat(seats[0])).await, BeatAnswer::Kept { .. }));
}

#[tokio::test]
async fn t5_a_token_since_the_birth_restores_nothing() {
    let (store, _dir, seats) = without_its_file(1).await;
    let forged = Beat { proof: Some(proof(seats[0], store.birth())), ..beat(seats[0]) };
    assert_eq!(store.beat(&live(), forged).await, BeatAnswer::Gone);
    let asked = Ask { proof: Some(proof(seats[0], store.birth())), ..again(seats[0]) };
    let answer = store.ask(&live(), asked).await.unwrap();
    assert!(matches!(answer, Answer::In { lost: Some(Lost::Unknown), seat } if seat != seats[0]), "{answer:?}");
}

#[tokio::test]
async fn t5_a_departure_since_then_is_remembered_across_a_restart() {
    let (store, dir, seats) = without_its_file(1).await;
    let before = store.birth() - 1;
    let kept = Beat { proof: Some(proof(seats[0], before)), ..beat(seats[0]) };
    assert!(matches!(store.beat(&live(), kept.clone()).await, BeatAnswer::Kept { .. }));
    store.leave(&live(), seats[0]).await.unwrap();
    assert_eq!(store.beat(&live(), kept.clone()).await, BeatAnswer::Gone);
    drop(store);
    let back = open(dir.path());
    assert_eq!(back.beat(&live(), kept).await, BeatAnswer::Gone);
}

#[tokio::test]
async fn t5_a_restart_is_no_new_birth() {
    let Fixture { store, dir } = Fixture::new().await;
    let epoch = store.epoch().to_owned();
    drop(store);
    let sql = rusqlite::Connection::open(dir.path().join("seats.db")).unwrap();
    sql.execute("UPDATE meta SET value = 1700000000 WHERE key = 'birth'", []).unwrap();
    drop(sql);
    let back = open(dir.path());
    assert_eq!((back.epoch(), back.birth()), (&*epoch, 1_700_000_000));
}
