//! G5–G8 over sockets: many identical requests, one upstream call.

use http::Request;
use tidegate_upstreams::{Answer, Fault, Rule, Script};
use tokio::time::Instant;

use crate::stage::Stage;

/// Every answer waits at the latch `door`. Paused time would move whenever everything waits, also while bytes are on
/// their way between hundreds of sockets, and end a held call by its own timeout.
fn held(answer: Answer) -> Script {
    Script { rules: vec![Rule::new("* /x", [answer.with_hold("door")]).unwrap()], ..Script::default() }
}

#[tokio::test]
async fn g5_200_identical_requests_are_one_upstream_call() {
    let answer = Answer::default().with_header("set-cookie", "a=1");
    for (toml, method, body) in [("", "GET", ""), ("dedupe = [\"POST /x\"]", "POST", "{\"continuation\":\"c\"}")] {
        let stage = Stage::with(held(answer.clone()), toml).await;
        let request = || Request::builder().method(method).uri(stage.url("/api/x?k=1"));
        let calls: Vec<_> = (0..200).map(|_| stage.asking(request(), body)).collect();
        stage.until(|gate| gate.callers == 200).await;
        stage.upstream.release("door");
        let mut answers = Vec::new();
        for call in calls {
            answers.push(call.await.unwrap());
        }
        assert_eq!(stage.upstream.log().len(), 1, "{method}");
        assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body));
        assert_eq!(answers.iter().filter(|answer| answer.header("tidegate-shared") == Some("1")).count(), 199);
        let cookies: Vec<_> = answers.iter().filter(|answer| answer.headers.contains_key("set-cookie")).collect();
        assert_eq!(cookies.len(), 1);
        assert_eq!(cookies[0].header("tidegate-shared"), None);
        let after = stage.until(|gate| gate.callers == 0).await;
        assert_eq!((after.running, after.flights), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn g5_the_answers_all_come_within_a_tenth_of_one_calls_time() {
    let script = Script { latency_ms: 200, ..Script::default() };
    let stage = Stage::with(script, "").await;
    // Connections first, so that the time is the call's and not their opening's.
    let warm: Vec<_> = (0..200).map(|n| stage.asking(stage.get(&format!("/nowhere/{n}")), "")).collect();
    for call in warm {
        call.await.unwrap();
    }
    let since = Instant::now();
    let calls: Vec<_> = (0..200).map(|_| stage.asking(stage.get("/api/x"), "")).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status, 200);
    }
    assert_eq!(stage.upstream.log().len(), 1);
    assert!(since.elapsed().as_millis() <= 220, "{:?}", since.elapsed());
}

#[tokio::test]
async fn g5_the_same_failure_is_everybodys() {
    let stage = Stage::with(held(Answer::default().with_fault(Fault::Close)), "").await;
    let calls: Vec<_> = (0..50).map(|_| stage.asking(stage.get("/api/x"), "")).collect();
    stage.until(|gate| gate.callers == 50).await;
    stage.upstream.release("door");
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!((answer.status, answer.problem().as_str()), (502, "upstream_unreachable"));
    }
    assert_eq!(stage.upstream.log().len(), 1);
    assert_eq!(stage.snapshot().counters.throttled, 0);
}

#[tokio::test]
async fn g7_the_first_client_hangs_up_and_the_others_still_get_the_one_call() {
    let stage = Stage::with(held(Answer::default()), "").await;
    let first = stage.asking(stage.get("/api/x"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let others: Vec<_> = (0..20).map(|_| stage.asking(stage.get("/api/x"), "")).collect();
    stage.until(|gate| gate.callers == 21).await;
    first.abort();
    stage.until(|gate| gate.callers == 20).await;
    stage.upstream.release("door");
    for call in others {
        assert_eq!(call.await.unwrap().status, 200);
    }
    assert_eq!(stage.upstream.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn g7_when_every_client_has_hung_up_the_upstream_call_is_ended() {
    let stage = Stage::with(held(Answer::default()), "").await;
    let calls: Vec<_> = (0..5).map(|_| stage.asking(stage.get("/api/x"), "")).collect();
    stage.until(|gate| gate.callers == 5).await;
    stage.upstream.wait_for_arrivals(1).await;
    calls.iter().for_each(|call| call.abort());
    let log = stage.upstream.wait_until_idle().await;
    assert!(!log.entries[0].whole);
    assert_eq!(stage.snapshot().running, 0);
}

#[tokio::test(start_paused = true)]
async fn g8_an_answer_over_the_bound_goes_to_each_by_its_own_paced_call() {
    let stage = Stage::new("dedupe_max_bytes = 100000\nmin_interval_ms = 50").await;
    let calls: Vec<_> = (0..3).map(|_| stage.asking(stage.get("/api/bytes/1mib"), "")).collect();
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!((answer.body.len(), answer.header("tidegate-shared")), (1 << 20, None));
    }
    let log = stage.upstream.log();
    assert_eq!(log.len(), 3);
    assert!(log.min_gap().unwrap().as_millis() >= 50, "{:?}", log.gaps());
}
