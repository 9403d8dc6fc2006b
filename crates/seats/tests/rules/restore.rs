//! D1, T5: what a restart keeps, and what a token brings back when the store lost its memory.

use tidegate_seats::{KickAnswer, Proof, RenewalAnswer, SeatSettings};

use crate::stage::{ASK, BACKEND, HIDDEN, Says, Stage, ms, s};

#[test]
fn d1_a_restart_keeps_seats_the_line_and_its_turns() {
    let mut stage = Stage::new(3, 5);
    stage.ask_each("A B C D E F G");
    stage.leave("A");
    stage.leave("B");
    assert_eq!(stage.ask("D"), "offer 10 s", "told; E's is not");
    stage.pass(s(4));
    stage.restart();
    assert_eq!(stage.counts(), "seats 1, queued 3, turns 2");
    assert_eq!(stage.ask_each("G F E D C"), ["wait 3", "wait 2", "offer 10 s", "offer 10 s", "in"]);
    assert_eq!(stage.join("D"), "in");
}

#[test]
fn d1_a_restart_keeps_holds_as_holds() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C");
    stage.change("one", 2, 3).unwrap();
    stage.restart();
    assert_eq!(stage.ask_each("C B"), ["wait 2", "in"]);
}

#[test]
fn d1_a_restart_gives_a_fresh_period() {
    let mut stage = Stage::new(1, 1);
    stage.ask_each("A B");
    stage.pass(s(14));
    stage.restart();
    stage.pass(ms(14_999));
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
    stage.pass(ms(1));
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
    stage.pass(s(5));
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0");
}

#[test]
fn d1_a_restart_remembers_who_is_hidden() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    stage.say("B", HIDDEN);
    stage.beat_hidden("A");
    stage.restart();
    stage.pass(ms(59_999));
    assert_eq!(stage.beat("A"), "kept 20 s", "a hidden tab's next heartbeat may be a minute away");
    stage.pass(s(15));
    assert_eq!(stage.say("B", HIDDEN), "wait 1");
}

#[test]
fn d1_a_restart_keeps_names_nonces_and_what_was_lost() {
    let mut stage = Stage::new(3, 0);
    let (ann, nonce) = (Says { viewer: Some("ann"), ..BACKEND }, Says { nonce: Some(7), ..ASK });
    stage.say("A", ann);
    stage.say("B", nonce);
    stage.ask("C");
    stage.leave_but_remember("C");
    stage.restart();
    let (a, b) = (stage.seat("A"), stage.seat("B"));
    stage.forget("A");
    stage.forget("B");
    assert_eq!([stage.say("A", ann), stage.say("B", nonce)], ["in", "in"]);
    assert_eq!((stage.seat("A"), stage.seat("B")), (a, b));
    assert_eq!(stage.ask("C"), "in, lost: left");
}

#[test]
fn d1_every_prefix_of_the_story_survives_a_restart() {
    let story: [fn(&mut Stage); 8] = [
        |stage| assert_eq!(stage.ask_each("A B C D E"), ["in", "in", "wait 1", "wait 2", "wait 3"]),
        |stage| stage.leave("A"),
        |stage| assert_eq!(stage.ask("C"), "offer 10 s"),
        |stage| assert_eq!(stage.join("C"), "in"),
        |stage| assert_eq!(stage.kick("B"), KickAnswer::Kicked { seat: Some(stage.seat("B")) }),
        |stage| assert_eq!(stage.change("one", 4, 3), Ok(())),
        |stage| assert_eq!(stage.ask_each("E D"), ["in", "offer 10 s"]),
        |stage| assert!(stage.end("one")),
    ];
    for restarts_after in 0..story.len() {
        let (mut stage, mut straight) = (Stage::new(2, 3), Stage::new(2, 3));
        for (step, act) in story.iter().enumerate() {
            act(&mut straight);
            act(&mut stage);
            if step == restarts_after {
                stage.restart();
            }
            assert_eq!(stage.stats("one"), straight.stats("one"), "step {step}, restart after {restarts_after}");
        }
    }
}

#[test]
fn t5_a_token_from_before_the_birth_brings_its_seat_back() {
    let mut stage = Stage::new(3, 0);
    stage.ask_each("A B C");
    let proofs = ["A", "B", "C"].map(|page| stage.proof(page));
    stage.pass(s(5));
    stage.lose_memory();
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0");
    assert_eq!(stage.beat_with("A", Some(true), Some(proofs[0])), "kept 20 s");
    assert_eq!(stage.say("B", Says { proof: Some(proofs[1]), ..ASK }), "in");
    assert_eq!(stage.renew_with("C", Some(proofs[2])), RenewalAnswer::Granted);
    assert_eq!(stage.counts(), "seats 3, queued 0, turns 0");
    assert_eq!(["A", "B", "C"].map(|page| stage.beat(page)), ["kept 20 s", "kept 5 s", "kept 5 s"]);
}

#[test]
fn t5_a_seat_comes_back_over_the_cap_if_need_be() {
    let mut stage = Stage::tenant(1).stream("one", 1, 1);
    stage.ask("A");
    let proof = stage.proof("A");
    stage.pass(s(1));
    stage.lose_memory();
    assert_eq!(stage.ask("N"), "in", "A's seat looked free");
    assert_eq!(stage.beat_with("A", None, Some(proof)), "kept 5 s");
    assert_eq!(stage.counts(), "seats 2, queued 0, turns 0");
    stage.leave("N");
    assert_eq!(stage.ask("M"), "wait 1");
    assert_eq!(stage.house.seats_used(), 1);
}

#[test]
fn t5_a_seat_comes_back_at_the_spend_cap_and_on_a_private_stream() {
    let mut stage = Stage::new(2, 0);
    stage.ask_each("A B");
    let proofs = ["A", "B"].map(|page| stage.proof(page));
    stage.pass(s(1));
    stage.change_to_private("one", 2, 0);
    stage.lose_memory();
    stage.spend_capped(true);
    assert_eq!(stage.say("A", Says { proof: Some(proofs[0]), ..ASK }), "in");
    assert_eq!(stage.renew_with("B", Some(proofs[1])), RenewalAnswer::Granted);
}

#[test]
fn t5_a_token_from_after_the_birth_brings_nothing_back() {
    let mut stage = Stage::new(2, 0);
    stage.ask("A");
    stage.lose_memory();
    let proof = stage.proof("A");
    assert_eq!(stage.beat_with("A", None, Some(proof)), "gone", "issued in the birth's own second");
    assert_eq!(stage.renew_with("A", Some(proof)), RenewalAnswer::Gone);
    assert_eq!(stage.say("A", Says { proof: Some(proof), ..ASK }), "in, lost: unknown");
}

#[test]
fn t5_an_expired_token_brings_nothing_back() {
    let mut stage = Stage::new(2, 0);
    stage.ask("A");
    let issued_at = stage.now.unix_s;
    stage.pass(s(1));
    stage.lose_memory();
    let proof = Proof { seat: stage.seat("A"), issued_at, expires_at: stage.now.unix_s };
    assert_eq!(stage.beat_with("A", None, Some(proof)), "gone");
}

#[test]
fn t5_another_seats_token_brings_nothing_back() {
    let mut stage = Stage::new(2, 0);
    stage.ask_each("A B");
    let proof = stage.proof("B");
    stage.pass(s(1));
    stage.lose_memory();
    assert_eq!(stage.beat_with("A", None, Some(proof)), "gone");
    assert_eq!(stage.say("A", Says { proof: Some(proof), ..ASK }), "in, lost: unknown");
}

#[test]
fn t5_a_departed_seat_does_not_come_back() {
    let mut stage = Stage::new(4, 0);
    stage.ask_each("Left Kicked Silent");
    let proofs = ["Left", "Kicked", "Silent"].map(|page| stage.proof(page));
    // The store began again, and these three departed from the new memory.
    stage.pass(s(1));
    stage.lose_memory();
    for (page, proof) in ["Left", "Kicked", "Silent"].into_iter().zip(proofs) {
        stage.beat_with(page, None, Some(proof));
    }
    stage.leave_but_remember("Left");
    stage.kick("Kicked");
    stage.pass(s(20));
    for restarted in [false, true] {
        if restarted {
            stage.restart();
        }
        let beats = [("Left", proofs[0]), ("Kicked", proofs[1]), ("Silent", proofs[2])]
            .map(|(page, proof)| stage.beat_with(page, None, Some(proof)));
        assert_eq!(beats, ["gone", "kicked", "gone"]);
        assert_eq!(stage.counts(), "seats 0, queued 0, turns 0");
    }
    assert_eq!(stage.say("Left", Says { proof: Some(proofs[0]), ..ASK }), "in, lost: left");
    assert_eq!(stage.say("Kicked", Says { proof: Some(proofs[1]), ..ASK }), "kicked 580 s");
    assert_eq!(stage.say("Silent", Says { proof: Some(proofs[2]), ..ASK }), "in, lost: expired");
}

#[test]
fn t5_a_restored_seat_ends_by_silence_like_any_other() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    let proof = stage.proof("A");
    stage.pass(s(1));
    stage.lose_memory();
    stage.beat_with("A", None, Some(proof));
    assert_eq!(stage.ask("B"), "wait 1");
    stage.pass(s(14));
    stage.ask("B");
    stage.pass(s(6));
    assert_eq!(stage.ask("B"), "offer 10 s");
    assert_eq!(stage.beat_with("A", None, Some(proof)), "gone");
}

#[test]
fn t5_a_seat_that_comes_back_takes_what_nobody_was_told_of_before_it_exceeds_the_cap() {
    let mut stage = Stage::tenant(1).stream("one", 1, 2);
    stage.ask("A");
    let proof = stage.proof("A");
    stage.pass(s(1));
    stage.lose_memory();
    assert_eq!(stage.ask_each("N W"), ["in", "wait 1"]);
    stage.leave("N");
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 1");
    assert_eq!(stage.beat_with("A", None, Some(proof)), "kept 5 s");
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0", "W kept its position, and was promised nothing");
    assert_eq!(stage.ask("W"), "wait 1");
    stage.leave("A");
    assert_eq!(stage.ask("W"), "offer 10 s");
}

#[test]
fn t5_a_seat_that_comes_back_leaves_a_told_offer_alone() {
    let mut stage = Stage::tenant(1).stream("one", 1, 2);
    stage.ask("A");
    let proof = stage.proof("A");
    stage.pass(s(1));
    stage.lose_memory();
    stage.ask_each("N W");
    stage.leave("N");
    assert_eq!(stage.ask("W"), "offer 10 s");
    assert_eq!(stage.beat_with("A", None, Some(proof)), "kept 5 s");
    assert_eq!(stage.join("W"), "in");
    assert_eq!(stage.counts(), "seats 2, queued 0, turns 0");
}

#[test]
fn d1_after_a_restart_the_longest_waiting_of_any_stream_is_first() {
    let mut stage = Stage::tenant(1).stream("one", 1, 3).stream("two", 1, 3).stream("zwei", 1, 3);
    assert_eq!(stage.ask("two/A"), "in");
    stage.change("one", 0, 3).unwrap();
    stage.change("zwei", 0, 3).unwrap();
    assert_eq!(stage.ask_each("zwei/B C"), ["wait 1", "wait 1"]);
    stage.spend_capped(true);
    stage.change("one", 1, 3).unwrap();
    stage.change("zwei", 1, 3).unwrap();
    stage.leave("two/A");
    stage.restart();
    assert_eq!(stage.ask_each("C zwei/B"), ["wait 1", "offer 10 s"]);
}

#[test]
fn t5_departures_are_remembered_up_to_a_bound_and_kicks_beyond_it() {
    let mut stage = Stage::tenant_with(10, SeatSettings { departures_max: 3, ..SeatSettings::default() });
    stage.open("one", 1, 0).unwrap();
    stage.ask("Kicked");
    stage.kick("Kicked");
    for page in ["A", "B", "C", "D", "E"] {
        stage.ask(page);
        stage.leave_but_remember(page);
        stage.pass(s(1));
    }
    assert_eq!(stage.ask("Kicked"), "kicked 595 s");
    stage.ask("N");
    let lost = ["A", "B", "C", "D", "E"].map(|page| stage.ask(page));
    let (left, unknown) = ("full 30 s, lost: left", "full 30 s, lost: unknown");
    assert_eq!(lost, [unknown, unknown, left, left, left]);
}

#[test]
fn t5_what_a_returning_seat_takes_from_another_streams_line_comes_back_to_it() {
    let mut stage = Stage::tenant(1).stream("one", 1, 2).stream("two", 1, 0);
    stage.ask("two/A");
    let proof = stage.proof("two/A");
    stage.pass(s(1));
    stage.lose_memory();
    stage.ask_each("N W");
    stage.leave("N");
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 1");
    assert_eq!(stage.beat_with("two/A", None, Some(proof)), "kept 5 s");
    assert_eq!(stage.counts(), "seats 0, queued 1, turns 0", "the tenant has one seat, and A holds it");
    stage.leave("two/A");
    assert_eq!(stage.ask("W"), "offer 10 s");
}

#[test]
fn d1_who_came_before_a_restart_stands_before_who_came_after() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C");
    stage.restart();
    assert_eq!(stage.ask_each("D B C"), ["wait 3", "wait 1", "wait 2"]);
}
