//! G20–G23: attempts, delays, and that backing off holds nothing.

use std::future::ready;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tidegate_upstream::{CallError, CallOptions};
use tokio::time::Instant;

use crate::stage::{Notebook, gate, ok, settle, spawn, throttled};

#[tokio::test(start_paused = true)]
async fn g20_a_429_is_tried_three_times_and_then_told_with_everything_known() {
    let gate = gate("cooldown_ms = 1000");
    let (attempts, since) = (AtomicU32::new(0), Instant::now());
    let attempt = || {
        attempts.fetch_add(1, Ordering::Relaxed);
        ready(throttled("5"))
    };
    let error = gate.call("api", CallOptions::default(), attempt).await.unwrap_err();
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
    assert_eq!(since.elapsed().as_secs(), 10);
    let CallError::RateLimited { limited, answer } = error else { panic!("it is the upstream's own") };
    assert!(!limited.synthetic);
    assert_eq!((limited.retry_after_s(), answer.status().as_u16()), (5, 429));
}

#[tokio::test(start_paused = true)]
async fn g20_attempts_start_at_0_for_each_call() {
    let gate = gate("");
    for _ in 0..2 {
        let attempts = AtomicU32::new(0);
        let attempt = || ready(if attempts.fetch_add(1, Ordering::Relaxed) < 2 { throttled("1") } else { ok() });
        let done = gate.call("api", CallOptions::default(), attempt).await.unwrap();
        assert_eq!(done.attempts, 3);
        assert!(done.waited >= Duration::from_secs(2));
    }
}

#[tokio::test(start_paused = true)]
async fn g20_a_delay_over_10_s_is_not_waited_for_and_the_call_may_say_otherwise() {
    let gate = gate("");
    let since = Instant::now();
    let answer = || ready(throttled("11"));
    gate.call("api", CallOptions::default(), answer).await.unwrap_err();
    assert_eq!(since.elapsed(), Duration::ZERO);
    let patient = CallOptions { max_retryable_delay: Some(Duration::from_secs(20)), ..CallOptions::default() };
    let attempts = AtomicU32::new(0);
    let attempt = || ready(if attempts.fetch_add(1, Ordering::Relaxed) == 0 { throttled("12") } else { ok() });
    let done = gate.call("api", patient, attempt).await.unwrap();
    assert_eq!(done.attempts, 2, "the server's delay counts, even above max_delay");
    assert_eq!(since.elapsed().as_secs(), 11 + 12);
}

#[tokio::test(start_paused = true)]
async fn g20_without_cooldown_a_call_passes_the_ones_that_are_known() {
    let gate = gate("max_attempts = 1\nmin_interval_ms = 0");
    gate.call("api", CallOptions::default(), || ready(throttled("60"))).await.unwrap_err();
    let since = Instant::now();
    let heedless = CallOptions { enable_cooldown: Some(false), ..CallOptions::default() };
    gate.call("api", heedless, || ready(ok())).await.unwrap();
    assert_eq!(since.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn g20_backing_off_does_not_hold_a_slot() {
    // The operation's own cooldown, so that another operation may go meanwhile.
    let gate = gate("preset = \"stream-chat\"\nmax_concurrency = 1");
    let notebook = Notebook::default();
    let named = |name| CallOptions { operation: Some(tidegate_upstream::Operation::new(name)), ..Default::default() };
    let retrying = spawn(&gate, named("a"), &notebook, "a", 0, throttled("9"));
    settle().await;
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    let since = Instant::now();
    gate.call("api", named("b"), || ready(ok())).await.unwrap();
    assert_eq!(since.elapsed(), Duration::ZERO);
    retrying.await.unwrap().unwrap_err();
    assert_eq!(notebook.who(), ["a", "a", "a"]);
}

#[tokio::test(start_paused = true)]
async fn g23_retries_never_multiply_an_outage() {
    let gate = gate("min_interval_ms = 0\nmax_concurrency = 1000\ncooldown_ms = 100");
    let notebook = Notebook::default();
    let calls: Vec<_> =
        (0..100).map(|_| spawn(&gate, CallOptions::default(), &notebook, "", 10, throttled("1"))).collect();
    for call in calls {
        call.await.unwrap().unwrap_err();
    }
    let made = notebook.notes().len();
    assert!((110..=120).contains(&made), "{made} calls for 100: at least 10 retries, at most 20 %");
}
