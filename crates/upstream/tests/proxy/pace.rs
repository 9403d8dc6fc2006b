//! G1, G2 judged from the upstream's side.

use std::time::Duration;

use tidegate_upstreams::{Answer, Script};

use crate::stage::Stage;

#[tokio::test(start_paused = true)]
async fn g1_g2_a_thousand_queued_calls_of_ten_keys_in_the_upstreams_own_log() {
    // Each takes longer than four intervals now and then, so that the slots matter too.
    let script = Script { otherwise: Answer::default().with_delay_ms(700), ..Script::default() };
    let stage = Stage::with(script, "dedupe = []").await;
    let ask = |n: usize| {
        let key = format!("key-{}", n % 10);
        let request = stage.get(&format!("/api/x?n={n}"));
        let request =
            request.header("tidegate-key", &key).header("x-key", &key).header("tidegate-max-wait-ms", "900000");
        stage.asking(request, "")
    };
    // Key by key, the worst order for fairness.
    let mut calls = Vec::new();
    for key in 0..10 {
        calls.extend((0..100).map(|n| ask(n * 10 + key)));
        stage.until(|gate| gate.counters.started as usize + gate.waiting == calls.len()).await;
    }
    let person = stage.get("/api/person").header("tidegate-priority", "interactive").header("x-key", "person");
    let before = stage.upstream.log().len();
    let person = stage.asking(person, "");
    for call in calls {
        assert_eq!(call.await.unwrap().status, 200);
    }
    assert_eq!(person.await.unwrap().status, 200);

    let log = stage.upstream.log();
    assert_eq!(log.len(), 1001);
    assert!(log.min_gap().unwrap() >= Duration::from_millis(250), "{:?}", log.min_gap());
    assert!(log.max_in_flight() <= 4, "{}", log.max_in_flight());
    let background = log.filter(|entry| entry.key != "person");
    // While all compete: from when the last key had come, to when the first has done.
    let competing = background.filter(|entry| entry.at_ns > log.entries[before].at_ns).first(850);
    assert!(competing.jain_by_key() >= 0.95, "{}", competing.jain_by_key());
    assert!(competing.worst_jain_by_key(10) >= 0.95, "{}", competing.worst_jain_by_key(10));
    let place = log.entries.iter().position(|entry| entry.key == "person").unwrap();
    assert!(place <= before + 2, "the person came after {} and started as number {place}", before);
}
