//! The engine against a naive reference: the same story, told to both, must end the same in every detail.
#![expect(clippy::unwrap_used, reason = "tests")]

mod command;
#[path = "../shared/ids.rs"]
mod ids;
mod invariants;
mod reference;
#[path = "../shared/rows.rs"]
mod rows;
mod world;

use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;

use crate::command::{opening, story};
use crate::world::World;

proptest! {
    #![proptest_config(config())]

    /// S1–S13, S15, S17–S22, T5, D1, D2, all at once.
    #[test]
    fn the_engine_says_and_holds_what_the_rules_say(opening in opening(), story in story()) {
        let mut world = World::open(&opening);
        for command in story {
            world.run(command);
        }
    }
}

/// As many cases as take a few seconds without optimisation; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000);
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        // Without optimisation, the default generator would take three quarters of the time.
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    }
}
