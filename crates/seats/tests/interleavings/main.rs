//! Every interleaving of what three pages, an owner and the clock can do to a small stream, checked one by one.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../shared/ids.rs"]
mod ids;
mod promises;
#[path = "../shared/rows.rs"]
mod rows;
mod scene;

use stateright::{Checker, Model, Property};
use tidegate_seats::{StandingRecord, TurnKind};

use crate::scene::{Act, Scene};

/// One stream and its three pages.
struct Stream {
    viewer_cap: u32,
    queue_max: u32,
    /// The caps that its owner may set meanwhile.
    caps: &'static [u32],
}

impl Model for Stream {
    type State = Scene;
    type Action = Act;

    fn init_states(&self) -> Vec<Scene> {
        vec![Scene::open(self.viewer_cap, self.queue_max)]
    }

    fn actions(&self, scene: &Scene, acts: &mut Vec<Act>) {
        for page in 0..scene.pages() {
            acts.extend([Act::Ask(page), Act::Join(page)]);
            if scene.holds_a_seat_id(page) {
                acts.extend([Act::Beat(page), Act::Leave(page), Act::Kick(page), Act::Forget(page)]);
            }
        }
        acts.extend(self.caps.iter().map(|cap| Act::SetCap(*cap)));
        acts.extend([Act::Restart, Act::Step]);
    }

    fn next_state(&self, scene: &Scene, act: Act) -> Option<Scene> {
        Some(scene.after(act))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("S1 S3 S6 S7 D1: no act breaks a promise", |_, scene: &Scene| scene.broken.is_none()),
            Property::always("S5: a page that stays gets in when the others fall silent", |_, scene: &Scene| {
                scene.each_place_gets_in_when_the_others_fall_silent()
            }),
            Property::always("S5: a freed seat reaches whoever takes it", |_, scene: &Scene| {
                scene.a_freed_seat_reaches_who_takes_it()
            }),
            Property::sometimes("an offer is told", |_, scene: &Scene| scene.shows(StandingRecord::Offered)),
            Property::sometimes("an offer waits to be told", |_, scene: &Scene| {
                scene.shows(StandingRecord::Waiting { turn: Some(TurnKind::Offer) })
            }),
            Property::sometimes("the line is full", |_, scene: &Scene| scene.line_is_full()),
            Property::sometimes("a page was too silent", |_, scene: &Scene| scene.somebody_is_gone()),
        ]
    }
}

#[test]
fn every_interleaving_of_three_pages_at_one_seat() {
    check(Stream { viewer_cap: 1, queue_max: 2, caps: &[] });
}

#[test]
fn every_interleaving_of_three_pages_while_the_cap_moves() {
    check(Stream { viewer_cap: 1, queue_max: 1, caps: &[1, 2] });
}

fn check(stream: Stream) {
    let started = std::time::Instant::now();
    let checker = stream.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    println!("{} states, {:?}", checker.unique_state_count(), started.elapsed());
}
