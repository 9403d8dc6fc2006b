//! S21 (the list), S22, S24: what can be read.

use tidegate_seats::{StreamStats, Swept};

use crate::stage::{BACKEND, OPENS, Says, Stage, ms, s, stream_id};

#[test]
fn s22_stats_count_each_thing_once() {
    let mut stage = Stage::new(3, 4);
    stage.ask_each("A B C D E F");
    stage.say("C", Says { hls: true, ..Says::default() });
    stage.leave("A");
    stage.leave("B");
    assert_eq!(stage.ask("D"), "offer 10 s");
    let expected =
        StreamStats { cap: 3, queue_max: 4, seats: 1, hls: 1, queued: 2, turns: 2, peak: 3, seats_with_tokens: 1 };
    assert_eq!(stage.stats("one"), expected);
    assert_eq!(stage.house.stats(&stream_id("two"), stage.now), None);
}

#[test]
fn s22_peak_is_the_most_seats_at_once_since_creation() {
    let mut stage = Stage::new(3, 0);
    stage.ask_each("A B C");
    stage.leave("A");
    stage.leave("B");
    stage.restart();
    assert_eq!(stage.stats("one").peak, 3);
    stage.ask("D");
    assert_eq!(stage.stats("one").peak, 3);
}

#[test]
fn s22_an_offer_is_no_seat_and_does_not_raise_the_peak() {
    let mut stage = Stage::new(2, 2);
    stage.ask("A");
    stage.change("one", 1, 2).unwrap();
    stage.ask_each("B");
    stage.leave("A");
    stage.ask("B");
    assert_eq!(stage.stats("one").peak, 1);
}

#[test]
fn s22_seats_with_tokens_are_those_whose_last_token_has_not_ended() {
    let mut stage = Stage::new(2, 0);
    stage.ask_each("A B");
    for _ in 0..12 {
        stage.pass(s(10));
        stage.beat("A");
        stage.beat("B");
    }
    assert_eq!(stage.stats("one").seats_with_tokens, 0, "heartbeats bring no token");
    stage.renew("A");
    assert_eq!(stage.stats("one").seats_with_tokens, 1);
    stage.ask("B");
    assert_eq!(stage.stats("one").seats_with_tokens, 2);
}

#[test]
fn s21_seats_are_listed_in_order_of_coming_page_by_page() {
    let mut stage = Stage::new(4, 2);
    stage.say("A", Says { viewer: Some("ann"), ..BACKEND });
    stage.pass(s(1));
    stage.ask_each("B C D W");
    stage.beat_hidden("C");
    stage.say("D", Says { hls: true, ..Says::default() });
    let one = stream_id("one");
    let first = stage.house.seats(&one, None, 3);
    let names = ["A", "B", "C", "D"].map(|page| stage.seat(page));
    assert_eq!(first.iter().map(|row| row.seat).collect::<Vec<_>>(), names[..3]);
    assert_eq!(first.iter().map(|row| row.since).collect::<Vec<_>>(), [OPENS, OPENS + 1, OPENS + 1]);
    assert_eq!(first.iter().map(|row| row.hidden).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(first[0].viewer.as_deref(), Some("ann"));
    let rest = stage.house.seats(&one, Some(first[2].arrival), 3);
    assert_eq!(rest.iter().map(|row| (row.seat, row.hls)).collect::<Vec<_>>(), [(names[3], true)]);
    assert_eq!(stage.house.seats(&one, Some(rest[0].arrival), 3), []);
    assert_eq!(stage.house.seats(&stream_id("two"), None, 3), []);
}

#[test]
fn s21_since_is_when_the_place_became_a_seat() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.pass(s(10));
    stage.leave("A");
    stage.join("B");
    let listed = stage.house.seats(&stream_id("one"), None, 9);
    assert_eq!(listed.iter().map(|row| row.since).collect::<Vec<_>>(), [OPENS + 10]);
}

#[test]
fn s24_an_ingest_token_sets_its_time() {
    let mut stage = Stage::new(1, 1);
    let one = stream_id("one");
    assert_eq!(stage.house.stream(&one).unwrap().ingest_token_at, None);
    stage.pass(s(3));
    assert!(stage.house.note_ingest_token(&one, stage.now));
    assert_eq!(stage.house.stream(&one).unwrap().ingest_token_at, Some(OPENS + 3));
    assert!(!stage.house.note_ingest_token(&stream_id("two"), stage.now));
    stage.tick();
    stage.restart();
    assert_eq!(stage.house.stream(&one).unwrap().ingest_token_at, Some(OPENS + 3));
}

#[test]
fn poll_timeout_is_never_later_than_the_next_expiry() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    stage.pass(s(3));
    stage.ask("B");
    assert!(stage.house.poll_timeout().unwrap() <= stage.now.at + s(15));
    stage.pass(ms(14_999));
    let due = stage.house.poll_timeout().unwrap();
    assert!(due <= stage.now.at + ms(1));
    stage.drift(ms(1));
    assert_eq!(stage.house.handle_timeout(stage.now), Swept::Done);
    assert!(stage.house.poll_timeout().is_none_or(|next| next > stage.now.at), "nothing due is left");
}
