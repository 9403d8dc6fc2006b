//! E6 under random load: the state against a history that is searched anew each second.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidegate_edge::{Busy, Edge, EdgeSettings, Reading, State};

/// Load that lingers: what a second is like, and for how many seconds.
#[derive(Clone, Debug)]
struct Spell {
    seconds: u32,
    busy: u16,
    lag_ms: u64,
    /// By how much the ticker is late or early, in ms.
    jitter_ms: i64,
}

fn spell() -> impl Strategy<Value = Spell> {
    let busy = prop_oneof![0..1000_u16, 690..710_u16, 840..860_u16];
    let lag_ms = prop_oneof![3 => Just(0_u64), 1 => 10..20_u64, 1 => 45..55_u64];
    (1..15_u32, busy, lag_ms, -20..20_i64).prop_map(|(seconds, busy, lag_ms, jitter_ms)| Spell {
        seconds,
        busy,
        lag_ms,
        jitter_ms,
    })
}

/// The rule as it is written: of the history, were the last 2 s over, or the last 10 s calm?
/// Load in thousandths: the edge of "below by 0.15" is exact only in whole numbers.
fn wanted(history: &[(u16, u64)], level: u16, state: State) -> State {
    let last = |count: usize, holds: &dyn Fn(u16, u64) -> bool| {
        history.len() >= count && history.iter().rev().take(count).all(|(busy, lag)| holds(*busy, *lag))
    };
    match state {
        State::Open if last(2, &|busy, lag| busy >= level || lag >= 50) => State::Saturated,
        State::Saturated if last(10, &|busy, lag| busy + 150 < level && lag < 15) => State::Open,
        State::Open | State::Saturated => state,
    }
}

proptest! {
    #![proptest_config(crate::cases(300))]

    #[test]
    fn e6_the_state_follows_the_rule_and_changes_at_most_once_in_ten_seconds(
        spells in prop::collection::vec(spell(), 1..40),
        level in prop_oneof![Just(850_u16), 300..950_u16],
    ) {
        let share = |thousandths: u16| Busy::from_share(f64::from(thousandths) / 1000.0);
        let start = Instant::now();
        let (mut now, mut changed) = (start, None::<Instant>);
        let settings = EdgeSettings { level: share(level), ..EdgeSettings::default() };
        let mut edge = Edge::new(settings, 2, now);
        let (mut history, mut state) = (Vec::new(), State::Open);
        for spell in spells {
            for _ in 0..spell.seconds {
                let window = Duration::from_millis(1000_u64.saturating_add_signed(spell.jitter_ms));
                now += window;
                history.push((spell.busy, spell.lag_ms));
                let may = changed.is_none_or(|at| now - at >= Duration::from_secs(10));
                let next = if may { wanted(&history, level, state) } else { state };
                let lag = Duration::from_millis(spell.lag_ms);
                let said = edge.handle_reading(Reading { busy: share(spell.busy), lag, window }, now);
                prop_assert_eq!(said, (next != state).then_some(next), "after {:?}", now - start);
                prop_assert_eq!(edge.state(), next);
                if next != state {
                    changed = Some(now);
                    state = next;
                }
            }
        }
    }
}
