//! 1,000 queued calls of 10 keys, in the upstream's own log (G1, G2).

use std::time::Duration;

use tidegate_upstreams::{Answer, Log, Rule, Script, Then};

use crate::stage::Stage;

const KEYS: usize = 10;
const CALLS: usize = 1000;
/// Calls at once.
const SLOTS: usize = 4;

#[tokio::test]
async fn g1_g2_a_thousand_queued_calls_of_ten_keys_start_spaced_bounded_and_in_turns() {
    run(Duration::from_millis(10)).await;
}

#[tokio::test]
#[ignore = "takes four minutes: `./x bench pace`"]
async fn g1_g2_a_thousand_calls_at_the_pace_of_a_youtube_like_upstream() {
    run(Duration::from_millis(250)).await;
}

async fn run(interval: Duration) {
    let ms = interval.as_millis() as u64;
    // The first ones wait until everybody is in line. Later every fourth takes so long that the slots matter too.
    let door =
        Rule { then: Then::PassOn, ..Rule::new("GET /x", vec![Answer::default().with_hold("door"); SLOTS]).unwrap() };
    let quick = || Answer::default().with_delay_ms(ms / 2);
    let answers = [quick(), quick(), quick(), Answer::default().with_delay_ms(ms * 9)];
    let usual = Rule { then: Then::Cycle, ..Rule::new("GET /x", answers).unwrap() };
    let script = Script { rules: vec![door, usual], ..Script::default() };
    let toml = format!("min_interval_ms = {ms}\nmax_concurrency = {SLOTS}\nmax_wait_ms = 900000\ndedupe = []");
    let stage = Stage::over_http2(script, &toml).await;
    let ask = |key: &str, priority: &str| {
        let request = stage.request("GET", "/api/x").header("tidegate-key", key).header("x-key", key);
        stage.asking(request.header("tidegate-priority", priority), "")
    };
    // Key by key, the worst order for fairness.
    let mut calls: Vec<_> = (0..CALLS).map(|n| ask(&format!("key-{}", n * KEYS / CALLS), "background")).collect();
    stage.until("tidegate_gate_queue{upstream=\"api\"", |waiting| waiting == (CALLS - SLOTS) as f64).await;
    calls.push(ask("person", "interactive"));
    stage.until("tidegate_gate_queue{upstream=\"api\",priority=\"interactive\"", |waiting| waiting == 1.0).await;
    assert_eq!(stage.upstream.log().len(), SLOTS);
    stage.upstream.release("door");
    for call in calls {
        assert_eq!(call.await.unwrap().status, 200);
    }
    judge(&stage.upstream.log(), interval);
}

fn judge(log: &Log, interval: Duration) {
    assert_eq!(log.len(), CALLS + 1);
    assert!(log.max_in_flight() <= SLOTS as u32, "{} at once", log.max_in_flight());
    let place = log.entries.iter().position(|entry| entry.key == "person").unwrap();
    assert!(place < SLOTS + 2, "the person's call was number {place}");
    let mut queued = log.filter(|entry| entry.key != "person");
    queued.entries.drain(..SLOTS);
    // While all compete: the first key runs out of calls a little earlier, for its first ones came before the queue.
    let competing = queued.first(900);
    // Over ten rounds of turns: two neighbours may overtake each other between the gate and the log.
    let (fair, worst) = (competing.jain_by_key(), competing.worst_jain_by_key(10 * KEYS));
    // The distance counts from a call's write and the kernel stamps that write, so a busy machine can only widen this.
    let gap = log.gaps_on_the_wire().into_iter().min().unwrap();
    println!(
        "{} calls: shortest gap {gap:?}, at most {} at once, Jain {fair:.4} (worst 100: {worst:.4}), person after {}",
        log.len(),
        log.max_in_flight(),
        place - SLOTS
    );
    assert!(gap >= interval, "{gap:?}");
    assert!(fair >= 0.95 && worst >= 0.95, "Jain {fair}, worst {worst}");
}
