//! E6, E12, E13: open, saturated, and what is said of it.

use tidegate_edge::{Admission, Answer, Busy, EdgeSettings, Entry, Full, Refusal, State};

use crate::stage::{Stage, s, viewer, viewers};

#[test]
fn e6_two_seconds_over_the_level_saturate() {
    for (busy, lag_ms) in [(0.85, 0), (0.1, 50), (1.0, 400)] {
        let mut stage = Stage::new(EdgeSettings::default());
        assert_eq!(stage.seconds(1, busy, lag_ms), None, "one second is a hiccup");
        assert_eq!(stage.seconds(1, busy, lag_ms), Some(State::Saturated));
    }
    let mut stage = Stage::new(EdgeSettings::default());
    for _ in 0..20 {
        assert_eq!(stage.seconds(1, 0.99, 0), None);
        assert_eq!(stage.seconds(1, 0.849, 49), None, "not two in a row");
    }
}

#[test]
fn e6_a_reading_of_two_seconds_is_two_seconds() {
    let mut stage = Stage::new(EdgeSettings::default());
    let mut late = crate::stage::reading(0.9, 0);
    late.window = s(2);
    assert_eq!(stage.edge.handle_reading(late, stage.now), Some(State::Saturated));
}

#[test]
fn e6_ten_calm_seconds_open_again() {
    let mut stage = Stage::saturated();
    assert_eq!(stage.seconds(9, 0.699, 14), None);
    assert_eq!(stage.seconds(1, 0.699, 14), Some(State::Open));
}

#[test]
fn e6_between_the_levels_it_stays_what_it_was() {
    let mut stage = Stage::saturated();
    for (busy, lag_ms) in [(0.70, 0), (0.84, 0), (0.1, 15), (0.1, 49)] {
        assert_eq!(stage.seconds(9, 0.1, 0), None);
        assert_eq!(stage.seconds(1, busy, lag_ms), None, "{busy} and {lag_ms} ms are not calm");
    }
    let mut stage = Stage::new(EdgeSettings::default());
    assert_eq!(stage.seconds(60, 0.84, 49), None);
    assert_eq!(stage.edge.state(), State::Open);
}

#[test]
fn e6_it_opens_below_a_moved_level() {
    let mut stage = Stage::new(EdgeSettings { level: Busy::from_share(0.5), ..EdgeSettings::default() });
    assert_eq!(stage.seconds(2, 0.5, 0), Some(State::Saturated));
    assert_eq!(stage.seconds(30, 0.35, 0), None);
    assert_eq!(stage.seconds(10, 0.349, 0), Some(State::Open));
}

#[test]
fn e6_no_change_comes_within_ten_seconds_of_the_last_and_none_is_let_in_meanwhile() {
    let mut stage = Stage::saturated();
    assert_eq!(stage.seconds(10, 0.1, 0), Some(State::Open));
    assert_eq!(stage.seconds(9, 0.9, 0), None);
    assert_eq!(stage.crowd(10), 0, "over the level there is no room");
    assert_eq!(stage.seconds(1, 0.9, 0), Some(State::Saturated));
}

#[test]
fn e8_a_saturated_relay_refuses_a_newcomer_with_a_retry_time() {
    let mut stage = Stage::saturated();
    assert_eq!(stage.refusal(viewer("b")), Refusal::EdgeFull { retry: s(2), full: Full::Saturated });
    stage.edge.set(EdgeSettings { retry: s(5), ..EdgeSettings::default() });
    assert_eq!(stage.refusal(viewer("b")), Refusal::EdgeFull { retry: s(5), full: Full::Saturated });
    assert!(stage.edge.is_empty(), "E2: who was refused counts nowhere");
}

#[test]
fn e9_an_admitted_session_outlives_saturation() {
    let mut stage = Stage::new(EdgeSettings::default());
    let session = stage.admit(viewer("a"));
    stage.seconds(100, 1.0, 500);
    assert!(stage.edge.session(session).is_some());
    assert_eq!(stage.ended(), []);
}

#[test]
fn e13_observe_says_whom_it_would_have_refused_and_refuses_nobody() {
    let mut stage = Stage::new(EdgeSettings { admission: Admission::Observe, ..EdgeSettings::default() });
    assert_eq!(stage.admitted(viewer("a")).observed, None);
    assert_eq!(stage.seconds(2, 0.9, 0), Some(State::Saturated));
    assert!(!stage.edge.is_full(), "E12: a relay that refuses nobody is left out of no answer");
    let newcomer = stage.admitted(viewer("b"));
    assert_eq!((newcomer.entry, newcomer.observed), (Entry::New, Some(Full::Saturated)));
    let renewal = stage.admitted(viewers("a", "2"));
    assert_eq!((renewal.entry, renewal.observed), (Entry::Returning, None));
}

#[test]
fn e13_off_refuses_nobody_and_says_nothing() {
    let mut stage = Stage::new(EdgeSettings { admission: Admission::Off, ..EdgeSettings::default() });
    stage.seconds(2, 0.9, 0);
    assert_eq!(stage.edge.state(), State::Saturated, "it is measured all the same");
    assert_eq!(stage.admitted(viewer("b")).observed, None);
    assert_eq!(stage.crowd(500), 500);
}

#[test]
fn e13_the_settings_change_while_it_runs() {
    let mut stage = Stage::saturated();
    assert!(stage.edge.is_full());
    stage.edge.set(EdgeSettings { admission: Admission::Off, ..EdgeSettings::default() });
    assert!(!stage.edge.is_full());
    assert!(matches!(stage.arrive(viewer("a")), Answer::In(_)));
    stage.edge.set(EdgeSettings::default());
    assert!(matches!(stage.refusal(viewer("b")), Refusal::EdgeFull { .. }));
    stage.edge.set(EdgeSettings { level: Busy::from_share(0.95), ..EdgeSettings::default() });
    assert_eq!(stage.seconds(10, 0.79, 0), Some(State::Open));
}
