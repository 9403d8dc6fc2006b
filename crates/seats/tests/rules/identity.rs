//! S8, S17 and the nonce: which entry an ask means, and what a stranger can find (nothing).

use crate::stage::{ASK, BACKEND, Says, Stage, nonce_of, s, stream_id};

#[test]
fn s8_asking_again_with_a_seated_seat_is_a_refresh() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    let seat = stage.seat("A");
    assert_eq!(stage.ask("A"), "in");
    assert_eq!(stage.seat("A"), seat);
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn s8_a_seat_that_left_is_a_newcomer_at_the_back_and_told_so() {
    let mut stage = Stage::new(1, 3);
    stage.ask_each("A B C");
    stage.leave_but_remember("B");
    assert_eq!(stage.ask_each("B C"), ["wait 2, lost: left", "wait 1"]);
}

#[test]
fn s8_an_expired_seat_is_a_newcomer_and_told_so() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    stage.pass(s(20));
    assert_eq!(stage.ask("A"), "in, lost: expired");
    assert_eq!(stage.ask("A"), "in", "only once");
}

#[test]
fn s8_an_unknown_seat_or_garbage_is_a_newcomer_who_chooses_no_id() {
    let mut stage = Stage::new(2, 0);
    let invented = stage.fresh_id();
    stage.hold("A", invented);
    assert_eq!(stage.ask("A"), "in, lost: unknown");
    assert_ne!(stage.seat("A"), invented);
    stage.hold_garbage("B");
    assert_eq!(stage.ask("B"), "in, lost: unknown");
}

#[test]
fn s8_a_full_line_says_what_was_lost_as_well() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    let invented = stage.fresh_id();
    stage.hold("B", invented);
    assert_eq!(stage.ask("B"), "full 30 s, lost: unknown");
}

#[test]
fn s8_another_streams_seat_is_unknown_here() {
    let mut stage = Stage::new(1, 0).stream("two", 1, 0);
    stage.ask("A");
    let seat = stage.seat("A");
    stage.hold("two/A", seat);
    assert_eq!(stage.ask("two/A"), "in, lost: unknown");
    assert_ne!(stage.seat("two/A"), seat);
}

#[test]
fn s8_a_departure_is_forgotten_in_the_end() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.leave_but_remember("A");
    stage.pass(stage.settings.departure_memory + s(121));
    assert_eq!(stage.ask("A"), "in, lost: unknown");
}

#[test]
fn nonce_an_ask_whose_answer_was_lost_finds_its_own_entry() {
    let mut stage = Stage::new(1, 2);
    let nonce = Says { nonce: Some(7), ..ASK };
    assert_eq!(stage.say("A", nonce), "in");
    let seat = stage.seat("A");
    stage.forget("A");
    assert_eq!(stage.say("A", nonce), "in");
    assert_eq!(stage.seat("A"), seat);
    stage.ask("B");
    let place = Says { nonce: Some(8), ..ASK };
    assert_eq!(stage.say("C", place), "wait 2");
    let seat = stage.seat("C");
    stage.forget("C");
    assert_eq!(stage.say("C", place), "wait 2");
    assert_eq!(stage.seat("C"), seat);
    assert_eq!(stage.counts(), "seats 1, queued 2, turns 0");
}

#[test]
fn nonce_finds_an_offer_and_joins_it() {
    let mut stage = Stage::new(1, 1);
    let nonce = Says { nonce: Some(7), ..ASK };
    stage.ask("A");
    stage.say("B", nonce);
    stage.leave("A");
    stage.forget("B");
    assert_eq!(stage.say("B", nonce), "offer 10 s");
    stage.forget("B");
    assert_eq!(stage.say("B", Says { join: true, ..nonce }), "in");
}

#[test]
fn nonce_is_ignored_beside_a_seat() {
    let mut stage = Stage::new(2, 0);
    stage.say("A", Says { nonce: Some(7), ..ASK });
    let invented = stage.fresh_id();
    stage.hold("B", invented);
    assert_eq!(stage.say("B", Says { nonce: Some(7), ..ASK }), "in, lost: unknown");
    assert_ne!(stage.seat("B"), stage.seat("A"), "a newcomer, not A");
}

#[test]
fn nonce_belongs_to_one_stream_and_goes_with_its_entry() {
    let mut stage = Stage::new(1, 0).stream("two", 1, 0);
    let nonce = Says { nonce: Some(7), ..ASK };
    stage.say("A", nonce);
    assert_eq!(stage.say("two/A", nonce), "in");
    assert_ne!(stage.seat("two/A"), stage.seat("A"));
    let old = stage.seat("A");
    stage.leave("A");
    assert_eq!(stage.say("B", nonce), "in");
    assert_ne!(stage.seat("B"), old);
}

#[test]
fn nonce_guessed_returns_nobodys_seat() {
    let mut stage = Stage::new(1, 300);
    stage.say("A", Says { nonce: Some(255), ..ASK });
    let taken = stage.seat("A");
    for guess in 0..255 {
        let page = format!("G{guess}");
        assert!(stage.say(&page, Says { nonce: Some(guess), ..ASK }).starts_with("wait "));
        assert_ne!(stage.seat(&page), taken);
    }
}

#[test]
fn viewer_the_same_name_twice_is_one_seat() {
    let mut stage = Stage::new(2, 1);
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    assert_eq!(stage.say("phone", ann), "in");
    assert_eq!(stage.say("laptop", ann), "in");
    assert_eq!(stage.seat("phone"), stage.seat("laptop"));
    assert_eq!(stage.say("bob", Says { viewer: Some("bob"), ..BACKEND }), "in");
    assert_eq!(stage.counts(), "seats 2, queued 0, turns 0");
}

#[test]
fn viewer_a_name_in_line_is_one_place() {
    let mut stage = Stage::new(1, 2);
    stage.ask("A");
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    assert_eq!([stage.say("phone", ann), stage.say("laptop", ann)], ["wait 1", "wait 1"]);
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
    stage.leave("A");
    assert_eq!(stage.say("laptop", ann), "offer 10 s");
    assert_eq!(stage.say("phone", Says { join: true, ..ann }), "in");
}

#[test]
fn s17_a_private_stream_seats_by_its_backend_only() {
    let mut stage = Stage::new(1, 1);
    stage.change_to_private("one", 2, 1);
    assert_eq!(stage.ask("A"), "server admission");
    assert_eq!(stage.say("A", BACKEND), "in");
    assert_eq!(stage.ask("A"), "in", "the page keeps the seat that its backend was given");
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn s17_a_page_follows_its_place_on_a_private_stream() {
    let mut stage = Stage::new(1, 1);
    stage.change_to_private("one", 1, 1);
    stage.say("A", BACKEND);
    assert_eq!(stage.say("B", BACKEND), "wait 1");
    assert_eq!(stage.ask("B"), "wait 1");
    stage.leave("A");
    assert_eq!(stage.ask("B"), "offer 10 s");
    assert_eq!(stage.join("B"), "in");
    stage.leave_but_remember("B");
    assert_eq!(stage.ask("B"), "server admission", "a seat that is gone is a newcomer");
}

#[test]
fn s16_find_names_a_live_entry_and_makes_none() {
    let mut stage = Stage::new(1, 1);
    stage.say("A", Says { nonce: Some(7), ..ASK });
    stage.ask("B");
    let (one, seat) = (stream_id("one"), stage.seat("A"));
    let find = |stage: &Stage, seat, nonce| stage.house.find(&one, seat, nonce, stage.now);
    assert_eq!(find(&stage, Some(seat), None), Some(seat));
    assert_eq!(find(&stage, None, Some(nonce_of(7))), Some(seat));
    assert_eq!(find(&stage, Some(stage.seat("B")), None), Some(stage.seat("B")));
    assert_eq!(find(&stage, None, Some(nonce_of(8))), None);
    assert_eq!(find(&stage, None, None), None);
    assert_eq!(stage.house.find(&stream_id("two"), Some(seat), None, stage.now), None);
    let stranger = stage.fresh_id();
    assert_eq!(find(&stage, Some(stranger), None), None);
    assert_eq!(find(&stage, Some(stranger), Some(nonce_of(7))), None, "the nonce is ignored beside a seat");
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
}

#[test]
fn s16_find_names_no_entry_that_is_due_even_before_a_sweep() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    let seat = stage.seat("A");
    stage.pass(s(19));
    stage.drift(s(1));
    assert_eq!(stage.house.find(&stream_id("one"), Some(seat), None, stage.now), None);
}

#[test]
fn d2_find_names_whom_an_outage_will_forgive() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    let seat = stage.seat("A");
    stage.drift(s(60));
    assert_eq!(stage.house.find(&stream_id("one"), Some(seat), None, stage.now), Some(seat));
    assert_eq!(stage.beat("A"), "kept 5 s");
}

#[test]
fn d2_time_that_a_store_away_forgives_is_held_against_nobody() {
    let mut stage = Stage::new(1, 1);
    stage.ask("A");
    let seat = stage.seat("A");
    stage.pass(s(19));
    // Less than the ticks' own outage.
    stage.drift(s(2));
    stage.house.forgive(stage.now);
    assert_eq!(stage.house.find(&stream_id("one"), Some(seat), None, stage.now), Some(seat));
    stage.pass(s(19));
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
    stage.pass(s(1));
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0", "from there time runs as ever");
}

#[test]
fn viewer_names_are_the_backends_and_a_page_that_gives_one_is_not_heard() {
    let mut stage = Stage::new(3, 0);
    let ann = Says { viewer: Some("ann"), ..BACKEND };
    assert_eq!(stage.say("Ann", ann), "in");
    assert_eq!(stage.say("Thief", Says { viewer: Some("ann"), ..ASK }), "in");
    assert_ne!(stage.seat("Thief"), stage.seat("Ann"));
    let (seat, thief) = (stage.seat("Ann"), stage.seat("Thief"));
    stage.forget("Ann");
    assert_eq!(stage.say("Ann", ann), "in");
    assert_eq!(stage.seat("Ann"), seat, "the name still finds its owner");
    let listed = stage.house.seats(&stream_id("one"), None, 9);
    let names: Vec<_> = listed.iter().map(|row| (row.seat, row.viewer.as_deref())).collect();
    assert_eq!(names, [(seat, Some("ann")), (thief, None)]);
}

#[test]
fn nonce_beside_a_seat_names_nobody_later() {
    let mut stage = Stage::new(2, 0);
    stage.hold_garbage("A");
    assert_eq!(stage.say("A", Says { nonce: Some(7), ..ASK }), "in, lost: unknown");
    assert_eq!(stage.say("B", Says { nonce: Some(7), ..ASK }), "in");
    assert_ne!(stage.seat("B"), stage.seat("A"));
}
