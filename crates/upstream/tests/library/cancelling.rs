//! G3: a caller that goes away gives back its place, and its slot, always.

use std::future::{Future, pending, ready};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tidegate_upstream::CallOptions;
use tokio::time::{Instant, advance, sleep, timeout};

use crate::stage::{Notebook, gate, ok, settle, spawn};

#[tokio::test(start_paused = true)]
async fn g3_six_cancelled_waiters_do_not_delay_the_seventh() {
    let (gate, notebook, since) = (gate(""), Notebook::default(), Instant::now());
    spawn(&gate, CallOptions::default(), &notebook, "first", 0, ok()).await.unwrap().unwrap();
    let six: Vec<_> = (0..6).map(|_| spawn(&gate, CallOptions::default(), &notebook, "gone", 0, ok())).collect();
    settle().await;
    let seventh = spawn(&gate, CallOptions::default(), &notebook, "seventh", 0, ok());
    settle().await;
    six.iter().for_each(|call| call.abort());
    seventh.await.unwrap().unwrap();
    assert_eq!(notebook.who(), ["first", "seventh"]);
    assert_eq!(notebook.starts(since)[1], 250);
}

#[tokio::test(start_paused = true)]
async fn g3_a_waiter_cancelled_as_it_is_woken_loses_no_wake_up() {
    let (gate, notebook, since) = (gate(""), Notebook::default(), Instant::now());
    gate.call("api", CallOptions::default(), || ready(ok())).await.unwrap();
    let mut woken = Box::pin(gate.call("api", CallOptions::default(), || ready(ok())));
    assert!(poll_once(woken.as_mut()).await.is_pending());
    let next = spawn(&gate, CallOptions::default(), &notebook, "next", 0, ok());
    settle().await;
    // Its turn comes and it is told so, but nobody polls it before it is dropped.
    advance(Duration::from_millis(251)).await;
    settle().await;
    assert!(notebook.notes().is_empty(), "the other one's turn it is");
    drop(woken);
    next.await.unwrap().unwrap();
    assert_eq!(notebook.starts(since), [251]);
}

#[tokio::test(start_paused = true)]
async fn g3_a_future_that_nobody_polls_stops_the_others_for_a_second_at_most() {
    let (gate, notebook, since) = (gate(""), Notebook::default(), Instant::now());
    gate.call("api", CallOptions::default(), || ready(ok())).await.unwrap();
    let mut frozen = Box::pin(gate.call("api", CallOptions::default(), || ready(ok())));
    assert!(poll_once(frozen.as_mut()).await.is_pending());
    spawn(&gate, CallOptions::default(), &notebook, "next", 0, ok()).await.unwrap().unwrap();
    let started = notebook.starts(since)[0];
    assert!((1250..1260).contains(&started), "{started}");
    // It kept its place and goes when it is polled again.
    frozen.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn g3_a_call_aborted_before_its_response_gives_its_slot_back() {
    let gate = gate("max_concurrency = 1\nmin_interval_ms = 0");
    let hung = timeout(
        Duration::from_secs(1),
        gate.call("api", CallOptions::default(), pending::<http::Response<bytes::Bytes>>),
    );
    assert!(hung.await.is_err());
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    gate.call("api", CallOptions::default(), || ready(ok())).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn g3_a_call_that_panics_gives_its_slot_back() {
    let gate = gate("max_concurrency = 1\nmin_interval_ms = 0");
    let other = gate.clone();
    let panics = tokio::spawn(async move {
        let attempt = || async { if true { panic!("a bug of the caller") } else { ok() } };
        other.call("api", CallOptions::default(), attempt).await.map(drop).map_err(drop)
    });
    assert!(panics.await.unwrap_err().is_panic());
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    gate.call("api", CallOptions::default(), || ready(ok())).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn g3_a_storm_of_cancellations_leaves_nothing_behind() {
    let (gate, notebook) = (gate("min_interval_ms = 10\nmax_concurrency = 3"), Notebook::default());
    let mut calls = Vec::new();
    for n in 0..600_u64 {
        let options = CallOptions {
            max_wait: (n % 3 == 0).then(|| Duration::from_millis(n % 97 * 20)),
            ..crate::stage::keyed(&format!("k{}", n % 7))
        };
        let call = spawn(&gate, options, &notebook, "", n % 50, ok());
        calls.push(tokio::spawn(async move {
            sleep(Duration::from_millis(n * 37 % 1500)).await;
            call.abort();
        }));
    }
    for call in calls {
        call.await.unwrap();
    }
    settle().await;
    let after = gate.snapshot("api").unwrap();
    assert_eq!((after.running, after.waiting, after.keys), (0, 0, 0));
    assert!(notebook.max_running() <= 3);
    assert!(notebook.min_gap() >= Duration::from_millis(10));
    gate.call("api", CallOptions::default(), || ready(ok())).await.unwrap();
}

#[tokio::test]
async fn a_gate_outlives_the_runtime_that_its_timer_ran_in() {
    let gate = gate("min_interval_ms = 20");
    let inside = gate.clone();
    let once = move || {
        let gate = inside.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                for _ in 0..3 {
                    gate.call("api", CallOptions::default(), || ready(ok())).await.unwrap();
                }
            });
        })
    };
    tokio::task::spawn_blocking(move || (0..2).for_each(|_| once().join().unwrap())).await.unwrap();
    assert_eq!(gate.snapshot("api").unwrap().counters.started, 6);
}

async fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
