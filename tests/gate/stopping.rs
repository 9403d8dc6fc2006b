//! A stop ends what is under way well (O9).

use std::time::Duration;

use tidegate_upstreams::{Answer, Rule, Script};
use tokio::time::sleep;

use crate::stage::Stage;

#[tokio::test]
async fn o9_calls_under_way_are_answered_when_the_gate_stops() {
    let held = Rule::new("GET /x", [Answer::default().with_hold("door")]).unwrap();
    let script = Script { rules: vec![held], ..Script::default() };
    let mut stage = Stage::with(script, "max_concurrency = 1\ndedupe = []\nmin_interval_ms = 0").await;
    let running = stage.asking(stage.request("GET", "/api/x"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let waiting = stage.asking(stage.request("GET", "/api/y"), "");
    stage.until("tidegate_gate_queue{upstream=\"api\"", |waiting| waiting == 1.0).await;
    stage.gate.ask_to_stop();
    // New connections end first; who has one, or waits in line, is served.
    while tokio::net::TcpStream::connect(stage.gate.address).await.is_ok() {
        sleep(Duration::from_millis(20)).await;
    }
    stage.upstream.release("door");
    assert_eq!((running.await.unwrap().status, waiting.await.unwrap().status), (200, 200));
    assert!(stage.gate.ends_well());
}
