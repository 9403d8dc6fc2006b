//! E2, E4, E10, E11, T3, T6: one session for each token, and which sessions end.

use tidegate_edge::{Answer, EdgeSettings, End, Entry, Pass, Refusal, Removal};

use crate::stage::{Stage, peer, publisher, s, viewer, viewers};

const MEMORY: std::time::Duration = std::time::Duration::from_secs(3600);

#[test]
fn e2_a_second_session_on_a_token_is_refused_while_the_first_is_heard() {
    let mut stage = Stage::new(EdgeSettings::default());
    let first = stage.admit(viewer("a"));
    for _ in 0..10 {
        stage.pass(s(2));
        stage.edge.handle_heard(first, stage.now);
        assert_eq!(stage.refusal(viewer("a")), Refusal::TokenInUse);
    }
    assert_eq!(stage.ended(), []);
}

#[test]
fn e2_a_session_that_fell_silent_is_replaced() {
    let mut stage = Stage::new(EdgeSettings::default());
    let first = stage.admit(viewer("a"));
    stage.pass(s(3));
    let second = stage.admitted(viewer("a"));
    assert_eq!(second.entry, Entry::Returning);
    assert_eq!(stage.ended(), [(first, End::Replaced)]);
    stage.edge.handle_end(first, stage.now);
    assert!(stage.edge.session(second.session).is_some(), "the old one's end is not the new one's");
    assert_eq!(stage.refusal(viewer("a")), Refusal::TokenInUse);
}

#[test]
fn e2_a_refusal_for_load_uses_no_token_up() {
    let mut stage = Stage::saturated();
    for _ in 0..5 {
        assert!(matches!(stage.refusal(viewer("a")), Refusal::EdgeFull { .. }));
    }
    stage.seconds(10, 0.1, 0);
    stage.admit(viewer("a"));
}

#[test]
fn t3_a_token_opens_a_session_again_after_its_last_one_ended() {
    let mut stage = Stage::new(EdgeSettings::default());
    let first = stage.admit(viewer("a"));
    stage.edge.handle_end(first, stage.now);
    assert_ne!(stage.admit(viewer("a")), first);
}

#[test]
fn t3_a_renewed_session_ends_after_the_overlap() {
    let mut stage = Stage::new(EdgeSettings::default());
    let first = stage.admit(viewers("a", "1"));
    stage.pass(s(100));
    let second = stage.admit(viewers("a", "2"));
    stage.pass(s(29));
    assert_eq!(stage.ended(), []);
    assert_eq!(stage.edge.poll_timeout(), Some(stage.now + s(1)));
    stage.pass(s(1));
    assert_eq!(stage.ended(), [(first, End::Renewed)]);
    assert!(stage.edge.session(second).is_some());
}

#[test]
fn t3_a_seat_has_two_sessions_for_a_moment_and_never_three() {
    let mut stage = Stage::new(EdgeSettings::default());
    let [first, second, third] = ["1", "2", "3"].map(|token| stage.admit(viewers("a", token)));
    assert_eq!(stage.ended(), [(first, End::Renewed)]);
    assert_eq!(stage.edge.len(), 2);
    stage.pass(s(30));
    assert_eq!(stage.ended(), [(second, End::Renewed)]);
    assert!(stage.edge.session(third).is_some());
}

#[test]
fn e4_a_session_outlives_its_token_by_the_overlap_only() {
    let mut stage = Stage::new(EdgeSettings::default());
    let session = stage.admit(viewer("a"));
    stage.pass(s(149));
    assert_eq!(stage.ended(), []);
    stage.pass(s(1));
    assert_eq!(stage.ended(), [(session, End::Expired)]);
}

#[test]
fn e4_nobody_is_cut_while_the_control_is_away_and_there_is_time_to_renew_when_it_is_back() {
    let mut stage = Stage::new(EdgeSettings::default());
    let session = stage.admit(viewer("a"));
    stage.pass(s(100));
    stage.edge.handle_away(true, stage.now);
    stage.pass(s(3600));
    let excused = stage.admit(Pass { left: s(0), ..viewer("b") });
    assert_eq!(stage.ended(), []);
    stage.edge.handle_away(false, stage.now);
    stage.pass(s(29));
    assert_eq!(stage.ended(), []);
    let renewed = stage.admit(viewers("b", "2"));
    stage.pass(s(1));
    let mut ended = stage.ended();
    ended.sort_unstable_by_key(|(session, _)| *session);
    assert_eq!(ended, [(session, End::Expired), (excused, End::Expired)]);
    assert!(stage.edge.session(renewed).is_some());
}

#[test]
fn e4_a_token_that_ended_before_the_outage_was_known_is_not_revived_late() {
    let mut stage = Stage::new(EdgeSettings::default());
    let session = stage.admit(viewer("a"));
    stage.now += s(200);
    stage.edge.handle_away(true, stage.now);
    assert_eq!(stage.ended(), [(session, End::Expired)]);
}

#[test]
fn e4_t6_a_kick_ends_the_seats_sessions_and_its_tokens_open_nothing() {
    let mut stage = Stage::new(EdgeSettings::default());
    let [first, second] = ["1", "2"].map(|token| stage.admit(viewers("a", token)));
    let other = stage.admit(viewer("b"));
    stage.edge.handle_removal(Removal::Seat("a".into()), MEMORY, stage.now);
    assert_eq!(stage.ended(), [(first, End::Removed), (second, End::Removed)]);
    for token in ["1", "2", "3"] {
        assert_eq!(stage.refusal(viewers("a", token)), Refusal::Removed, "E11 is no way back");
    }
    assert!(stage.edge.session(other).is_some());
    stage.pass(MEMORY);
    stage.admit(viewers("a", "4"));
}

#[test]
fn e4_a_stopped_stream_ends_its_viewers_and_publishers_but_no_peer_of_another() {
    let mut stage = Stage::new(EdgeSettings::default());
    let ends = [stage.admit(viewer("a")), stage.admit(publisher("p"))];
    let stays = stage.admit(Pass { stream: "".into(), ..peer("relay-2") });
    stage.edge.handle_removal(Removal::Stream("launch".into()), MEMORY, stage.now);
    assert_eq!(stage.ended(), ends.map(|session| (session, End::Removed)));
    assert_eq!(stage.refusal(publisher("q")), Refusal::Removed);
    assert!(stage.edge.session(stays).is_some());
}

#[test]
fn e2_a_token_called_back_ends_its_session_alone() {
    let mut stage = Stage::new(EdgeSettings::default());
    let [first, second] = ["1", "2"].map(|token| stage.admit(viewers("a", token)));
    stage.edge.handle_removal(Removal::Token("a-1".into()), MEMORY, stage.now);
    assert_eq!(stage.ended(), [(first, End::Removed)]);
    assert!(stage.edge.session(second).is_some());
}

#[test]
fn e4_of_too_many_removals_those_are_forgotten_that_end_first() {
    let mut stage = Stage::new(EdgeSettings::default());
    stage.edge.handle_removal(Removal::Seat("short".into()), s(60), stage.now);
    for n in 0..100_000 {
        stage.edge.handle_removal(Removal::Seat(format!("long-{n}").into()), MEMORY, stage.now);
    }
    stage.admit(viewer("short"));
    assert_eq!(stage.refusal(viewer("long-0")), Refusal::Removed);
    assert_eq!(stage.refusal(viewer("long-99999")), Refusal::Removed);
}

#[test]
fn e10_publishers_and_peers_are_never_refused_for_load() {
    let mut stage = Stage::saturated();
    for n in 0..500 {
        assert_eq!(stage.admitted(publisher(&format!("p-{n}"))).entry, Entry::Publisher);
        assert_eq!(stage.admitted(peer(&format!("r-{n}"))).entry, Entry::Peer);
    }
}

#[test]
fn e11_a_renewal_gets_in_while_saturated() {
    let mut stage = Stage::new(EdgeSettings::default());
    stage.admit(viewers("a", "1"));
    stage.seconds(2, 0.99, 200);
    assert_eq!(stage.admitted(viewers("a", "2")).entry, Entry::Returning);
}

#[test]
fn e11_a_seat_comes_back_within_thirty_seconds_and_no_later() {
    let mut stage = Stage::new(EdgeSettings::default());
    let [a, b] = ["a", "b"].map(|seat| stage.admit(viewer(seat)));
    stage.seconds(2, 0.99, 0);
    for session in [a, b] {
        stage.edge.handle_end(session, stage.now);
    }
    stage.now += s(30) - std::time::Duration::from_millis(1);
    stage.admit(viewers("a", "2"));
    stage.now += std::time::Duration::from_millis(1);
    assert!(matches!(stage.refusal(viewers("b", "2")), Refusal::EdgeFull { .. }));
}

#[test]
fn e11_a_seat_that_was_refused_is_no_returning_one() {
    let mut stage = Stage::saturated();
    for token in ["1", "2"] {
        assert!(matches!(stage.arrive(viewers("a", token)), Answer::Refused(Refusal::EdgeFull { .. })));
    }
}

#[test]
fn e11_a_token_that_says_back_gets_in_while_saturated() {
    let mut stage = Stage::saturated();
    assert_eq!(stage.admitted(Pass { back: true, ..viewer("a") }).entry, Entry::Returning);
}
