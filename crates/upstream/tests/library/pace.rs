//! G1–G3: spacing, slots, turns, the queue's bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tidegate_upstream::{CallError, CallOptions, Priority, Refusal};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::stage::{Notebook, gate, keyed, ok, settle, spawn};

#[tokio::test(start_paused = true)]
async fn g1_a_burst_becomes_a_queue_that_drains_at_a_steady_rate() {
    let (gate, notebook, since) = (gate(""), Notebook::default(), Instant::now());
    let calls: Vec<_> = (0..12).map(|_| spawn(&gate, CallOptions::default(), &notebook, "", 10, ok())).collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let starts = notebook.starts(since);
    assert_eq!(starts.len(), 12);
    for (n, &ms) in (0..).zip(&starts) {
        // Each start is due 250 ms after the one before, and a timer of a millisecond's grain wakes it.
        assert!((n * 250..=n * 252).contains(&ms), "start {n} at {ms} ms of {starts:?}");
    }
    assert!(notebook.min_gap() >= Duration::from_millis(250));
}

#[tokio::test(start_paused = true)]
async fn g1_at_most_four_run_at_once() {
    let (gate, notebook, since) = (gate("min_interval_ms = 0"), Notebook::default(), Instant::now());
    let calls: Vec<_> = (0..12).map(|_| spawn(&gate, CallOptions::default(), &notebook, "", 1000, ok())).collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(notebook.max_running(), 4);
    assert_eq!(since.elapsed().as_millis(), 3000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn g1_64_tasks_on_8_threads_never_pass_the_cap() {
    let gate = gate("min_interval_ms = 0\nmax_concurrency = 4\nmax_queue = 100");
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut tasks = JoinSet::new();
    for task in 0..64 {
        let (gate, running, most) = (gate.clone(), Arc::clone(&running), Arc::clone(&most));
        tasks.spawn(async move {
            for _ in 0..40 {
                let attempt = || async {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    ok()
                };
                gate.call("api", keyed(&task.to_string()), attempt).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(most.load(Ordering::SeqCst), 4);
    let after = gate.snapshot("api").unwrap();
    assert_eq!((after.running, after.waiting, after.counters.started), (0, 0, 64 * 40));
}

#[tokio::test(start_paused = true)]
async fn g2_keys_take_turns_whatever_order_their_calls_came_in() {
    let (gate, notebook) = (gate(""), Notebook::default());
    let mut calls = Vec::new();
    for key in ["a", "a", "a", "a", "b", "b", "c"] {
        calls.push(spawn(&gate, keyed(key), &notebook, key, 0, ok()));
        settle().await;
    }
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(notebook.who().concat(), "aabcaba");
}

#[tokio::test(start_paused = true)]
async fn g2_a_person_passes_the_background_within_two_starts() {
    let (gate, notebook) = (gate(""), Notebook::default());
    let mut calls: Vec<_> = (0..20).map(|n| spawn(&gate, keyed(&format!("k{n}")), &notebook, "b", 0, ok())).collect();
    settle().await;
    let options = CallOptions { priority: Some(Priority::Interactive), ..keyed("me") };
    calls.push(spawn(&gate, options, &notebook, "me", 0, ok()));
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let place = notebook.who().iter().position(|who| who == "me").unwrap();
    assert_eq!(place, 1, "only the call that had started before it came is ahead of it");
}

#[tokio::test(start_paused = true)]
async fn g3_a_full_queue_says_so_at_once() {
    let (gate, notebook) = (gate("max_queue = 2"), Notebook::default());
    let calls: Vec<_> = (0..3).map(|_| spawn(&gate, CallOptions::default(), &notebook, "", 0, ok())).collect();
    settle().await;
    let over = gate.call("api", CallOptions::default(), || async { ok() }).await;
    assert!(matches!(over, Err(CallError::Refused(Refusal::QueueFull { waiting: 2, .. }))), "{over:?}");
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn g3_a_wait_known_to_be_too_long_is_refused_at_once_and_another_at_its_deadline() {
    let gate = gate("max_concurrency = 1");
    let notebook = Notebook::default();
    let long = spawn(&gate, CallOptions::default(), &notebook, "", 60_000, ok());
    settle().await;
    let since = Instant::now();
    let wait = |ms| CallOptions { max_wait: Some(Duration::from_millis(ms)), ..CallOptions::default() };
    // The spacing alone is longer than 100 ms.
    let known = gate.call("api", wait(100), || async { ok() }).await;
    assert!(matches!(known, Err(CallError::Refused(Refusal::WaitExceeded { needed: Some(_), .. }))), "{known:?}");
    assert_eq!(since.elapsed(), Duration::ZERO);
    // How long the running call takes nobody knows.
    let waited = gate.call("api", wait(2000), || async { ok() }).await;
    assert!(matches!(waited, Err(CallError::Refused(Refusal::WaitExceeded { needed: None, .. }))), "{waited:?}");
    assert_eq!(since.elapsed().as_millis(), 2000);
    assert_eq!(gate.snapshot("api").unwrap().waiting, 0);
    long.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unknown_upstream_is_answered_with_the_names_there_are() {
    let error = gate("").call("apj", CallOptions::default(), || async { ok() }).await.unwrap_err();
    assert_eq!(error.to_string(), "no upstream is named \"apj\"; configured: api");
}
