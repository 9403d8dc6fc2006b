//! S8 (the block), S21, T6: a kick ends a seat now and keeps its owner out for a while.

use tidegate_seats::{KickAnswer, RenewalAnswer};

use crate::stage::{BACKEND, Says, Stage, s};

#[test]
fn s21_a_kick_frees_the_seat_at_once_and_names_it() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    let seat = stage.seat("A");
    assert_eq!(stage.kick("A"), KickAnswer::Kicked { seat: Some(seat) });
    assert_eq!(stage.beat("A"), "kicked");
    assert_eq!(stage.renew("A"), RenewalAnswer::Kicked);
    assert_eq!(stage.ask("B"), "offer 10 s");
}

#[test]
fn s8_a_kicked_seat_is_refused_until_its_block_is_over() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.kick("A");
    assert_eq!(stage.ask("A"), "kicked 600 s");
    stage.pass(s(599));
    assert_eq!(stage.ask("A"), "kicked 1 s", "asking does not lengthen it");
    stage.pass(s(1));
    assert_eq!(stage.ask("A"), "in, lost: unknown");
}

#[test]
fn s8_a_kick_blocks_a_place_in_line_as_well() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.kick("B");
    assert_eq!(stage.ask_each("B C"), ["kicked 600 s", "wait 1"]);
}

#[test]
fn s8_a_kick_ends_a_told_offer_and_passes_it() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    stage.ask("B");
    stage.kick("B");
    assert_eq!([stage.join("B"), stage.join("C")], ["kicked 600 s", "in"]);
}

#[test]
fn s8_a_kicked_viewer_is_refused_under_every_seat() {
    let mut stage = Stage::new(2, 0);
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    stage.say("A", ann);
    let seat = stage.seat("A");
    assert_eq!(stage.kick_viewer("one", "ann"), KickAnswer::Kicked { seat: Some(seat) });
    assert_eq!(stage.say("A", ann), "kicked 600 s");
    stage.forget("A");
    assert_eq!(stage.say("A", ann), "kicked 600 s", "the name is blocked, whatever seat comes with it");
    assert_eq!(stage.say("B", Says { viewer: Some("bob"), ..BACKEND }), "in");
    stage.pass(s(600));
    assert_eq!(stage.say("A", ann), "in");
}

#[test]
fn s8_a_viewer_may_be_kicked_before_it_ever_came() {
    let mut stage = Stage::new(2, 0);
    assert_eq!(stage.kick_viewer("one", "ann"), KickAnswer::Kicked { seat: None });
    assert_eq!(stage.say("A", Says { viewer: Some("ann"), ..BACKEND }), "kicked 600 s");
}

#[test]
fn s8_a_kick_holds_in_its_own_stream_only() {
    let mut stage = Stage::new(1, 0).stream("two", 1, 0);
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    stage.say("A", ann);
    stage.kick_viewer("one", "ann");
    assert_eq!(stage.say("two/A", ann), "in");
}

#[test]
fn s8_a_kick_is_checked_before_everything_else() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.kick("A");
    stage.change_to_private("one", 1, 0);
    stage.spend_capped(true);
    assert_eq!(stage.ask("A"), "kicked 600 s");
}

#[test]
fn s8_a_block_outlives_a_restart() {
    let mut stage = Stage::new(1, 0);
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    stage.say("A", ann);
    stage.kick_viewer("one", "ann");
    stage.pass(s(100));
    stage.restart();
    assert_eq!(stage.ask("A"), "kicked 500 s");
    assert_eq!(stage.say("B", ann), "kicked 500 s");
}

#[test]
fn s21_a_kick_on_an_unknown_stream_says_so() {
    let mut stage = Stage::new(1, 0);
    assert_eq!(stage.kick_viewer("nowhere", "ann"), KickAnswer::StreamNotFound);
}

#[test]
fn t6_a_freed_seat_is_dead_at_once_for_renewals_and_heartbeats() {
    let mut stage = Stage::new(4, 1);
    stage.ask_each("Left Kicked Silent Stays");
    stage.leave_but_remember("Left");
    stage.kick("Kicked");
    stage.pass(s(19));
    stage.beat("Stays");
    stage.drift(s(1));
    let freed = ["Left", "Kicked", "Silent", "Stays", "Stranger"].map(|page| stage.is_freed(page));
    assert_eq!(freed, [true, true, true, false, false], "a seat never heard of may be what a store lost");
    let renewals = ["Left", "Kicked", "Silent", "Stays"].map(|page| stage.renew(page));
    assert_eq!(renewals, [RenewalAnswer::Gone, RenewalAnswer::Kicked, RenewalAnswer::Gone, RenewalAnswer::Granted]);
    assert_eq!(
        ["Left", "Kicked", "Silent", "Stays"].map(|page| stage.beat(page)),
        ["gone", "kicked", "gone", "kept 5 s"]
    );
}

#[test]
fn s8_a_kicked_name_is_refused_beside_a_living_seat() {
    let mut stage = Stage::new(2, 0);
    stage.ask("A");
    stage.kick_viewer("one", "ann");
    assert_eq!(stage.say("A", Says { viewer: Some("ann"), ..BACKEND }), "kicked 600 s");
    assert_eq!(stage.ask("A"), "in", "the seat itself was never kicked");
}

#[test]
fn s8_a_seat_kicked_where_it_never_was_is_as_it_was_elsewhere() {
    let mut stage = Stage::new(1, 0).stream("two", 1, 0);
    stage.ask("A");
    let seat = stage.seat("A");
    stage.leave_but_remember("A");
    stage.hold("two/A", seat);
    assert_eq!(stage.kick("two/A"), KickAnswer::Kicked { seat: None });
    for _ in 0..2 {
        assert_eq!(stage.ask("two/A"), "kicked 600 s");
        assert_eq!(stage.ask("A"), "in, lost: left");
        stage.leave("A");
        stage.hold("A", seat);
        stage.restart();
    }
}

#[test]
fn s21_kicking_a_named_seat_blocks_its_name() {
    let mut stage = Stage::new(2, 0);
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    stage.say("A", ann);
    stage.kick("A");
    stage.forget("A");
    assert_eq!(stage.say("A", ann), "kicked 600 s", "or its backend's next ask would seat it again");
}
