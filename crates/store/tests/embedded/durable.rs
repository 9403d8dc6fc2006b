//! D1: what is answered is on the disk, in groups, and comes back.

use std::time::Duration;

use tidegate_seats::{
    Answer, Ask, Asker, BeatAnswer, KickTarget, Lost, NonceHash, Refusal, Renewal, RenewalAnswer, SeatSettings,
};
use tidegate_store::{Catalogue, Seats};

use crate::support::*;

#[tokio::test]
async fn d1_an_answer_returned_is_in_the_file() {
    let fixture = Fixture::with_stream(2, 5).await;
    for n in 1..=2 {
        seated(&fixture.ask(newcomer()).await);
        assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE standing = 4"), n);
    }
    assert_eq!(fixture.count("SELECT peak FROM streams"), 2);
    let (place, _) = waiting(&fixture.ask(newcomer()).await);
    assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE standing = 0"), 1);

    let seats = fixture.store.seats(&live(), None, 1).await;
    fixture.store.leave(&live(), seats[0].seat).await.unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE standing = 4"), 1);
    assert_eq!(fixture.count("SELECT count(*) FROM departed WHERE why = 1"), 1);
    offered(&fixture.ask(again(place)).await);
    assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE standing = 3"), 1);

    fixture.store.kick(&live(), KickTarget::Viewer("troll")).await.unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM kicked_viewers WHERE viewer = 'troll'"), 1);
    fixture.store.kick(&live(), KickTarget::Seat(newcomer().fresh)).await.unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM departed WHERE why = 2"), 1, "T5: a seat gone before its kick");
    fixture.store.end_stream(&acme(), &live()).await.unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM entries"), 0);
    assert_eq!(fixture.count("SELECT count(*) FROM streams WHERE ended_at IS NOT NULL"), 1);
    fixture.store.delete_stream(&acme(), &live()).await.unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM streams"), 0);
}

#[tokio::test]
async fn d1_1000_asks_at_once_share_a_few_commits() {
    let fixture = Fixture::with_stream(1_000, 0).await;
    let before = fixture.store.written();
    fixture.fill(1_000).await;
    let after = fixture.store.written();
    assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE standing = 4"), 1_000);
    assert!(after.rows - before.rows >= 1_000);
    assert!(after.commits - before.commits <= 50, "{before:?} to {after:?}");
}

#[tokio::test]
async fn d1_a_call_that_changes_nothing_writes_nothing() {
    let fixture = Fixture::with_stream(1, 5).await;
    let seat = seated(&fixture.ask(newcomer()).await);
    let (place, _) = waiting(&fixture.ask(newcomer()).await);
    let before = fixture.store.written();
    for _ in 0..100 {
        assert_eq!(waiting(&fixture.ask(again(place)).await), (place, 1));
        assert!(matches!(fixture.beat(seat).await, BeatAnswer::Kept { .. }));
        fixture.store.find(&live(), Some(seat), None).await.unwrap();
        fixture.store.stats(&live()).await.unwrap();
    }
    assert_eq!(fixture.store.written(), before);
}

#[tokio::test]
async fn d1_a_position_told_rests_only_on_what_is_on_the_disk() {
    let fixture = Fixture::with_stream(1, 5).await;
    seated(&fixture.ask(newcomer()).await);
    let (first, second) = (waiting(&fixture.ask(newcomer()).await).0, waiting(&fixture.ask(newcomer()).await).0);

    // Another writer holds the file, so nothing can be committed.
    let other = rusqlite::Connection::open(fixture.dir.path().join("seats.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let live = live();
    let mut leave = fixture.store.leave(&live, first);
    still_waits(&mut leave).await;
    // The ask changes nothing itself, but its position is one better for a leave that a crash would undo.
    let mut ask = fixture.store.ask(&live, again(second));
    still_waits(&mut ask).await;
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(waiting(&ask.await.unwrap()), (second, 1));
    leave.await.unwrap();
}

#[tokio::test]
async fn s20_a_renewal_waits_for_nothing_and_holds_nobody_up() {
    let fixture = Fixture::with_stream(1, 5).await;
    let seat = seated(&fixture.ask(newcomer()).await);
    let (place, _) = waiting(&fixture.ask(newcomer()).await);
    let other = rusqlite::Connection::open(fixture.dir.path().join("seats.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let renewal = Renewal { seat, proof: None, token_until: 2_100_000_000 };
    assert_eq!(fixture.store.renew(&live(), renewal).await, RenewalAnswer::Granted);
    assert_eq!(waiting(&fixture.ask(again(place)).await), (place, 1));
    assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE token_until = 2100000000"), 0);
    other.execute_batch("ROLLBACK").unwrap();
    fixture.store.close().await.unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM entries WHERE token_until = 2100000000"), 1);
}

#[tokio::test(start_paused = true)]
async fn s22_nothing_expired_is_counted_even_before_a_sweep() {
    let fixture = Fixture::with_stream(1, 5).await;
    // The sweeper comes by every 100 ms; the seat's time is over between two of its rounds.
    let seat_silence = Duration::from_millis(20_050);
    fixture.store.set_seat_settings(&SeatSettings { seat_silence, ..SeatSettings::default() });
    let began = tokio::time::Instant::now();
    let seat = seated(&fixture.ask(newcomer()).await);
    tokio::time::sleep_until(began + seat_silence - Duration::from_millis(5)).await;
    assert_eq!(fixture.store.stats(&live()).await.unwrap().seats, 1);
    assert_eq!(fixture.store.find(&live(), Some(seat), None).await, Some(seat));
    tokio::time::sleep_until(began + seat_silence + Duration::from_millis(5)).await;
    assert_eq!(fixture.store.stats(&live()).await.unwrap().seats, 0);
    assert_eq!(fixture.store.tenant(&acme()).await.unwrap().seats_used, 0);
}

/// The call has begun and cannot return yet.
async fn still_waits(call: &mut (impl Future<Output: std::fmt::Debug> + Unpin)) {
    tokio::select! {
        biased;
        answer = call => panic!("answered too early: {answer:?}"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn d1_a_crash_keeps_seats_places_turns_offers_kicks_and_departures() {
    let fixture = Fixture::with_stream(4, 10).await;
    let store = &fixture.store;
    let nonce = Some(NonceHash([9; 16]));
    let kept = seated(&fixture.ask(Ask { nonce, hidden: true, ..newcomer() }).await);
    let by_name = Ask { asker: Asker::Backend, viewer: Some("ann"), ..newcomer() };
    let ann = seated(&fixture.ask(by_name).await);
    let (left, kicked) = (seated(&fixture.ask(newcomer()).await), seated(&fixture.ask(newcomer()).await));
    let mut places = Vec::new();
    for _ in 0..5 {
        places.push(waiting(&fixture.ask(newcomer()).await).0);
    }
    store.leave(&live(), left).await.unwrap();
    offered(&fixture.ask(again(places[0])).await);
    store.kick(&live(), KickTarget::Seat(kicked)).await.unwrap();
    store.kick(&live(), KickTarget::Viewer("troll")).await.unwrap();
    // A renewal waits for nothing; the leave behind it is durable, so it is too.
    let renewal = Renewal { seat: kept, proof: None, token_until: 2_100_000_000 };
    assert_eq!(store.renew(&live(), renewal).await, RenewalAnswer::Granted);
    store.leave(&live(), left).await.unwrap();
    store.note_ingest_token(&acme(), &live()).await.unwrap();
    let (stats, streams) = (store.stats(&live()).await.unwrap(), store.streams(&acme()).await);
    let seats = store.seats(&live(), None, 10).await;

    // What is told of the crashed one holds in the image: nothing was closed, nothing flushed.
    let image = fixture.crash_image();
    assert_eq!(count(image.path(), "SELECT max(token_until) FROM entries"), 2_100_000_000);
    let back = open(image.path());
    assert_eq!((back.epoch(), back.birth()), (store.epoch(), store.birth()));
    assert_eq!(back.stats(&live()).await.unwrap(), stats);
    assert_eq!(back.streams(&acme()).await, streams);
    assert_eq!(back.seats(&live(), None, 10).await, seats);
    assert_eq!(back.tenant_of_key(&[1; 32]).await, Some(acme()));
    assert_eq!(back.tenant(&acme()).await, store.tenant(&acme()).await);
    let ask = async |ask| back.ask(&live(), ask).await.unwrap();
    assert_eq!(seated(&ask(Ask { nonce, ..newcomer() }).await), kept);
    let by_name = Ask { asker: Asker::Backend, viewer: Some("ann"), ..newcomer() };
    assert_eq!(seated(&ask(by_name).await), ann);
    assert_eq!(offered(&ask(again(places[0])).await), (places[0], 10), "a told offer begins anew");
    assert_eq!(offered(&ask(again(places[1])).await), (places[1], 10), "the kicked seat's untold turn");
    for (position, place) in (1..).zip(&places[2..]) {
        assert_eq!(waiting(&ask(again(*place)).await), (*place, position));
    }
    assert!(matches!(ask(again(left)).await, Answer::Wait { lost: Some(Lost::Left), .. }));
    assert!(matches!(ask(again(kicked)).await, Answer::Refused(Refusal::Kicked(_))));
    let troll = Ask { asker: Asker::Backend, viewer: Some("troll"), ..newcomer() };
    assert!(matches!(ask(troll).await, Answer::Refused(Refusal::Kicked(_))));
}

#[tokio::test(start_paused = true)]
async fn d1_a_restart_gives_every_seat_a_full_period() {
    let fixture = Fixture::with_stream(1, 0).await;
    let seat = seated(&fixture.ask(newcomer()).await);
    tokio::time::sleep(Duration::from_secs(19)).await;
    let Fixture { store, dir } = fixture;
    store.close().await.unwrap();
    drop(store);
    let back = open(dir.path());
    tokio::time::sleep(Duration::from_secs(19)).await;
    assert!(matches!(back.beat(&live(), beat(seat)).await, BeatAnswer::Kept { .. }));
    tokio::time::sleep(Duration::from_secs(21)).await;
    assert_eq!(back.beat(&live(), beat(seat)).await, BeatAnswer::Gone);
}

#[tokio::test]
async fn o9_closing_writes_everything_and_leaves_one_file() {
    let fixture = Fixture::with_stream(5, 0).await;
    let seat = seated(&fixture.ask(newcomer()).await);
    for token_until in 0..50 {
        let renewal = Renewal { seat, proof: None, token_until: 1_900_000_000 + token_until };
        assert_eq!(fixture.store.renew(&live(), renewal).await, RenewalAnswer::Granted);
    }
    fixture.store.close().await.unwrap();
    fixture.store.close().await.unwrap();
    assert!(!fixture.dir.path().join("seats.db-wal").exists());
    assert_eq!(fixture.count("SELECT token_until FROM entries"), 1_900_000_049);
    // Whoever comes late is told so; nothing is answered that is not kept.
    fixture.store.ask(&live(), newcomer()).await.unwrap_err();
    fixture.store.writable().await.unwrap_err();
    fixture.store.leave(&live(), seat).await.unwrap_err();
    open(fixture.dir.path());
}

#[tokio::test]
async fn o9_dropping_the_store_does_the_same() {
    let fixture = Fixture::with_stream(5, 0).await;
    let seat = seated(&fixture.ask(newcomer()).await);
    let renewal = Renewal { seat, proof: None, token_until: 1_900_000_000 };
    assert_eq!(fixture.store.renew(&live(), renewal).await, RenewalAnswer::Granted);
    let Fixture { store, dir } = fixture;
    drop(store);
    assert_eq!(count(dir.path(), "SELECT token_until FROM entries"), 1_900_000_000);
}

#[tokio::test(start_paused = true)]
async fn t5_what_is_over_is_forgotten_by_the_file_too() {
    let fixture = Fixture::with_stream(5, 0).await;
    let seats = fixture.fill(3).await;
    fixture.store.leave(&live(), seats[0]).await.unwrap();
    let Fixture { store, dir } = fixture;
    drop(store);
    let sql = rusqlite::Connection::open(dir.path().join("seats.db")).unwrap();
    sql.execute("UPDATE departed SET until = 1000", []).unwrap();
    drop(sql);

    let back = open(dir.path());
    let unknown = back.ask(&live(), again(seats[0])).await.unwrap();
    assert!(matches!(unknown, Answer::In { lost: Some(Lost::Unknown), .. }), "{unknown:?}");
    // The first commit of a run purges.
    assert_eq!(count(dir.path(), "SELECT count(*) FROM departed"), 0);
}
