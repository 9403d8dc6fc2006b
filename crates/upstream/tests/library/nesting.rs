//! A call made from inside a call, such as a token fetch, does not deadlock at full concurrency.

use std::future::ready;
use std::time::Duration;

use tidegate_upstream::{CallOptions, Gate};
use tokio::time::timeout;

use crate::stage::{gate, ok, settings};

#[tokio::test(start_paused = true)]
async fn a_nested_call_does_not_deadlock_at_full_concurrency() {
    let gate = gate("min_interval_ms = 0\nmax_concurrency = 4");
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let gate = gate.clone();
            tokio::spawn(async move {
                let attempt = || async {
                    // All four hold a slot before the first asks for its token.
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    let token = gate.call("api", CallOptions::default(), || ready(ok())).await;
                    token.unwrap().answer
                };
                gate.call("api", CallOptions::default(), attempt).await.map(drop).map_err(drop)
            })
        })
        .collect();
    for call in calls {
        timeout(Duration::from_secs(60), call).await.expect("it deadlocks").unwrap().unwrap();
    }
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_through_another_upstream_finds_its_own_again() {
    let one = || settings("min_interval_ms = 0\nmax_concurrency = 1");
    let gate = Gate::new([("a", one()), ("b", one())]).unwrap();
    let nested = gate.call("a", CallOptions::default(), || async {
        let inner = gate.call("b", CallOptions::default(), || async {
            gate.call("a", CallOptions::default(), || ready(ok())).await.unwrap().answer
        });
        inner.await.unwrap().answer
    });
    timeout(Duration::from_secs(60), nested).await.expect("it deadlocks").unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_from_a_spawned_task_says_itself_that_it_is_nested() {
    let gate = gate("min_interval_ms = 0\nmax_concurrency = 1");
    let spawned = |nested| {
        let gate = gate.clone();
        let options = CallOptions { nested, ..CallOptions::default() };
        async move {
            let inner = gate.clone();
            let attempt = || {
                let (inner, options) = (inner.clone(), options.clone());
                async move {
                    let token = tokio::spawn(async move {
                        inner.call("api", options, || ready(ok())).await.map(|done| done.answer).map_err(drop)
                    });
                    token.await.unwrap().unwrap()
                }
            };
            timeout(Duration::from_secs(60), gate.call("api", CallOptions::default(), attempt)).await
        }
    };
    assert!(spawned(true).await.is_ok());
    assert!(spawned(false).await.is_err(), "it waits for the slot of the call around it");
}
