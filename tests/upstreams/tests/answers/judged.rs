//! The log judges its callers rightly: a good one passes and a bad one does not.

use std::time::Duration;

use tidegate_upstreams::{Answer, Script, Upstream};
use tokio::time::sleep;

use crate::caller::{ask, call, get};

#[tokio::test(start_paused = true)]
async fn g1_spacing_is_judged_in_the_tests_own_time() {
    let upstream = Upstream::start().await.unwrap();
    for _ in 0..4 {
        get(&upstream, "/echo").await;
        sleep(Duration::from_millis(250)).await;
    }
    let gaps = upstream.log().gaps();
    assert!(gaps.len() == 3 && gaps.iter().all(|gap| *gap >= Duration::from_millis(250)), "{gaps:?}");
    get(&upstream, "/echo").await;
    get(&upstream, "/echo").await;
    assert!(upstream.log().min_gap().unwrap() < Duration::from_millis(250));
}

#[tokio::test]
async fn g1_callers_that_take_turns_never_overlap_and_a_herd_does() {
    let upstream = Upstream::start().await.unwrap();
    for _ in 0..50 {
        get(&upstream, "/bytes/1mib").await;
    }
    assert_eq!(upstream.log().max_in_flight(), 1);
    let held = Answer::default().with_hold("door");
    upstream.set_script(Script { otherwise: held, ..Script::default() });
    let herd: Vec<_> = (0..10).map(|n| get_owned(&upstream, format!("/{n}"))).collect();
    let (_, ()) = tokio::join!(futures_util::future::join_all(herd), async {
        upstream.wait_for_arrivals(60).await;
        upstream.release("door");
    });
    assert_eq!(upstream.log().max_in_flight(), 10);
    assert!(upstream.wait_until_idle().await.entries.iter().all(|entry| entry.whole));
}

async fn get_owned(upstream: &Upstream, path: String) {
    get(upstream, &path).await;
}

#[tokio::test]
async fn g2_fairness_is_judged_by_the_keys_of_the_calls() {
    let upstream = Upstream::start().await.unwrap();
    for key in ["a", "b", "c", "a", "b", "c", "a", "a", "a"] {
        let mut request = ask(&upstream, "GET", "/echo", "");
        request.headers_mut().insert("x-key", key.parse().unwrap());
        call(&upstream, request).await;
    }
    let log = upstream.log();
    assert!((log.first(6).jain_by_key() - 1.0).abs() < 1e-9);
    assert!((log.jain_by_key() - 81.0 / 99.0).abs() < 1e-9);
    assert!((log.worst_jain_by_key(3) - 1.0 / 3.0).abs() < 1e-9);
}

#[tokio::test]
async fn pooled_connections_can_be_told_apart() {
    let upstream = Upstream::start().await.unwrap();
    get(&upstream, "/echo").await;
    get(&upstream, "/echo").await;
    let log = upstream.log();
    assert_ne!(log.entries[0].connection, log.entries[1].connection);
    assert_ne!(log.entries[0].peer, log.entries[1].peer);
}
