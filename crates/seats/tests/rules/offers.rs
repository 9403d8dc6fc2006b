//! S5, S6 and the worked example: a freed seat goes to the head of the line, one place at a time.

use crate::stage::{HIDDEN, JOIN, Says, Stage, ms, s};

#[test]
fn worked_example() {
    let mut stage = Stage::new(2, 1);
    assert_eq!(stage.ask_each("A B C D"), ["in", "in", "wait 1", "full 30 s"]);
    stage.leave("B");
    assert_eq!(stage.ask_each("C D"), ["offer 10 s", "wait 1"]);
    assert_eq!(stage.join("C"), "in");
    let stats = stage.stats("one");
    assert_eq!((stats.seats, stats.queued, stats.turns, stats.peak), (2, 1, 0, 2));
}

#[test]
fn worked_example_variant_an_untaken_offer_passes_and_its_owner_is_a_newcomer() {
    let mut stage = Stage::new(2, 1);
    stage.ask_each("A B C D");
    stage.leave("B");
    assert_eq!(stage.ask_each("C D"), ["offer 10 s", "wait 1"]);
    stage.pass(s(10));
    assert_eq!(stage.ask_each("D C"), ["offer 10 s", "wait 1, lost: expired"]);
}

#[test]
fn s5_an_ask_without_join_repeats_the_offer_with_the_seconds_left() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.leave("A");
    assert_eq!(stage.ask("B"), "offer 10 s");
    stage.pass(s(4));
    assert_eq!(stage.ask("B"), "offer 6 s");
    stage.pass(ms(5_750));
    assert_eq!(stage.ask("B"), "offer 0.25 s", "asking again does not lengthen it");
    assert_eq!(stage.join("B"), "in");
    assert_eq!(stage.join("B"), "in", "joining twice is a refresh");
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn s5_a_join_at_the_last_instant_is_in_and_at_the_end_it_is_late() {
    for (last_step, answer) in [(ms(999), "in"), (ms(1_000), "wait 2, lost: expired")] {
        let mut stage = Stage::new(1, 2);
        stage.ask_each("A B C");
        stage.leave("A");
        assert_eq!(stage.ask("B"), "offer 10 s");
        stage.pass(s(9));
        stage.drift(last_step);
        assert_eq!(stage.join("B"), answer, "no tick came between, and none is needed");
    }
}

#[test]
fn s5_an_untaken_offer_passes_to_the_next_in_line() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C D");
    stage.leave("A");
    assert_eq!(stage.ask_each("B C D"), ["offer 10 s", "wait 1", "wait 2"]);
    stage.pass(s(5));
    stage.ask_each("C D");
    stage.pass(s(5));
    assert_eq!(stage.ask_each("C D B"), ["offer 10 s", "wait 1", "wait 2, lost: expired"]);
}

#[test]
fn s5_the_ten_seconds_begin_when_the_page_is_told() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.leave("A");
    stage.pass(s(14));
    assert_eq!(stage.ask("B"), "offer 10 s", "untold, it did not run");
    stage.pass(ms(9_500));
    assert_eq!(stage.ask("B"), "offer 0.5 s");
}

#[test]
fn s5_an_offer_never_told_is_lost_with_its_place_and_passes() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    stage.pass(s(14));
    assert_eq!(stage.ask("C"), "wait 2");
    stage.pass(s(1));
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 1", "B's place and offer lapsed together");
    assert_eq!(stage.ask_each("C B"), ["offer 10 s", "wait 1, lost: expired"]);
}

#[test]
fn s5_a_join_by_a_place_with_an_untold_offer_takes_it_at_once() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.leave("A");
    assert_eq!(stage.join("B"), "in");
}

#[test]
fn s5_a_hidden_page_has_ten_seconds_as_well() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    assert_eq!(stage.say("B", HIDDEN), "offer 10 s");
    stage.pass(s(10));
    assert_eq!(stage.ask("C"), "offer 10 s");
}

#[test]
fn s5_leaving_with_a_told_offer_passes_it_at_once() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    stage.ask("B");
    stage.leave("B");
    assert_eq!(stage.ask("C"), "offer 10 s");
}

#[test]
fn s5_leaving_with_an_untold_offer_passes_it_at_once() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    stage.leave("B");
    assert_eq!(stage.ask("C"), "offer 10 s");
}

#[test]
fn s5_seats_freed_by_leave_kick_and_expiry_are_offered_alike() {
    let mut stage = Stage::new(3, 3);
    stage.ask_each("A B C D E F");
    stage.leave("A");
    stage.kick("B");
    stage.pass(s(12));
    assert_eq!(stage.ask_each("D E F"), ["offer 10 s", "offer 10 s", "wait 1"]);
    assert_eq!([stage.join("D"), stage.join("E")], ["in", "in"]);
    stage.pass(s(8));
    assert_eq!(stage.ask("F"), "offer 10 s", "C was silent for 20 s");
}

#[test]
fn s6_each_free_seat_is_offered_to_one_place() {
    let mut stage = Stage::new(2, 4);
    stage.ask_each("A B C D E F");
    stage.leave("A");
    assert_eq!(stage.ask_each("C D E F"), ["offer 10 s", "wait 1", "wait 2", "wait 3"]);
    stage.leave("B");
    assert_eq!(stage.ask_each("C D E F"), ["offer 10 s", "offer 10 s", "wait 1", "wait 2"]);
    assert_eq!(stage.counts(), "seats 0, queued 2, turns 2");
}

#[test]
fn s6_an_untold_offer_counts_in_the_line_and_a_told_one_does_not() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    assert_eq!(stage.counts(), "seats 0, queued 2, turns 1");
    assert_eq!(stage.ask_each("C D"), ["wait 2", "full 30 s"], "B's place still counts");
    assert_eq!(stage.ask("B"), "offer 10 s");
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 1");
    assert_eq!(stage.ask_each("C D"), ["wait 1", "wait 2"]);
}

#[test]
fn s6_a_held_seat_is_nobody_elses() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.change("one", 1, 1).unwrap();
    stage.ask("B");
    stage.leave("A");
    assert_eq!(stage.ask("C"), "full 30 s");
    assert_eq!(stage.ask_each("B C"), ["offer 10 s", "wait 1"]);
    assert_eq!(stage.ask("C"), "wait 1");
}

#[test]
fn s8_join_without_an_offer_changes_nothing() {
    let mut stage = Stage::new(1, 2);
    assert_eq!(stage.join("A"), "in");
    assert_eq!([stage.join("B"), stage.join("C")], ["wait 1", "wait 2"]);
    assert_eq!([stage.join("C"), stage.join("B")], ["wait 2", "wait 1"]);
}

#[test]
fn s5_a_lost_answer_to_a_join_is_repeated_without_harm() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    stage.ask("B");
    assert_eq!(stage.say("B", Says { nonce: Some(1), ..JOIN }), "in");
    assert_eq!(stage.say("B", Says { nonce: Some(1), ..JOIN }), "in");
    assert_eq!(stage.ask("C"), "wait 1");
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
}
