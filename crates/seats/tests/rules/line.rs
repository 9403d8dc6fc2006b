//! S2, S3, S4, S7: seats while there are any, then exact places, then a full line.

use crate::stage::{Stage, s};

#[test]
fn s2_a_free_seat_and_nobody_ahead_is_in_at_once() {
    let mut stage = Stage::new(2, 0);
    assert_eq!(stage.ask_each("A B"), ["in", "in"]);
    assert_eq!(stage.counts(), "seats 2, queued 0, turns 0");
}

#[test]
fn s3_places_are_exact_and_one_based() {
    let mut stage = Stage::new(1, 4);
    assert_eq!(stage.ask_each("A B C D E"), ["in", "wait 1", "wait 2", "wait 3", "wait 4"]);
    assert_eq!(stage.ask_each("E D C B"), ["wait 4", "wait 3", "wait 2", "wait 1"]);
}

#[test]
fn s3_a_place_that_goes_moves_those_behind_it_and_nobody_else() {
    let mut stage = Stage::new(1, 4);
    stage.ask_each("A B C D E");
    stage.leave("C");
    assert_eq!(stage.ask_each("B D E"), ["wait 1", "wait 2", "wait 3"]);
}

#[test]
fn s3_retry_is_two_seconds_for_a_hundred_places_and_grows_to_ten_far_back() {
    let mut stage = Stage::new(0, 6_000);
    let mut retries = Vec::new();
    for place in 1..=6_000 {
        let (position, retry) = stage.place(&format!("P{place}"));
        assert_eq!(position, place);
        retries.push(retry.as_secs_f64());
    }
    for (retry, position) in retries.iter().zip(1_i32..) {
        let middle = (2.0 + 0.002 * f64::from((position - 100).max(0))).min(10.0);
        // Whole milliseconds, rounded down.
        assert!((0.9 * middle - 0.001..=1.1 * middle).contains(retry), "place {position}: {retry} s around {middle} s");
    }
    let head: f64 = retries[..100].iter().sum::<f64>() / 100.0;
    let tail: f64 = retries[4_100..].iter().sum::<f64>() / 1_900.0;
    assert!((1.95..2.05).contains(&head), "the spread pulls to neither side: {head}");
    assert!((9.9..10.1).contains(&tail), "the spread pulls to neither side: {tail}");
}

#[test]
fn s3_a_line_is_not_polled_in_step() {
    let mut stage = Stage::new(0, 100);
    let retries: Vec<_> = (0..100).map(|place| stage.place(&format!("P{place}")).1.as_secs_f64()).collect();
    for tenth in 0..10 {
        let (low, high) = (1.8 + 0.04 * f64::from(tenth), 1.84 + 0.04 * f64::from(tenth));
        let among = retries.iter().filter(|retry| (low..high).contains(*retry)).count();
        assert!((1..=25).contains(&among), "{among} of 100 between {low} and {high} s");
    }
}

#[test]
fn s3_a_seats_retry_is_the_same_each_time() {
    let mut stage = Stage::new(0, 1);
    let first = stage.place("A");
    stage.pass(s(2));
    assert_eq!(stage.place("A"), first);
}

#[test]
fn s4_a_full_line_says_thirty_seconds_exactly_and_stores_nothing() {
    let mut stage = Stage::new(1, 1);
    assert_eq!(stage.ask_each("A B C"), ["in", "wait 1", "full 30 s"]);
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
    stage.leave("B");
    assert_eq!(stage.ask("D"), "wait 1", "C kept nothing");
}

#[test]
fn s8_queue_max_0_is_straight_to_full() {
    let mut stage = Stage::new(1, 0);
    assert_eq!(stage.ask_each("A B"), ["in", "full 30 s"]);
    stage.leave("A");
    assert_eq!(stage.ask("B"), "in");
}

#[test]
fn s7_nobody_overtakes_whoever_keeps_asking() {
    let mut stage = Stage::new(2, 3);
    stage.ask_each("A B C D E");
    stage.leave("A");
    assert_eq!(stage.ask_each("E D N"), ["wait 3", "wait 2", "full 30 s"], "the freed seat is C's to take");
    assert_eq!(stage.ask_each("C N"), ["offer 10 s", "wait 3"]);
    assert_eq!(stage.join("C"), "in");
    stage.leave("B");
    assert_eq!(stage.ask_each("N E D"), ["wait 3", "wait 2", "offer 10 s"]);
}

#[test]
fn s7_a_newcomer_gets_a_seat_at_once_when_nobody_waits_without_one() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.change("one", 3, 1).unwrap();
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 1", "B has a hold that it was not told of");
    assert_eq!(stage.ask_each("C D"), ["in", "full 30 s"]);
    assert_eq!(stage.ask("B"), "in");
}

#[test]
fn s7_a_newcomer_stands_behind_a_line_that_has_no_turn_yet() {
    let mut stage = Stage::tenant(1).stream("one", 1, 2).stream("two", 1, 2);
    assert_eq!(stage.ask_each("A B two/C"), ["in", "wait 1", "tenant full"]);
    stage.change("one", 1, 1).unwrap();
    assert_eq!(stage.ask("D"), "full 30 s");
}
