//! G9–G18 through the shell: who waits for how long, and what is told.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use tidegate_upstream::{CallError, CallOptions, Operation, Outcome, Refusal, Scope};
use tokio::time::{Instant, sleep};

use crate::stage::{Notebook, gate, keyed, ok, settle, spawn, status, throttled};

#[tokio::test(start_paused = true)]
async fn g9_g18_a_429_holds_every_call_and_the_queue_drains_at_the_paced_rate_afterwards() {
    let gate = gate("max_attempts = 1");
    let (notebook, since) = (Notebook::default(), Instant::now());
    let first = spawn(&gate, keyed("room-0"), &notebook, "", 0, throttled("42"));
    let calls: Vec<_> =
        (1..=10).map(|room| spawn(&gate, keyed(&format!("room-{room}")), &notebook, "", 0, ok())).collect();
    let error = first.await.unwrap().unwrap_err();
    assert_eq!(error.rate_limited().unwrap().retry_after_s(), 42);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let starts = notebook.starts(since);
    for (n, &ms) in (0..).zip(&starts[1..]) {
        let due = 42_000 + n * 250;
        assert!((due..=due + 2 * (n + 1)).contains(&ms), "start {n} of the queue at {ms} ms of {starts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn g17_60_s_then_1_s_stays_60_s_and_1_s_then_60_s_becomes_60_s() {
    for (first, second) in [("60", "1"), ("1", "60")] {
        let gate = gate("max_attempts = 1\nmin_interval_ms = 0");
        let (notebook, since) = (Notebook::default(), Instant::now());
        let early = spawn(&gate, CallOptions::default(), &notebook, "", 100, throttled(first));
        let late = spawn(&gate, CallOptions::default(), &notebook, "", 200, throttled(second));
        early.await.unwrap().unwrap_err();
        late.await.unwrap().unwrap_err();
        spawn(&gate, CallOptions::default(), &notebook, "", 0, ok()).await.unwrap().unwrap();
        let started = notebook.starts(since)[2];
        let due = if first == "60" { 60_100 } else { 60_200 };
        assert!((due..due + 3).contains(&started), "{first} then {second}: {started}");
    }
}

#[tokio::test(start_paused = true)]
async fn g17_a_late_success_of_an_older_call_does_not_clear_a_throttle() {
    let gate = gate("max_attempts = 1\nmin_interval_ms = 0");
    let (notebook, since) = (Notebook::default(), Instant::now());
    let old = spawn(&gate, CallOptions::default(), &notebook, "", 5000, ok());
    settle().await;
    let new = spawn(&gate, CallOptions::default(), &notebook, "", 10, throttled("30"));
    new.await.unwrap().unwrap_err();
    old.await.unwrap().unwrap();
    spawn(&gate, CallOptions::default(), &notebook, "", 0, ok()).await.unwrap().unwrap();
    assert!(notebook.starts(since)[2] >= 30_010);
}

#[tokio::test(start_paused = true)]
async fn g16_every_form_of_retry_after_holds_for_its_time_and_never_for_none() {
    for (value, seconds) in [
        ("42", 42),
        ("299.997", 300),
        ("-3", 30),
        ("0", 30),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 30),
        ("18446744073709551615", 300),
        ("991, 98", 300),
        ("soon", 30),
    ] {
        let gate = gate("max_attempts = 1");
        let error = gate.call("api", CallOptions::default(), || async { throttled(value) }).await.unwrap_err();
        assert_eq!(error.rate_limited().unwrap().retry_after_s(), seconds, "{value}");
    }
    let both = gate("max_attempts = 1");
    let two = || async {
        let mut response = throttled("7");
        response.headers_mut().append("retry-after", "70".parse().unwrap());
        response
    };
    assert_eq!(
        both.call("api", CallOptions::default(), two).await.unwrap_err().rate_limited().unwrap().retry_after_s(),
        70
    );
}

#[tokio::test(start_paused = true)]
async fn g18_a_call_whose_deadline_comes_before_the_cooldowns_end_is_told_at_once() {
    let gate = gate("max_attempts = 1");
    gate.call("api", CallOptions::default(), || async { throttled("60") }).await.unwrap_err();
    sleep(Duration::from_millis(15_500)).await;
    let since = Instant::now();
    let options = CallOptions { max_wait: Some(Duration::from_secs(30)), ..CallOptions::default() };
    let error = gate.call("api", options, || async { ok() }).await.unwrap_err();
    let limited = error.rate_limited().unwrap();
    assert_eq!(since.elapsed(), Duration::ZERO);
    assert!(limited.synthetic);
    assert_eq!(limited.retry_after_s(), 45, "44.5 s are left, rounded up");
    // Those who wait already are told when the cooldown begins.
    assert!(matches!(error, CallError::Refused(Refusal::RateLimited(_))));
}

#[tokio::test(start_paused = true)]
async fn g18_a_cooldown_that_begins_tells_the_waiting_calls_whose_deadline_it_passes() {
    let gate = gate("max_attempts = 1\nmax_concurrency = 1");
    let notebook = Notebook::default();
    let first = spawn(&gate, CallOptions::default(), &notebook, "", 1000, throttled("60"));
    settle().await;
    let since = Instant::now();
    let patience = CallOptions { max_wait: Some(Duration::from_secs(30)), ..CallOptions::default() };
    let waiting = spawn(&gate, patience, &notebook, "", 0, ok());
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(since.elapsed().as_millis(), 1000);
    assert_eq!(error.rate_limited().unwrap().retry_after_s(), 60);
    first.await.unwrap().unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn g12_an_operations_429_is_refused_locally_with_the_last_real_limits() {
    let gate = gate("preset = \"stream-chat\"\nmax_attempts = 1");
    let named = |name| CallOptions { operation: Some(Operation::new(name)), ..CallOptions::default() };
    let limited = || async {
        let mut response = throttled("60");
        for (name, value) in [("x-ratelimit-limit", "300"), ("x-ratelimit-remaining", "0")] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response
    };
    let real = gate.call("api", named("QueryUsers"), limited).await.unwrap_err();
    assert!(!real.rate_limited().unwrap().synthetic);
    sleep(Duration::from_millis(20_500)).await;
    let local = gate.call("api", named("QueryUsers"), || async { ok() }).await.unwrap_err();
    let known = local.rate_limited().unwrap();
    assert!(known.synthetic);
    assert_eq!(known.scope, Scope::Operation(Operation::new("QueryUsers")));
    assert_eq!((known.rate.limit, known.rate.remaining), (Some(300), Some(0)));
    assert_eq!(known.retry_after_s(), 40, "39.5 s are left");
    // The soft cooldown of an exhausted limit is the whole upstream's, and over by now (G13).
    gate.call("api", named("SendMessage"), || async { ok() }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn g10_g11_the_body_tells_a_throttle_from_an_expired_token() {
    let gate = gate("preset = \"youtube\"\nmax_attempts = 1");
    let json = |status: u16, body: &'static str| {
        Response::builder().status(status).header("content-type", "application/json").body(Bytes::from(body)).unwrap()
    };
    let expired =
        r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Request contains an invalid argument."}}"#;
    let done = gate.call("api", CallOptions::default(), || async { json(400, expired) }).await.unwrap();
    assert_eq!(done.outcome, Outcome::ExpiredToken);
    let exhausted = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#;
    let error = gate.call("api", CallOptions::default(), || async { json(200, exhausted) }).await.unwrap_err();
    assert_eq!(error.rate_limited().unwrap().retry_after_s(), 30);
    let CallError::RateLimited { answer, .. } = error else { panic!("it is the upstream's own") };
    assert_eq!(answer.body(), exhausted, "the caller gets what came");
}

#[tokio::test(start_paused = true)]
async fn g11b_a_403_for_a_missing_permission_is_no_throttle_where_the_body_says_so() {
    let gate = gate("preset = \"youtube\"\nmax_attempts = 1");
    let denied = || async {
        let body = Bytes::from(r#"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#);
        Response::builder().status(403).header("content-type", "application/json").body(body).unwrap()
    };
    gate.call("api", keyed("room-1"), || async { ok() }).await.unwrap();
    let done = gate.call("api", keyed("room-2"), denied).await.unwrap();
    assert_eq!(done.outcome, Outcome::Gone);
    // Where nothing else succeeds it may as well be the address.
    sleep(Duration::from_secs(11)).await;
    gate.call("api", keyed("room-2"), denied).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn g19_answers_without_usable_headers_change_nothing() {
    let gate = gate("min_interval_ms = 0");
    for code in [200, 204, 404, 500, 503] {
        gate.call("api", CallOptions::default(), || async move { status(code) }).await.unwrap();
    }
    let after = gate.snapshot("api").unwrap();
    assert!(after.holds.is_empty());
    assert_eq!(after.counters.throttled, 0);
}

#[tokio::test(start_paused = true)]
async fn g29_observe_passes_everything_through_and_says_what_it_would_have_done() {
    let gate = gate("mode = \"observe\"");
    let since = Instant::now();
    gate.call("api", CallOptions::default(), || async { throttled("60") }).await.unwrap();
    for _ in 0..10 {
        gate.call("api", CallOptions::default(), || async { ok() }).await.unwrap();
    }
    assert_eq!(since.elapsed(), Duration::ZERO);
    let counters = gate.snapshot("api").unwrap().counters;
    assert_eq!((counters.would_wait, counters.would_retry, counters.started), (10, 1, 11));
}
