//! S25: streams open, end and go.

use tidegate_seats::{RenewalAnswer, SettingsRefusal};

use crate::stage::{Stage, s, stream_id};

#[test]
fn s25_an_unknown_stream_says_so_and_makes_no_state() {
    let mut stage = Stage::new(1, 0);
    assert_eq!(stage.ask("nowhere/A"), "no such stream");
    assert_eq!(stage.house.streams().count(), 1);
    assert_eq!(stage.house.seats_used(), 0);
    assert!(!stage.end("nowhere"));
    assert!(!stage.delete("nowhere"));
}

#[test]
fn s25_an_end_ends_seats_places_and_offers() {
    let mut stage = Stage::new(2, 2);
    stage.ask_each("A B C D");
    stage.leave("A");
    stage.ask("C");
    assert!(stage.end("one"));
    assert_eq!(stage.ask_each("B C D N"), ["stream ended"; 4]);
    assert_eq!(stage.beat("B"), "stream ended");
    assert_eq!(stage.renew("B"), RenewalAnswer::StreamEnded);
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0");
    assert_eq!(stage.house.seats_used(), 0);
    assert_eq!(stage.change("one", 3, 3), Err(SettingsRefusal::StreamEnded));
    assert!(stage.house.stream(&stream_id("one")).unwrap().ended_at.is_some());
}

#[test]
fn s25_an_ended_stream_stays_ended_after_a_restart() {
    let mut stage = Stage::new(2, 2);
    stage.ask_each("A B C");
    stage.end("one");
    stage.restart();
    stage.pass(s(2));
    assert_eq!(stage.ask("A"), "stream ended");
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0");
}

#[test]
fn s25_a_deleted_stream_is_gone_with_everything_of_it() {
    let mut stage = Stage::tenant(2).stream("one", 2, 2).stream("two", 2, 2);
    stage.ask_each("A B two/C");
    assert!(stage.delete("one"));
    assert_eq!(stage.ask("A"), "no such stream");
    assert_eq!(stage.beat("A"), "no such stream");
    assert_eq!(stage.house.seats_used(), 0);
    assert_eq!(stage.house.streams().count(), 1);
    stage.restart();
    assert_eq!(stage.ask("A"), "no such stream");
}
