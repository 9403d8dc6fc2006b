//! Known faults of other systems of this kind, as far as the engine can have them.

use tidegate_seats::{Answer, SeatId};

use crate::stage::{ASK, HIDDEN, JOIN, Says, Stage, ms, s};

#[test]
fn fault_a_thousand_asks_at_cap_150_seat_exactly_150() {
    let mut stage = Stage::new(150, 100);
    let answers: Vec<String> = (0..1_000).map(|page| stage.ask(&format!("P{page}"))).collect();
    let starting = |word| answers.iter().filter(|answer| answer.starts_with(word)).count();
    assert_eq!([starting("in"), starting("wait"), starting("full")], [150, 100, 750]);
    assert_eq!(stage.counts(), "seats 150, queued 100, turns 0");
}

#[test]
fn fault_seats_and_offers_never_exceed_the_cap_at_any_instant_of_a_burst() {
    let mut stage = Stage::tenant(12).stream("one", 8, 30).stream("two", 8, 30);
    // A small generator of its own: any spread of acts will do, as long as it is the same each time.
    let mut dice = 7_u64;
    for _ in 0..4_000 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let stream = if dice >> 40 & 1 == 0 { "one" } else { "two" };
        let page = format!("{stream}/P{}", dice >> 41 & 31);
        match dice >> 33 & 15 {
            0..=5 => drop(stage.say(&page, ASK)),
            6..=11 => drop(stage.say(&page, JOIN)),
            12 | 13 if !stage.ask(&page).starts_with(['f', 't']) => stage.leave(&page),
            _ => stage.pass(ms(400)),
        }
        let (one, two) = (stage.stats("one"), stage.stats("two"));
        assert!(one.seats + one.turns <= 8, "{one:?}");
        assert!(two.seats + two.turns <= 8, "{two:?}");
        assert_eq!(stage.house.seats_used(), one.seats + one.turns + two.seats + two.turns);
        assert!(stage.house.seats_used() <= 12);
    }
}

#[test]
fn fault_ten_dead_heads_do_not_stall_the_first_live_one_beyond_one_lapse() {
    let mut stage = Stage::new(1, 20);
    stage.ask("A");
    for dead in 0..10 {
        stage.ask(&format!("Dead{dead}"));
        stage.pass(s(1));
    }
    assert_eq!(stage.ask("Live"), "wait 11");
    stage.leave("A");
    let mut answers = Vec::new();
    for _ in 0..8 {
        stage.pass(s(2));
        answers.push(stage.ask("Live"));
    }
    assert_eq!(
        answers,
        ["wait 11", "wait 11", "wait 9", "wait 7", "wait 5", "wait 3", "offer 10 s", "offer 8 s"],
        "14 s after the seat was freed, when the last of the dead had been silent for 15 s"
    );
}

#[test]
fn fault_queued_never_counts_the_expired_even_before_a_sweep() {
    let mut stage = Stage::new(1, 1_000);
    stage.ask("A");
    for place in 0..1_000 {
        stage.ask(&format!("P{place}"));
    }
    assert_eq!(stage.ask("N"), "full 30 s");
    stage.pass(s(13));
    stage.drift(s(2));
    assert_eq!(stage.ask("N"), "wait 1", "a thousand places lapsed, and no tick came since");
    assert_eq!(stage.counts(), "seats 1, queued 1, turns 0");
}

#[test]
fn fault_queued_never_counts_a_whole_line_that_lapsed_at_once() {
    let mut stage = Stage::new(0, 30_000);
    for place in 0..30_000 {
        stage.ask(&format!("P{place}"));
    }
    stage.pass(s(34));
    assert_eq!(stage.counts(), "seats 0, queued 0, turns 0", "far back, a place lapses after 3 × 11 s");
    assert_eq!(stage.ask("N"), "wait 1");
}

#[test]
fn fault_a_reload_with_the_same_seat_keeps_the_position() {
    let mut stage = Stage::new(1, 5);
    stage.ask_each("A B C D");
    for _ in 0..20 {
        assert_eq!(stage.ask("C"), "wait 2");
    }
    assert_eq!(stage.ask_each("E C D"), ["wait 4", "wait 2", "wait 3"]);
}

#[test]
fn fault_the_position_never_rises() {
    let mut stage = Stage::new(2, 8);
    stage.ask_each("A B C D E F G H");
    let mut last = 8;
    for round in 0..40 {
        let (position, _) = stage.place("H");
        assert!(position <= last, "round {round}: from {last} to {position}");
        last = position;
        match round {
            3 => stage.leave("A"),
            5 => drop(stage.ask("C")),
            8 => stage.change("one", 1, 2).unwrap(),
            12 => stage.change("one", 2, 8).unwrap(),
            14 => drop(stage.ask_each("N M")),
            16 => drop(stage.kick("E")),
            18 => stage.restart(),
            _ => {}
        }
        for page in ["B", "C", "D", "F", "G"] {
            if round < 20 {
                stage.ask(page);
            }
        }
        stage.pass(s(1));
        if matches!(stage.stats("one").queued, 0 | 1) {
            break;
        }
    }
    assert!(last <= 3, "the line went on: {last}");
}

#[test]
fn fault_a_201_lost_in_transit_and_asked_again_is_the_same_seat() {
    let mut stage = Stage::new(2, 0);
    let nonce = Says { nonce: Some(9), ..ASK };
    let first = seat_of(&stage.answer("A", nonce));
    stage.forget("A");
    stage.pass(s(3));
    assert_eq!(seat_of(&stage.answer("A", nonce)), first);
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0");
}

#[test]
fn fault_a_hidden_page_heard_every_59_s_for_ten_minutes_keeps_its_seat() {
    let mut stage = Stage::new(1, 0);
    stage.ask("A");
    stage.beat_hidden("A");
    for _ in 0..11 {
        stage.pass(s(59));
        assert_eq!(stage.beat_hidden("A"), "kept 20 s");
    }
    stage.pass(s(61));
    assert_eq!(stage.beat_hidden("A"), "gone");
}

#[test]
fn fault_a_hidden_page_heard_every_74_s_for_ten_minutes_keeps_its_place() {
    let mut stage = Stage::new(0, 1);
    assert_eq!(stage.say("B", HIDDEN), "wait 1");
    for _ in 0..9 {
        stage.pass(s(74));
        assert_eq!(stage.say("B", HIDDEN), "wait 1");
    }
    stage.pass(s(75));
    assert_eq!(stage.say("B", HIDDEN), "wait 1, lost: expired");
}

#[test]
fn fault_a_wall_clock_five_minutes_off_decides_the_same() {
    let told: Vec<_> = [0, 300, -300].map(story_told_with_the_wall_clock_ahead).into();
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}

#[test]
fn fault_a_wall_clock_set_back_or_forward_moves_no_deadline() {
    let mut stage = Stage::new(1, 2);
    stage.ask_each("A B C");
    stage.leave("A");
    assert_eq!(stage.ask("B"), "offer 10 s");
    for jump in [86_400, -86_400, 300] {
        stage.set_wall_clock_ahead(jump);
        stage.pass(s(3));
        stage.ask("C");
    }
    assert_eq!(stage.ask_each("B C"), ["offer 1 s", "wait 1"]);
    assert_eq!(stage.join("B"), "in");
    stage.set_wall_clock_ahead(-86_400);
    stage.pass(ms(19_999));
    assert_eq!(stage.beat("B"), "kept 5 s");
}

fn story_told_with_the_wall_clock_ahead(seconds: i64) -> Vec<String> {
    let mut stage = Stage::tenant(3);
    stage.set_wall_clock_ahead(seconds);
    let mut stage = stage.stream("one", 2, 3);
    let mut told = stage.ask_each("A B C D E");
    stage.pass(s(6));
    told.extend(stage.ask_each("A B C D E"));
    stage.leave("A");
    told.push(stage.ask("C"));
    stage.pass(s(10));
    told.extend(stage.ask_each("D C B"));
    stage.kick("B");
    stage.pass(s(7));
    told.extend(stage.ask_each("B D E C"));
    stage.restart();
    stage.pass(s(14));
    told.extend(stage.ask_each("B D E C"));
    told.push(stage.counts());
    told
}

fn seat_of(answer: &Answer) -> SeatId {
    match answer {
        Answer::In { seat, .. } | Answer::Wait { seat, .. } | Answer::Offer { seat, .. } => *seat,
        Answer::Full { .. } | Answer::Refused(_) => panic!("a seat, not {answer:?}"),
    }
}
