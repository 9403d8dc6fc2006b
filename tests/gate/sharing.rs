//! 200 identical calls at once are one upstream call (G5–G7). How soon all are answered is `tidegate-bench proxy`'s to say.

use tidegate_upstreams::{Answer, Fault, Rule, Script};

use crate::stage::Stage;

const CALLS: usize = 200;

/// Every answer waits at the latch `door` until all callers are there.
fn held(answer: Answer) -> Script {
    Script { rules: vec![Rule::new("* /x", [answer.with_hold("door")]).unwrap()], ..Script::default() }
}

async fn all_but_one_share(stage: &Stage) {
    stage.until("tidegate_gate_shared_total{upstream=\"api\"", |shared| shared == (CALLS - 1) as f64).await;
}

#[tokio::test]
async fn g5_200_identical_gets_or_polls_are_one_upstream_call_also_when_it_fails() {
    let fine = Answer::default().with_header("set-cookie", "a=1");
    let broken = Answer::default().with_fault(Fault::Close);
    for (answer, method, toml, status) in [
        (fine.clone(), "GET", "", 200),
        (fine, "POST", "dedupe = [\"POST /x\"]", 200),
        (Answer::status(500), "GET", "", 500),
        (broken, "GET", "", 502),
    ] {
        let stage = Stage::with(held(answer), toml).await;
        let calls: Vec<_> =
            (0..CALLS).map(|_| stage.asking(stage.request(method, "/api/x?continuation=c"), "{}")).collect();
        all_but_one_share(&stage).await;
        stage.upstream.release("door");
        let mut answers = Vec::new();
        for call in calls {
            answers.push(call.await.unwrap());
        }
        assert_eq!(stage.upstream.log().len(), 1, "{method} {status}");
        assert!(answers.iter().all(|answer| answer.status == status && answer.body == answers[0].body));
        let cookies = answers.iter().filter(|answer| answer.header("set-cookie").is_some()).count();
        assert_eq!(cookies, usize::from(status == 200), "to its first caller alone");
        assert_eq!(stage.counted("tidegate_gate_throttles_total").await, 0.0);
    }
}

#[tokio::test]
async fn g7_when_the_first_caller_hangs_up_the_others_get_the_one_call() {
    let stage = Stage::with(held(Answer::default()), "").await;
    let first = stage.asking(stage.request("GET", "/api/x"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let others: Vec<_> = (1..CALLS).map(|_| stage.asking(stage.request("GET", "/api/x"), "")).collect();
    all_but_one_share(&stage).await;
    let open = stage.counted("tidegate_gate_connections ").await;
    first.abort();
    stage.until("tidegate_gate_connections ", |now| now == open - 1.0).await;
    stage.upstream.release("door");
    for call in others {
        assert_eq!(call.await.unwrap().status, 200);
    }
    assert_eq!(stage.upstream.log().len(), 1);
}
