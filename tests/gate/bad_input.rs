//! Bad input at the real gate: each answer is a problem with its code, and none is counted as a throttle.

use tidegate_upstreams::{Answer, Rule, Script};

use crate::stage::Stage;

#[tokio::test]
async fn bad_input_is_a_problem_each_time_and_never_a_throttle() {
    let held = Rule::new("GET /held", [Answer::default().with_hold("door")]).unwrap();
    let script = Script { rules: vec![held], ..Script::menu() };
    let toml = "min_interval_ms = 0\nmax_concurrency = 1\nmax_queue = 1\nmax_body_bytes = 1000\ndedupe = []";
    let stage = Stage::with(script, toml).await;

    let unknown = stage.ask(stage.request("GET", "/apj/x"), "").await;
    assert_eq!(unknown.problem(), (404, "unknown_upstream".to_owned()));
    assert_eq!(unknown.json()["upstreams"], serde_json::json!(["absent", "api"]));

    for (name, value) in [("tidegate-max-wait-ms", "soon"), ("tidegate-priority", "urgent"), ("tidegate-retry", "1")] {
        let bad = stage.ask(stage.request("GET", "/api/echo").header(name, value), "").await;
        assert_eq!(bad.problem(), (400, "bad_header".to_owned()));
        assert_eq!(bad.json()["header"], name);
        assert!(bad.json()["detail"].as_str().unwrap().starts_with(name), "{}", bad.json());
    }

    let large = stage.ask(stage.request("POST", "/api/echo"), vec![b'x'; 1001]).await;
    assert_eq!(large.problem(), (413, "body_too_large".to_owned()));

    let unreachable = stage.ask(stage.request("GET", "/absent/x"), "").await;
    assert_eq!(unreachable.problem(), (502, "upstream_unreachable".to_owned()));
    let detail = unreachable.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("Connection refused"), "{detail}");
    assert!(stage.upstream.log().is_empty(), "nothing of all this went out");

    let running = stage.asking(stage.request("GET", "/api/held"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let waiting = stage.asking(stage.request("GET", "/api/echo"), "");
    stage.until("tidegate_gate_queue{upstream=\"api\"", |waiting| waiting == 1.0).await;
    let full = stage.ask(stage.request("GET", "/api/echo"), "").await;
    assert_eq!(full.problem(), (503, "gate_queue_full".to_owned()));
    assert!(full.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    stage.upstream.release("door");
    assert_eq!((running.await.unwrap().status, waiting.await.unwrap().status), (200, 200));

    for series in ["tidegate_gate_throttles_total", "tidegate_gate_synthetic_total", "tidegate_gate_cooldown_seconds"] {
        assert_eq!(stage.counted(series).await, 0.0, "{series}");
    }
    assert_eq!(stage.counted("tidegate_gate_problems_total").await, 7.0);
    assert_eq!(stage.ask(stage.request("GET", "/api/echo"), "").await.status, 200);
}
