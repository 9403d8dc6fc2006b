//! What reports say: sessions, their ends, tokens at two relays.

use std::time::Duration;

use tidegate_edge::{InUse, Report, Reported, Role};

use crate::stage::{Stage, viewer};

fn tokens(stage: &Stage, relay: &str) -> Vec<String> {
    let mut tokens: Vec<_> = stage.fleet.watching(relay).map(|watching| watching.token.to_owned()).collect();
    tokens.sort();
    tokens
}

#[test]
fn e12_differences_follow_a_whole_report_and_a_lost_one_asks_for_all() {
    let mut stage = Stage::new();
    let first = Report { number: 1, sessions: vec![viewer("a", 0), viewer("b", 0)], ..stage.report() };
    assert!(stage.fleet.handle_report("r", first, stage.now));
    let second =
        Report { number: 2, since: Some(1), sessions: vec![viewer("c", 0)], ended: vec!["a".into()], ..stage.report() };
    assert!(stage.fleet.handle_report("r", second, stage.now));
    assert_eq!(tokens(&stage, "r"), ["b", "c"]);
    // Its answer was lost, so the relay still goes from the first.
    let third = Report { number: 3, since: Some(1), sessions: vec![viewer("d", 0)], ..stage.report() };
    assert!(!stage.fleet.handle_report("r", third, stage.now));
    assert_eq!(tokens(&stage, "r"), ["b", "c"]);
    let whole = Report { number: 4, since: None, sessions: vec![viewer("c", 0), viewer("d", 0)], ..stage.report() };
    assert!(stage.fleet.handle_report("r", whole, stage.now));
    assert_eq!(tokens(&stage, "r"), ["c", "d"]);
    // A control that started anew knows nothing to differ from.
    let stranger = Report { number: 9, since: Some(8), ..stage.report() };
    assert!(!Stage::new().fleet.handle_report("r", stranger, stage.now));
}

#[test]
fn e2_of_two_sessions_on_a_token_the_later_is_closed_while_both_reports_are_young() {
    let mut stage = Stage::new();
    stage.whole("a", vec![viewer("t", 5000)]);
    stage.whole("b", vec![viewer("t", 100), viewer("u", 100)]);
    assert_eq!(stage.doubles("b"), ["t".into()]);
    assert!(stage.doubles("a").is_empty());
    stage.pass(2000);
    stage.whole("b", vec![viewer("t", 2100)]);
    assert!(stage.doubles("b").is_empty(), "what a says is two seconds old");
}

#[test]
fn e2_a_session_that_went_silent_yields_to_the_one_that_took_over() {
    let mut stage = Stage::new();
    let silent = |ms| Reported { silent: Duration::from_millis(ms), ..viewer("t", 60_000) };
    stage.whole("a", vec![silent(2999)]);
    stage.whole("b", vec![viewer("t", 100)]);
    assert_eq!((stage.doubles("a").len(), stage.doubles("b").len()), (0, 1));
    stage.whole("a", vec![silent(3000)]);
    assert_eq!((stage.doubles("a").len(), stage.doubles("b").len()), (1, 0));
}

#[test]
fn e11_a_seat_is_known_while_it_watches_and_for_30_s_after() {
    let mut stage = Stage::new();
    stage.whole("a", vec![viewer("1", 0)]);
    stage.whole("b", vec![Reported { seat: "seat-1".into(), ..viewer("2", 0) }]);
    stage.whole("a", vec![]);
    stage.pass(40_000);
    assert!(stage.fleet.knows("seat-1", stage.now), "its renewed session is at b");
    stage.whole("b", vec![]);
    stage.pass(29_999);
    assert!(stage.fleet.knows("seat-1", stage.now));
    stage.pass(1);
    assert!(!stage.fleet.knows("seat-1", stage.now));
    assert!(!stage.fleet.knows("seat-9", stage.now));
}

#[test]
fn e4_what_a_silent_relay_has_open_counts_for_a_minute() {
    let mut stage = Stage::new();
    let publisher = Reported { role: Role::Publisher, ..viewer("p", 0) };
    let peer = Reported { role: Role::Peer, ..viewer("q", 0) };
    assert_eq!(stage.fleet.in_use("acme"), None);
    stage.whole("a", vec![viewer("1", 0), publisher, peer]);
    stage.pass(59_999);
    stage.fleet.handle_timeout(stage.now);
    assert_eq!(stage.fleet.in_use("acme"), Some(InUse { sessions: 2, publishers: 1 }));
    assert_eq!(stage.fleet.in_use("other"), Some(InUse::default()));
    stage.pass(1);
    stage.fleet.handle_timeout(stage.now);
    assert_eq!(stage.fleet.in_use("acme"), None);
    assert!(stage.fleet.knows("seat-1", stage.now), "it may only now come back elsewhere");
}
