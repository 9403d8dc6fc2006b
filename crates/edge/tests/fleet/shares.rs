//! E3: a tenant's sessions are shared out among relays, and are never more than the whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tidegate_edge::Report;

use crate::stage::{Stage, viewer};

fn share(stage: &mut Stage, relay: &str, max: u32) -> u32 {
    stage.fleet.shares(relay, [(Arc::from("acme"), max)])[0].1
}

#[test]
fn e3_shares_follow_use_and_each_relay_keeps_a_twentieth_to_spare() {
    let mut stage = Stage::new();
    stage.whole("a", vec![]);
    assert_eq!(share(&mut stage, "a", 100), 100, "alone it has all");
    stage.whole("b", vec![]);
    assert_eq!(share(&mut stage, "b", 100), 0, "until a has heard of b");
    let sessions: Vec<_> = (0..40).map(|n| viewer(&n.to_string(), 0)).collect();
    let report = Report { sessions, ..stage.report() };
    stage.fleet.handle_report("a", report.clone(), stage.now);
    assert_eq!(share(&mut stage, "a", 100), 95, "40 in use, 5 to spare, and all the rest, for all use is here");
    assert_eq!(share(&mut stage, "b", 100), 0, "a may still go by the answer before");
    let next = Report { since: Some(report.number), ..stage.report() };
    assert!(stage.fleet.handle_report("a", next, stage.now));
    assert_eq!(share(&mut stage, "b", 100), 5);
}

#[test]
fn e3_with_few_sessions_left_they_go_one_by_one() {
    let mut stage = Stage::new();
    for relay in ["a", "b", "c"] {
        stage.whole(relay, vec![]);
    }
    assert_eq!([share(&mut stage, "a", 2), share(&mut stage, "b", 2), share(&mut stage, "c", 2)], [1, 1, 0]);
}

/// What a relay of the model goes by.
#[derive(Default)]
struct Model {
    share: u32,
    open: BTreeSet<u32>,
    /// The report whose answer it had last.
    answered: Option<u64>,
    told: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
enum Step {
    Open(usize),
    Close(usize),
    /// A report, and whether its answer arrives.
    Report(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..3_usize).prop_map(Step::Open),
        2 => (0..3_usize).prop_map(Step::Close),
        3 => (0..3_usize, prop::bool::weighted(0.8)).prop_map(|(relay, arrives)| Step::Report(relay, arrives)),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn e3_whatever_answers_are_lost_a_tenant_never_has_more_open_than_it_may(max in 1..40_u32, steps in steps()) {
        let mut stage = Stage::new();
        let mut relays: [Model; 3] = Default::default();
        let mut numbers = BTreeMap::<usize, u64>::new();
        let mut last = 0;
        for step in steps {
            match step {
                Step::Open(relay) => {
                    let model = &mut relays[relay];
                    if model.open.len() < model.share as usize {
                        last += 1;
                        model.open.insert(last);
                    }
                }
                Step::Close(relay) => {
                    relays[relay].open.pop_first();
                }
                Step::Report(relay, arrives) => {
                    let number = numbers.entry(relay).or_default();
                    *number += 1;
                    let model = &mut relays[relay];
                    let report = |since, sessions: Vec<u32>, ended: Vec<u32>| Report {
                        number: *number,
                        since,
                        sessions: sessions.iter().map(|n| viewer(&n.to_string(), 0)).collect(),
                        ended: ended.iter().map(|n| n.to_string().into()).collect(),
                        ..Stage::new().report()
                    };
                    let opened = model.open.difference(&model.told).copied().collect();
                    let ended = model.told.difference(&model.open).copied().collect();
                    let name = format!("relay-{relay}");
                    let changes = match model.answered {
                        Some(since) => report(Some(since), opened, ended),
                        None => report(None, model.open.iter().copied().collect(), vec![]),
                    };
                    let follows = stage.fleet.handle_report(&name, changes, stage.now);
                    let share = stage.fleet.shares(&name, [(Arc::from("acme"), max)])[0].1;
                    if arrives {
                        model.share = share;
                        model.answered = follows.then_some(*number);
                        model.told = model.open.clone();
                    }
                }
            }
            let open: usize = relays.iter().map(|model| model.open.len()).sum();
            prop_assert!(open <= max as usize, "{open} of {max}");
        }
    }
}
