//! What every store answers. The bodies know only the traits, so that another store can run them too.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidegate_seats::{Answer, Ask, BeatAnswer, KickAnswer, KickTarget, Lost, NonceHash, Refusal, RetryAfter};
use tidegate_store::{Catalogue, Named, Seats};
use tokio::time::sleep;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn s2_to_s5_the_worked_example() {
    let fixture = Fixture::with_stream(2, 1).await;
    the_worked_example(&*fixture.store).await;
}

#[tokio::test(start_paused = true)]
async fn s5_an_untaken_offer_passes_to_the_next_in_line() {
    let fixture = Fixture::with_stream(2, 1).await;
    an_untaken_offer_passes_on(&*fixture.store).await;
}

#[tokio::test(start_paused = true)]
async fn s18_a_silent_seat_ends_after_20_s_and_a_kept_one_does_not() {
    let fixture = Fixture::with_stream(2, 0).await;
    silence_ends_a_seat(&*fixture.store).await;
}

#[tokio::test]
async fn s2_1000_parallel_asks_at_cap_150_seat_exactly_150() {
    let fixture = Fixture::with_stream(150, 400).await;
    a_burst_fills_the_stream_exactly(Arc::clone(&fixture.store)).await;
}

#[tokio::test(start_paused = true)]
async fn s16_a_named_call_is_tolled_by_its_live_entry_before_it_changes_anything() {
    let fixture = Fixture::with_stream(1, 5).await;
    named_calls_pay_by_entry(&*fixture.store).await;
}

#[tokio::test(start_paused = true)]
async fn s8_lost_seats_nonces_and_kicks_are_told_apart() {
    let fixture = Fixture::with_stream(3, 0).await;
    lost_nonce_and_kicked(&*fixture.store).await;
}

async fn the_worked_example(store: &(impl Seats + Catalogue)) {
    let live = live();
    let a = seated(&store.ask(&live, newcomer()).await.unwrap());
    let b = seated(&store.ask(&live, newcomer()).await.unwrap());
    let (c, position) = waiting(&store.ask(&live, newcomer()).await.unwrap());
    assert_eq!(position, 1);
    let d = store.ask(&live, newcomer()).await.unwrap();
    assert!(matches!(d, Answer::Full { lost: None, .. }), "{d:?}");

    store.leave(&live, b).await.unwrap();
    assert_eq!(offered(&store.ask(&live, again(c)).await.unwrap()), (c, 10));
    let (d, position) = waiting(&store.ask(&live, newcomer()).await.unwrap());
    assert_eq!(position, 1);
    assert_eq!(seated(&store.ask(&live, join(c)).await.unwrap()), c);

    let stats = store.stats(&live).await.unwrap();
    assert_eq!((stats.seats, stats.queued, stats.turns, stats.peak), (2, 1, 0, 2));
    let seats: Vec<_> = store.seats(&live, None, 10).await.iter().map(|listing| listing.seat).collect();
    assert_eq!(seats, [a, c]);
    assert_eq!(store.find(&live, Some(d), None).await, Some(d));
    assert_eq!(store.tenant_of(&live).await, Some(acme()));
}

async fn named_calls_pay_by_entry(store: &(impl Seats + Catalogue)) {
    let live = live();
    let nonce = NonceHash([7; 16]);
    let a = seated(&store.ask(&live, Ask { nonce: Some(nonce), ..newcomer() }).await.unwrap());
    let (b, _) = waiting(&store.ask(&live, newcomer()).await.unwrap());
    let paid = Mutex::new(Vec::new());
    let free = |seat| {
        paid.lock().unwrap().push(seat);
        Ok(())
    };
    let named = store.ask_named(&live, again(b), &free).await.unwrap();
    assert!(matches!(named, Named::Answered(Answer::Wait { seat, .. }) if seat == b), "{named:?}");
    let named = store.ask_named(&live, Ask { nonce: Some(nonce), ..newcomer() }, &free).await.unwrap();
    assert_eq!(named, Named::Answered(Answer::In { seat: a, lost: None }));
    assert!(matches!(store.beat_named(&live, beat(a), &free).await, Named::Answered(BeatAnswer::Kept { .. })));
    assert_eq!(store.beat_named(&live, beat(b), &free).await, Named::Answered(BeatAnswer::Gone), "a place is no seat");
    assert_eq!(*paid.lock().unwrap(), [b, a, a, b]);

    // Who names nobody pays nothing here and gets nothing.
    let stranger = newcomer().fresh;
    for ask in [newcomer(), again(stranger), Ask { seat: Some(Err(())), nonce: Some(nonce), ..newcomer() }] {
        assert_eq!(store.ask_named(&live, ask, &free).await, Ok(Named::Nobody));
    }
    assert_eq!(store.ask_named(&stream_id("nowhere"), again(a), &free).await, Ok(Named::Nobody));
    assert_eq!(store.beat_named(&live, beat(stranger), &free).await, Named::Nobody);
    assert_eq!(paid.lock().unwrap().len(), 4);
    assert_eq!(store.stats(&live).await.map(|stats| stats.queued), Some(1));

    // Who called too often neither takes the offer nor is told of it, and a heartbeat refused keeps nothing.
    store.leave(&live, a).await.unwrap();
    let (retry, refused) = (RetryAfter(Duration::from_millis(500)), |_| Err(RetryAfter(Duration::from_millis(500))));
    assert_eq!(store.ask_named(&live, join(b), &refused).await, Ok(Named::TooOften(retry)));
    assert_eq!(store.stats(&live).await.map(|stats| (stats.seats, stats.queued)), Some((0, 1)));
    assert_eq!(seated(&store.ask(&live, join(b)).await.unwrap()), b);
    sleep(Duration::from_secs(19)).await;
    assert_eq!(store.beat_named(&live, beat(b), &refused).await, Named::TooOften(retry));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(store.beat(&live, beat(b)).await, BeatAnswer::Gone);
}

async fn an_untaken_offer_passes_on(store: &(impl Seats + Catalogue)) {
    let live = live();
    let a = seated(&store.ask(&live, newcomer()).await.unwrap());
    let b = seated(&store.ask(&live, newcomer()).await.unwrap());
    let (c, _) = waiting(&store.ask(&live, newcomer()).await.unwrap());
    store.leave(&live, b).await.unwrap();
    offered(&store.ask(&live, again(c)).await.unwrap());
    let (d, _) = waiting(&store.ask(&live, newcomer()).await.unwrap());

    for _ in 0..10 {
        sleep(Duration::from_secs(1)).await;
        assert!(matches!(store.beat(&live, beat(a)).await, BeatAnswer::Kept { .. }));
    }
    assert_eq!(offered(&store.ask(&live, again(d)).await.unwrap()), (d, 10));
    let late = store.ask(&live, again(c)).await.unwrap();
    assert!(matches!(late, Answer::Wait { lost: Some(Lost::Expired), seat, .. } if seat != c), "{late:?}");
    assert_eq!(waiting(&late).1, 1);
}

async fn silence_ends_a_seat(store: &(impl Seats + Catalogue)) {
    let live = live();
    let kept = seated(&store.ask(&live, newcomer()).await.unwrap());
    let silent = seated(&store.ask(&live, newcomer()).await.unwrap());
    for _ in 0..4 {
        sleep(Duration::from_secs(5)).await;
        assert!(matches!(store.beat(&live, beat(kept)).await, BeatAnswer::Kept { .. }));
    }
    assert_eq!(store.beat(&live, beat(silent)).await, BeatAnswer::Gone);
    assert_eq!(store.stats(&live).await.unwrap().seats, 1);
}

async fn a_burst_fills_the_stream_exactly(store: Arc<impl Seats + 'static>) {
    let asks: Vec<_> = (0..1_000)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.ask(&live(), newcomer()).await.unwrap() })
        })
        .collect();
    let (mut seats, mut places, mut full) = (0, Vec::new(), 0);
    for ask in asks {
        match ask.await.unwrap() {
            Answer::In { .. } => seats += 1,
            Answer::Wait { position, .. } => places.push(position.0.get()),
            Answer::Full { .. } => full += 1,
            answer @ (Answer::Offer { .. } | Answer::Refused(_)) => panic!("{answer:?}"),
        }
    }
    places.sort_unstable();
    assert_eq!((seats, full), (150, 450));
    assert_eq!(places, (1..=400).collect::<Vec<_>>());
}

async fn lost_nonce_and_kicked(store: &(impl Seats + Catalogue)) {
    let live = live();
    let ask = Ask { nonce: Some(NonceHash([5; 16])), ..newcomer() };
    let seat = seated(&store.ask(&live, ask.clone()).await.unwrap());
    let repeated = Ask { fresh: newcomer().fresh, ..ask };
    assert_eq!(seated(&store.ask(&live, repeated).await.unwrap()), seat);

    store.leave(&live, seat).await.unwrap();
    store.leave(&live, seat).await.unwrap();
    let back = store.ask(&live, again(seat)).await.unwrap();
    assert!(matches!(back, Answer::In { lost: Some(Lost::Left), seat: new } if new != seat), "{back:?}");

    let kicked = seated(&back);
    let kick = store.kick(&live, KickTarget::Seat(kicked)).await.unwrap();
    assert_eq!(kick, KickAnswer::Kicked { seat: Some(kicked) });
    let refused = store.ask(&live, again(kicked)).await.unwrap();
    assert!(matches!(refused, Answer::Refused(Refusal::Kicked(_))), "{refused:?}");
    assert_eq!(store.beat(&live, beat(kicked)).await, BeatAnswer::Kicked);
}
