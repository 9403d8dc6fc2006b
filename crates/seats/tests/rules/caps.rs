//! S9, S10, S11, S12: a stream's caps change while it is live.

use tidegate_seats::SettingsRefusal;

use crate::stage::{Stage, ms, s};

#[test]
fn s10_lowering_the_cap_unseats_nobody_and_seats_nobody_new() {
    let mut stage = Stage::new(3, 2);
    stage.ask_each("A B C D");
    stage.change("one", 1, 2).unwrap();
    assert_eq!(stage.ask_each("A B C D"), ["in", "in", "in", "wait 1"]);
    stage.leave("A");
    stage.leave("B");
    assert_eq!(stage.ask_each("D E"), ["wait 1", "wait 2"], "one is seated, and the cap is one");
    stage.leave("C");
    assert_eq!(stage.ask_each("D E"), ["offer 10 s", "wait 1"]);
}

#[test]
fn s10_an_untold_offer_is_withdrawn_and_its_position_kept() {
    let mut stage = Stage::new(2, 3);
    stage.ask_each("A B C D");
    stage.leave("A");
    assert_eq!(stage.counts(), "seats 1, queued 2, turns 1");
    stage.change("one", 1, 3).unwrap();
    assert_eq!(stage.counts(), "seats 1, queued 2, turns 0");
    assert_eq!(stage.ask_each("C D"), ["wait 1", "wait 2"]);
    stage.leave("B");
    assert_eq!(stage.ask_each("C D"), ["offer 10 s", "wait 1"]);
}

#[test]
fn s10_an_untold_hold_is_withdrawn_and_its_position_kept() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C D");
    stage.change("one", 3, 3).unwrap();
    assert_eq!(stage.counts(), "seats 1, queued 3, turns 2");
    stage.change("one", 2, 3).unwrap();
    assert_eq!(stage.counts(), "seats 1, queued 3, turns 1", "the later hold goes first (S7)");
    assert_eq!(stage.ask_each("C B D"), ["wait 2", "in", "wait 2"]);
}

#[test]
fn s10_a_told_offer_is_honoured_after_the_cap_was_lowered() {
    let mut stage = Stage::new(2, 2);
    stage.ask_each("A B C D");
    stage.leave("A");
    assert_eq!(stage.ask("C"), "offer 10 s");
    stage.change("one", 1, 2).unwrap();
    assert_eq!(stage.ask_each("C D"), ["offer 10 s", "wait 1"]);
    assert_eq!(stage.join("C"), "in");
    assert_eq!(stage.counts(), "seats 2, queued 1, turns 0", "over the lowered cap, as promised to C");
}

#[test]
fn s10_a_told_offer_that_lapses_over_a_lowered_cap_goes_to_nobody() {
    let mut stage = Stage::new(2, 2);
    stage.ask_each("A B C D");
    stage.leave("A");
    stage.ask("C");
    stage.change("one", 1, 2).unwrap();
    stage.pass(s(10));
    assert_eq!(stage.ask("D"), "wait 1");
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
}

#[test]
fn s10_a_lowered_queue_max_keeps_everyone_in_line_and_admits_nobody() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C D");
    stage.change("one", 1, 1).unwrap();
    assert_eq!(stage.ask_each("B C D E"), ["wait 1", "wait 2", "wait 3", "full 30 s"]);
    stage.leave("B");
    stage.leave("C");
    assert_eq!(stage.ask_each("D E"), ["wait 1", "full 30 s"]);
    stage.leave("D");
    assert_eq!(stage.ask("E"), "wait 1");
}

#[test]
fn s11_a_raised_cap_seats_the_line_in_order_without_join() {
    let mut stage = Stage::new(1, 4);
    stage.ask_each("A B C D");
    stage.change("one", 3, 4).unwrap();
    assert_eq!(stage.counts(), "seats 1, queued 3, turns 2");
    assert_eq!(stage.ask_each("E D C B"), ["wait 4", "wait 3", "in", "in"]);
    assert_eq!(stage.ask_each("D E"), ["wait 1", "wait 2"]);
}

#[test]
fn s11_a_hold_lasts_until_its_place_lapses_and_then_passes_as_a_hold() {
    let mut stage = Stage::new(1, 4);
    stage.ask_each("A B C");
    stage.change("one", 2, 4).unwrap();
    stage.pass(s(14));
    assert_eq!(stage.ask("C"), "wait 2");
    stage.pass(s(1));
    assert_eq!(stage.ask("C"), "in", "B lapsed; its hold needs no join from C either");
}

#[test]
fn s11_a_hold_is_taken_after_fourteen_seconds() {
    let mut stage = Stage::new(1, 4);
    stage.ask_each("A B");
    stage.change("one", 2, 4).unwrap();
    stage.pass(ms(14_999));
    assert_eq!(stage.ask("B"), "in");
}

#[test]
fn s11_leaving_with_a_hold_passes_it_as_a_hold() {
    let mut stage = Stage::new(1, 4);
    stage.ask_each("A B C");
    stage.change("one", 2, 4).unwrap();
    stage.leave("B");
    assert_eq!(stage.ask("C"), "in");
}

#[test]
fn s11_a_told_offer_that_lapses_passes_as_an_offer_beside_holds() {
    let mut stage = Stage::new(1, 4);
    stage.ask_each("A B C D");
    stage.leave("A");
    stage.ask("B");
    stage.change("one", 2, 4).unwrap();
    stage.pass(s(10));
    assert_eq!(stage.ask_each("C D"), ["in", "offer 10 s"]);
}

#[test]
fn s11_lowered_and_raised_again_is_a_hold_in_the_same_order() {
    let mut stage = Stage::new(2, 3);
    stage.ask_each("A B C D");
    stage.leave("A");
    stage.change("one", 1, 3).unwrap();
    stage.change("one", 2, 3).unwrap();
    assert_eq!(stage.ask_each("D C"), ["wait 2", "in"]);
}

#[test]
fn s9_a_change_is_seen_at_once_and_read_back() {
    let mut stage = Stage::new(1, 0);
    assert_eq!(stage.ask_each("A B"), ["in", "full 30 s"]);
    stage.change("one", 1, 1).unwrap();
    assert_eq!(stage.ask("B"), "wait 1");
    let stats = stage.stats("one");
    assert_eq!((stats.cap, stats.queue_max), (1, 1));
}

#[test]
fn s12_a_stream_cap_over_the_tenants_is_refused_with_advice() {
    let mut stage = Stage::tenant(200).stream("one", 200, 0);
    let refused = stage.open("two", 201, 0).unwrap_err();
    assert_eq!(refused, SettingsRefusal::OverTenantCap { limit: 200 });
    assert_eq!(refused.to_string(), "viewer_cap: at most 200, this tenant's viewer cap");
    assert_eq!(stage.change("one", 201, 0), Err(SettingsRefusal::OverTenantCap { limit: 200 }));
    assert_eq!(stage.stats("one").cap, 200, "a refused change changes nothing");
    assert_eq!(stage.change("two", 1, 0), Err(SettingsRefusal::StreamNotFound));
}
