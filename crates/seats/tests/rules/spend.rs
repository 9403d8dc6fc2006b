//! S15: at the spend cap nothing new is given and nothing given is taken.

use tidegate_seats::{Answer, Refusal, RenewalAnswer};

use crate::stage::{ASK, JOIN, Stage, s};

#[test]
fn s15_no_new_seat_is_given_and_seated_viewers_stay() {
    let mut stage = Stage::new(3, 3);
    stage.ask("A");
    stage.spend_capped(true);
    assert_eq!(stage.answer("B", ASK), Answer::Refused(Refusal::SpendCapReached { seat: None }));
    assert_eq!(stage.ask("A"), "in");
    assert_eq!(stage.beat("A"), "kept 5 s");
    assert_eq!(stage.renew("A"), RenewalAnswer::Granted);
    stage.spend_capped(false);
    assert_eq!(stage.ask("B"), "in");
}

#[test]
fn s15_places_in_line_are_kept() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C");
    stage.spend_capped(true);
    for _ in 0..30 {
        stage.pass(s(2));
        assert_eq!(stage.ask_each("A B C"), ["in", "wait 1", "wait 2"]);
    }
    assert_eq!(stage.ask("D"), "spend cap");
}

#[test]
fn s15_a_told_offers_seconds_stop_and_a_join_keeps_its_place() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B");
    stage.leave("A");
    assert_eq!(stage.ask("B"), "offer 10 s");
    stage.pass(s(4));
    stage.spend_capped(true);
    let seat = stage.seat("B");
    for _ in 0..30 {
        stage.pass(s(2));
        let refused = stage.answer("B", JOIN);
        assert_eq!(refused, Answer::Refused(Refusal::SpendCapReached { seat: Some(seat) }));
    }
    stage.spend_capped(false);
    assert_eq!(stage.ask("B"), "offer 6 s");
    stage.pass(s(5));
    assert_eq!(stage.join("B"), "in");
}

#[test]
fn s15_an_untold_turn_is_kept_by_whoever_keeps_asking() {
    for raised in [false, true] {
        let mut stage = Stage::new(1, 3);
        stage.ask_each("A B C");
        if raised {
            stage.change("one", 2, 3).unwrap();
        } else {
            stage.leave("A");
        }
        stage.spend_capped(true);
        const KEPT: [&str; 3] = ["spend cap, place kept", "wait 1", "wait 2"];
        for _ in 0..30 {
            stage.pass(s(2));
            assert_eq!([stage.join("B"), stage.ask("B"), stage.join("C")], KEPT);
            if raised {
                stage.beat("A");
            }
        }
        stage.spend_capped(false);
        assert_eq!([stage.join("B"), stage.join("C")], ["in", "wait 1"]);
    }
}

#[test]
fn s15_a_seat_freed_meanwhile_goes_to_the_head_afterwards() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C");
    stage.spend_capped(true);
    stage.leave("A");
    stage.pass(s(2));
    assert_eq!([stage.join("B"), stage.join("C")], ["wait 1", "wait 2"], "nothing is kept for anyone meanwhile");
    assert_eq!(stage.counts(), "seats 0, queued 2, turns 0");
    stage.spend_capped(false);
    assert_eq!(stage.ask("N"), "wait 3", "no newcomer overtakes the line");
    assert_eq!([stage.join("C"), stage.join("B")], ["wait 2", "in"]);
}

#[test]
fn s15_a_told_offer_outlives_silence_and_an_outage_at_the_spend_cap() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B");
    stage.leave("A");
    stage.ask("B");
    stage.pass(s(9));
    stage.spend_capped(true);
    stage.pass(s(300));
    assert_eq!(stage.ask("B"), "offer 1 s", "its seconds stand still");
    stage.drift(s(300));
    stage.tick();
    stage.spend_capped(false);
    assert_eq!(stage.ask("B"), "offer 10 s", "after an outage, a full period (D2)");
}
