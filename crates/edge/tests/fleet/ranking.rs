//! E12, E14: which relays an answer lists.

use std::collections::BTreeMap;

use crate::stage::Stage;

fn listed(stage: &Stage, region: Option<&str>) -> Vec<(String, bool)> {
    let listed = stage.fleet.ranking(region, stage.now, || 0.5);
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
        *firsts.entry(stage.fleet.ranking(Some("eu"), stage.now, &mut draw)[0].name).or_default() += 1;
    }
    // Rooms of 0.9, 0.6 and 0.2.
    let share = |name| f64::from(firsts[name]) / 17_000.0;
    for (name, expected) in [("idle", 0.9 / 1.7), ("half", 0.6 / 1.7), ("brim", 0.2 / 1.7)] {
        assert!((share(name) - expected).abs() < 0.03, "{name}: {}", share(name));
    }
}
