//! S1, S3, S18, S19, S20, D2: what silence ends, what it does not, and whose silence is forgiven.

use tidegate_seats::{RenewalAnswer, SeatSettings};

use crate::stage::{HIDDEN, Stage, ms, s};

#[test]
fn s18_a_seat_ends_after_twenty_seconds_of_silence() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    stage.pass(ms(19_999));
    assert_eq!(stage.beat("A"), "kept 5 s");
    stage.pass(ms(19_999));
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
    stage.pass(ms(1));
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0");
    assert_eq!(stage.beat("A"), "gone");
    assert_eq!(stage.renew("A"), RenewalAnswer::Gone);
}

#[test]
fn s18_a_hidden_tab_has_sixty_seconds_and_a_shown_one_twenty_again() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    assert_eq!(stage.beat_hidden("A"), "kept 20 s");
    stage.pass(ms(59_999));
    assert_eq!(stage.beat("A"), "kept 20 s", "nothing said leaves what was said last");
    stage.pass(s(59));
    assert_eq!(stage.beat_with("A", Some(false), None), "kept 5 s");
    stage.pass(s(20));
    assert_eq!(stage.beat("A"), "gone");
}

#[test]
fn s18_a_heartbeat_keeps_no_place_in_line() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    assert_eq!(stage.beat("B"), "gone");
    stage.pass(s(14));
    assert_eq!(stage.beat("B"), "gone");
    stage.pass(s(1));
    assert_eq!(stage.ask("B"), "wait 1, lost: expired");
}

#[test]
fn s18_a_beat_on_nothing_known_is_gone_and_on_no_stream_says_so() {
    let mut stage = Stage::new(1, 1);
    let stranger = stage.fresh_id();
    stage.hold("A", stranger);
    assert_eq!(stage.beat("A"), "gone");
    stage.hold("nowhere/A", stranger);
    assert_eq!(stage.beat("nowhere/A"), "no such stream");
    assert_eq!(stage.renew("nowhere/A"), RenewalAnswer::StreamNotFound);
}

#[test]
fn s8_an_ask_of_a_seated_page_keeps_its_seat_as_a_heartbeat_does() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.pass(s(19));
    assert_eq!(stage.ask("A"), "in");
    stage.pass(s(19));
    assert_eq!(stage.beat("A"), "kept 5 s");
}

#[test]
fn s3_a_place_not_asked_for_during_fifteen_seconds_leaves_the_line() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.pass(ms(14_999));
    assert_eq!(stage.ask_each("A C"), ["in", "wait 2"]);
    stage.pass(ms(1));
    assert_eq!(stage.ask_each("C B"), ["wait 1", "wait 2, lost: expired"]);
}

#[test]
fn s3_a_hidden_place_has_seventy_five_seconds() {
    let mut stage = Stage::new(1, 2);
    stage.ask("A");
    assert_eq!(stage.say("B", HIDDEN), "wait 1");
    stage.beat_hidden("A");
    stage.pass(s(59));
    stage.beat_hidden("A");
    stage.pass(ms(15_999));
    assert_eq!(stage.say("B", HIDDEN), "wait 1");
    stage.beat_hidden("A");
    stage.pass(s(59));
    stage.beat_hidden("A");
    stage.pass(s(16));
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn s3_a_place_shown_again_has_fifteen_seconds() {
    let mut stage = Stage::new(1, 2);
    stage.ask("A");
    stage.say("B", HIDDEN);
    assert_eq!(stage.ask("B"), "wait 1");
    stage.pass(s(15));
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn s3_far_back_a_place_lapses_after_three_of_its_retries() {
    let mut stage = Stage::new(0, 5_000);
    for place in 1..=5_000 {
        stage.say(&format!("P{place}"), HIDDEN);
    }
    assert_eq!(stage.ask("P5000"), "wait 5000", "visible from here on, told to come back in about 10 s");
    stage.pass(s(26));
    assert_eq!(stage.ask("P5000"), "wait 5000");
    stage.pass(s(34));
    assert_eq!(stage.ask("P5000"), "wait 5000, lost: expired");
}

#[test]
fn s19_a_leave_frees_at_once_and_repeating_it_is_harmless() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.leave_but_remember("A");
    assert_eq!(stage.ask("B"), "in");
    stage.leave_but_remember("A");
    stage.leave_but_remember("A");
    let stranger = stage.fresh_id();
    stage.hold("C", stranger);
    stage.leave_but_remember("C");
    assert_eq!(stage.ask("B"), "in");
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn s19_leaving_by_another_streams_name_frees_nothing() {
    let mut stage = Stage::new(1, 0).stream("two", 1, 0);
    stage.ask("A");
    let seat = stage.seat("A");
    stage.hold("two/A", seat);
    stage.leave("two/A");
    assert_eq!(stage.beat("A"), "kept 5 s");
}

#[test]
fn s20_a_seated_seat_is_renewed_and_a_place_is_not() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    assert_eq!(stage.renew("A"), RenewalAnswer::Granted);
    assert_eq!(stage.renew("B"), RenewalAnswer::Gone);
    stage.leave_but_remember("A");
    assert_eq!(stage.renew("A"), RenewalAnswer::Gone);
}

#[test]
fn s20_renewals_go_on_over_every_cap() {
    let mut stage = Stage::tenant(2).stream("one", 2, 0);
    stage.ask_each("A B");
    stage.change("one", 1, 0).unwrap();
    stage.limit(0);
    stage.spend_capped(true);
    assert_eq!([stage.renew("A"), stage.renew("B")], [RenewalAnswer::Granted; 2]);
}

#[test]
fn s1_nothing_but_leave_kick_and_silence_ends_a_seat() {
    let mut stage = Stage::tenant(4).stream("one", 4, 0);
    stage.ask_each("A B C D");
    stage.change("one", 1, 0).unwrap();
    stage.limit(1);
    stage.spend_capped(true);
    stage.change_to_private("one", 1, 0);
    stage.restart();
    stage.spend_capped(true);
    for _ in 0..60 {
        stage.pass(s(19));
        assert_eq!(["A", "B", "C", "D"].map(|page| stage.beat(page)), ["kept 5 s"; 4]);
    }
    stage.leave("A");
    stage.kick("B");
    stage.pass(s(10));
    stage.beat("D");
    stage.pass(s(10));
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0", "A left, B was kicked, C fell silent");
}

#[test]
fn d2_an_outage_is_not_held_against_anyone() {
    let mut stage = Stage::new(2, 2);
    stage.ask_each("A B C D");
    stage.leave("A");
    assert_eq!(stage.ask("C"), "offer 10 s");
    stage.pass(s(8));
    stage.drift(s(100));
    stage.tick();
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 1");
    stage.pass(ms(9_999));
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 1", "the offer had its ten seconds again");
    stage.pass(ms(1));
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 1", "C's offer passed to D");
    assert_eq!(stage.ask_each("D C"), ["offer 10 s", "wait 1, lost: expired"]);
    stage.pass(ms(9_999));
    assert_eq!(stage.beat("B"), "kept 5 s", "and B's seat its twenty");
}

#[test]
fn d2_silence_after_an_outage_ends_what_it_should() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B");
    stage.say("C", HIDDEN);
    stage.pass(s(10));
    stage.drift(s(30));
    stage.tick();
    stage.pass(ms(14_999));
    assert_eq!(stage.counts(), "seats 1, queued 2, turns 0");
    stage.pass(ms(1));
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
    stage.pass(s(5));
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 1");
    stage.pass(s(55));
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0", "C's place was hidden: 75 s");
}

#[test]
fn d2_a_call_during_an_outage_expires_nobody() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.drift(s(40));
    assert_eq!(stage.ask("B"), "wait 1");
    assert_eq!(stage.beat("A"), "kept 5 s");
    stage.tick();
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
}

#[test]
fn d2_three_seconds_between_ticks_are_no_outage() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    for _ in 0..6 {
        stage.drift(s(3));
        stage.tick();
    }
    stage.drift(s(2));
    assert_eq!(stage.beat("A"), "gone");
}

#[test]
fn s18_whoever_came_in_the_millisecond_in_which_another_left_falls_silent_alone() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    stage.leave("A");
    assert_eq!(stage.ask_each("B C"), ["in", "wait 1"]);
    stage.pass(s(10));
    stage.ask("C");
    stage.pass(s(10));
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 1");
    assert_eq!(stage.ask_each("C B"), ["offer 10 s", "wait 1, lost: expired"]);
}

#[test]
fn settings_moved_meanwhile_hold_from_the_next_word_on() {
    let mut stage = Stage::new(2, 0);
    stage.ask_each("A B");
    stage.house.set_settings(SeatSettings { seat_silence: s(5), ..SeatSettings::default() });
    stage.pass(s(2));
    stage.beat("B");
    stage.pass(s(5));
    assert_eq!(["A", "B"].map(|page| stage.beat(page)), ["kept 5 s", "gone"], "A was promised twenty seconds");
}

#[test]
fn s18_a_renewal_is_no_heartbeat() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.pass(s(19));
    assert_eq!(stage.renew("A"), RenewalAnswer::Granted);
    stage.pass(s(1));
    assert_eq!(stage.beat("A"), "gone");
}
