//! E12, E14: which relays an answer lists.

use std::collections::BTreeMap;

use tidegate_edge::{Report, Site};

use crate::stage::{Stage, viewer};

fn listed(stage: &Stage, region: Option<&str>) -> Vec<(String, bool)> {
    let listed = stage.fleet.ranking("acme", region, stage.now, || 0.5);
    listed.into_iter().map(|relay| (relay.name.to_owned(), relay.full)).collect()
}

fn named(list: &[(&str, bool)]) -> Vec<(String, bool)> {
    list.iter().map(|(name, full)| ((*name).to_owned(), *full)).collect()
}

#[test]
fn e14_the_viewers_region_comes_first_then_its_part_of_the_world_and_the_idle_before_the_busy() {
    let mut stage = Stage::new();
    stage.idle("far", "us-east", 0.0, false);
    stage.idle("busy", "eu-west", 0.8, false);
    stage.idle("idle", "eu-west", 0.1, false);
    stage.idle("near", "eu-north", 0.0, false);
    let order = |region| listed(&stage, region).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(order(Some("eu-west")), ["idle", "busy", "near", "far"]);
    assert_eq!(order(Some("us-west"))[0], "far");
    assert_eq!(order(None)[3], "busy");
}

#[test]
fn e12_a_saturated_relay_is_left_out_until_all_are_and_a_silent_one_in_any_case() {
    let mut stage = Stage::new();
    stage.idle("a", "eu", 0.9, true);
    stage.idle("b", "us", 0.2, false);
    assert_eq!(listed(&stage, Some("eu")), named(&[("b", false)]));
    stage.idle("b", "us", 0.9, true);
    assert_eq!(listed(&stage, Some("eu")), named(&[("a", true), ("b", true)]));
    stage.pass(4999);
    stage.idle("b", "us", 0.2, true);
    assert_eq!(listed(&stage, None).len(), 2);
    stage.pass(1);
    assert_eq!(listed(&stage, None), named(&[("b", true)]));
    stage.pass(5000);
    assert!(listed(&stage, None).is_empty());
}

#[test]
fn e3_e14_a_relay_whose_share_is_used_up_or_has_not_come_yet_is_last() {
    let mut stage = Stage::new();
    let order = |stage: &Stage| listed(stage, Some("eu")).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let share = |stage: &mut Stage, relay: &str, max| stage.fleet.shares(relay, [("acme".into(), max)])[0].1;
    stage.idle("far", "us", 0.1, false);
    assert_eq!(share(&mut stage, "far", 10), 10);
    stage.idle("near", "eu", 0.1, false);
    assert_eq!(order(&stage), ["near", "far"], "nothing is known of its share");
    assert_eq!(share(&mut stage, "near", 10), 0, "the other one may still go by the whole");
    assert_eq!(order(&stage), ["far", "near"]);
    assert_eq!(share(&mut stage, "far", 10), 5);
    let report = Report { since: Some(1), site: Site { region: "us".into(), ..Site::default() }, ..stage.report() };
    assert!(stage.fleet.handle_report("far", report, stage.now));
    assert_eq!(share(&mut stage, "near", 10), 5);
    assert_eq!(order(&stage), ["near", "far"]);
    let sessions = (0..5).map(|n| viewer(&format!("t{n}"), 0)).collect();
    let report = Report { sessions, site: Site { region: "eu".into(), ..Site::default() }, ..stage.report() };
    assert!(stage.fleet.handle_report("near", report, stage.now));
    assert_eq!(order(&stage), ["far", "near"]);
}

#[test]
fn e16_each_two_relays_have_one_link_and_a_silent_one_has_none() {
    let mut stage = Stage::new();
    ["a", "b", "c"].into_iter().for_each(|relay| stage.idle(relay, "eu", 0.1, false));
    let peers = |stage: &Stage, relay| stage.fleet.peers(relay, stage.now).map(|(name, _)| name.to_owned()).collect();
    let all: [Vec<String>; 3] = ["a", "b", "c"].map(|relay| peers(&stage, relay));
    assert_eq!(all, [vec!["b".to_owned(), "c".to_owned()], vec!["c".to_owned()], vec![]]);
    stage.pass(4999);
    stage.idle("b", "eu", 0.1, false);
    stage.pass(1);
    let of_a: Vec<String> = peers(&stage, "a");
    assert_eq!(of_a, ["b"]);
}

#[test]
fn e14_viewers_of_one_second_spread_over_a_regions_relays_as_they_have_room() {
    let mut stage = Stage::new();
    stage.idle("half", "eu", 0.4, false);
    stage.idle("idle", "eu", 0.1, false);
    stage.idle("brim", "eu", 0.8, false);
    let mut firsts = BTreeMap::<&str, u32>::new();
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX)
    };
    for _ in 0..17_000 {
        *firsts.entry(stage.fleet.ranking("acme", Some("eu"), stage.now, &mut draw)[0].name).or_default() += 1;
    }
    // Rooms of 0.9, 0.6 and 0.2.
    let share = |name| f64::from(firsts[name]) / 17_000.0;
    for (name, expected) in [("idle", 0.9 / 1.7), ("half", 0.6 / 1.7), ("brim", 0.2 / 1.7)] {
        assert!((share(name) - expected).abs() < 0.03, "{name}: {}", share(name));
    }
}
