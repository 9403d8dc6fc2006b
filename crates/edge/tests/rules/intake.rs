//! E7: a share of the spare room each second.

use std::time::Duration;

use tidegate_edge::{Answer, EdgeSettings, Full, Refusal};

use crate::stage::{Stage, publisher, reading, s, viewer, viewers};

/// A relay whose sessions cost `cost` each, measured for a while, with `open` of them.
fn measured(open: u32, cost: f64) -> Stage {
    let mut stage = Stage::new(EdgeSettings { burst: open, ..EdgeSettings::default() });
    assert_eq!(stage.crowd(open), open);
    stage.edge.set(EdgeSettings::default());
    stage.seconds(8, f64::from(open) * cost, 0);
    stage
}

/// A second in which as many knock as can; answers how many handshakes began.
fn handshakes(stage: &mut Stage) -> u32 {
    let mut begun = 0;
    for _ in 0..10 {
        stage.now += Duration::from_millis(100);
        begun += (0..1000).map(|_| u32::from(stage.edge.handle_handshake(stage.now))).sum::<u32>();
    }
    begun
}

#[test]
fn e7_a_second_gives_a_quarter_of_the_spare_room() {
    // (0.85 − 0.35) ÷ 0.0035 = 142 more would fit.
    let mut stage = measured(100, 0.0035);
    assert_eq!(stage.crowd(1000), 35);
    assert_eq!(stage.refusal(viewer("late")), Refusal::EdgeFull { retry: s(2), full: Full::Share });
}

#[test]
fn e7_sessions_that_no_reading_has_seen_yet_count_as_used() {
    let mut stage = measured(100, 0.0035);
    assert_eq!(stage.crowd(35), 35);
    // They are in, and do not show in the load of this second at all.
    stage.seconds(1, 0.35, 0);
    assert!(stage.crowd(1000) < 35);
}

#[test]
fn e7_while_open_one_a_second_comes_in() {
    let mut stage = measured(100, 0.0084);
    for _ in 0..5 {
        stage.seconds(1, 0.845, 0);
        assert_eq!(stage.crowd(10), 1);
    }
}

#[test]
fn e7_over_the_level_nobody_comes_in_even_before_it_is_saturated() {
    let mut stage = measured(100, 0.0084);
    stage.seconds(1, 0.86, 0);
    assert_eq!(stage.refusal(viewer("late")), Refusal::EdgeFull { retry: s(2), full: Full::Share });
}

#[test]
fn e7_with_too_few_sessions_to_measure_a_burst_comes_in() {
    let mut stage = Stage::new(EdgeSettings::default());
    assert_eq!(stage.crowd(1000), 50);
    let mut stage = Stage::new(EdgeSettings { burst: 7, ..EdgeSettings::default() });
    assert_eq!(stage.crowd(1000), 7);
}

#[test]
fn e7_whoever_comes_in_takes_room() {
    let mut stage = measured(100, 0.0035);
    for n in 0..5 {
        stage.admit(publisher(&format!("p-{n}")));
        stage.admit(viewers(&format!("crowd-0-{n}"), "2"));
    }
    assert_eq!(stage.crowd(1000), 25);
}

#[test]
fn e7_handshakes_are_bounded_and_the_bound_fills_up_again() {
    let mut stage = Stage::new(EdgeSettings::default());
    // 4 % of two threads, at a millisecond each.
    assert_eq!(handshakes(&mut stage), 80 + 8);
    assert_eq!(handshakes(&mut stage), 80);
    stage.now += s(100);
    let at_once = (0..10_000).filter(|_| stage.edge.handle_handshake(stage.now)).count();
    assert_eq!(at_once, 16, "a quiet time is no hoard");
}

/// The handshakes of the last of thirty seconds, of which each takes 2 ms of both threads, beside sessions that take so
/// much.
fn dear_handshakes(stage: &mut Stage, sessions: f64) -> u32 {
    let mut rate = 0;
    for _ in 0..30 {
        rate = handshakes(stage);
        stage.edge.handle_reading(reading(sessions + f64::from(rate) * 0.002, 0), stage.now);
    }
    rate
}

#[test]
fn e7_dear_handshakes_are_fewer_and_sessions_do_not_look_dearer_for_them() {
    let mut stage = measured(100, 0.0035);
    // A quarter of what they and the sessions leave below the level: 0.25 * (0.5 - 50 * 0.002) = 50 * 0.002; what one
    // costs is believed to be a little less.
    let rate = dear_handshakes(&mut stage, 0.35);
    assert!((45..=65).contains(&rate), "{rate} a second");
    // The load of handshakes is gone; what a session costs is what it was.
    stage.seconds(10, 0.35, 0);
    let given = stage.crowd(1000);
    assert!((25..=35).contains(&given), "{given}");
}

#[test]
fn e7_a_full_relay_gives_4_percent_to_handshakes_and_an_idle_one_a_quarter_of_what_it_has() {
    let mut full = measured(100, 0.0084);
    let rate = dear_handshakes(&mut full, 0.84);
    assert!((20..=25).contains(&rate), "{rate} a second");
    let mut idle = Stage::new(EdgeSettings::default());
    idle.seconds(1, 0.05, 0);
    // A quarter of 0.8 at a millisecond of two threads each is 400 a second, 80 of them at once.
    assert_eq!(handshakes(&mut idle), 80 + 9 * 40);
}

#[test]
fn e7_the_first_answer_of_a_new_relay_is_yes() {
    let mut stage = Stage::new(EdgeSettings::default());
    assert!(matches!(stage.arrive(viewer("a")), Answer::In(_)));
}
