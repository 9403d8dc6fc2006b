//! E3: a tenant's share of the fleet's sessions.

use tidegate_edge::{Answer, EdgeSettings, Pass, Refusal};

use crate::stage::{Stage, peer, publisher, s, viewer, viewers};

fn with_share(share: u32) -> Stage {
    let mut stage = Stage::new(EdgeSettings::default());
    stage.edge.handle_shares([("acme".into(), share)]);
    stage
}

#[test]
fn e3_a_tenant_whose_share_is_used_is_refused() {
    let mut stage = with_share(2);
    stage.admit(publisher("p"));
    let first = stage.admit(viewer("a"));
    assert_eq!(stage.refusal(viewer("b")), Refusal::ScopeFull);
    assert_eq!(stage.refusal(publisher("q")), Refusal::ScopeFull);
    let other = Pass { tenant: "other".into(), ..viewer("c") };
    stage.admit(other);
    stage.edge.handle_end(first, stage.now);
    stage.admit(viewer("b"));
}

#[test]
fn e3_renewals_and_returns_are_never_refused_for_the_scope() {
    let mut stage = with_share(1);
    let first = stage.admit(viewer("a"));
    let second = stage.admit(viewers("a", "2"));
    stage.edge.handle_end(first, stage.now);
    stage.edge.handle_end(second, stage.now);
    stage.admit(viewer("b"));
    stage.pass(s(29));
    stage.admit(viewers("a", "3"));
    stage.admit(Pass { back: true, ..viewer("c") });
    assert_eq!(stage.refusal(viewer("d")), Refusal::ScopeFull);
}

#[test]
fn e3_peers_count_under_no_tenant() {
    let mut stage = with_share(1);
    for n in 0..10 {
        stage.admit(peer(&format!("peer-{n}")));
    }
    stage.admit(viewer("a"));
    stage.admit(peer("one-more"));
}

#[test]
fn e3_a_share_that_moved_holds_at_once_and_ends_nobody() {
    let mut stage = with_share(5);
    for seat in ["a", "b", "c"] {
        stage.admit(viewer(seat));
    }
    stage.edge.handle_shares([("acme".into(), 1)]);
    assert_eq!((stage.edge.len(), stage.ended()), (3, vec![]));
    assert_eq!(stage.refusal(viewer("d")), Refusal::ScopeFull);
    stage.edge.handle_shares([("acme".into(), 4)]);
    stage.admit(viewer("d"));
}

#[test]
fn e3_a_tenant_of_whom_the_control_said_nothing_is_not_limited() {
    let mut stage = with_share(0);
    let fresh = Pass { tenant: "fresh".into(), ..viewer("a") };
    assert!(matches!(stage.arrive(fresh), Answer::In(_)));
}

#[test]
fn e3_a_publisher_that_reconnects_needs_no_second_place() {
    let mut stage = with_share(1);
    stage.admit(publisher("p"));
    stage.pass(s(3));
    stage.admit(publisher("p"));
    assert_eq!(stage.edge.len(), 1);
}
