//! G5–G8: one upstream call for all who make the same one at the same time.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use tidegate_upstream::{CallOptions, GateError, GateService, Refusal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower::Service;

use crate::client::{Broken, Client, Seen, Senders, ask, driven, get, post, read, service, whole};
use crate::stage::{gate, settle};

type Asked = JoinHandle<Result<Seen, GateError>>;

fn ask_many(
    service: &GateService<Client>,
    count: usize,
    make: impl Fn() -> http::Request<http_body_util::Full<Bytes>>,
) -> Vec<Asked> {
    let one = |_| {
        let (service, request) = (service.clone(), make());
        tokio::spawn(async move { ask(&service, request).await })
    };
    (0..count).map(one).collect()
}

/// A client whose calls take 200 ms each.
fn slow() -> Client {
    Client::new(|n, _| async move {
        sleep(Duration::from_millis(200)).await;
        let head = Response::builder().header("set-cookie", "a=1").header("x-call", n);
        whole(head, format!("answer {n}")).await
    })
}

#[tokio::test(start_paused = true)]
async fn g5_200_identical_calls_are_one_and_end_with_it() {
    for (toml, request) in [
        ("", (|| get("/x?k=1")) as fn() -> _),
        ("dedupe = [\"POST /poll\"]", || post("/poll", "{\"continuation\":\"c\"}")),
    ] {
        let (gate, client, since) = (gate(toml), slow(), Instant::now());
        let service = service(&gate, &client);
        let mut answers = Vec::new();
        for call in ask_many(&service, 200, request) {
            answers.push(call.await.unwrap().unwrap());
        }
        assert_eq!((client.calls(), since.elapsed().as_millis()), (1, 200));
        assert!(answers.iter().all(|seen| seen.status == 200 && seen.body == "answer 0"));
        assert_eq!(answers.iter().filter(|seen| seen.report.shared).count(), 199);
        assert_eq!(answers.iter().map(|seen| seen.cookies).sum::<usize>(), 1, "Set-Cookie is the first caller's");
        assert_eq!(answers.iter().find(|seen| seen.cookies == 1).map(|seen| seen.report.shared), Some(false));
        let after = gate.snapshot("api").unwrap();
        assert_eq!((after.running, after.flights, after.callers, after.waiting), (0, 0, 0, 0));
        assert_eq!(after.counters.shared, 199);
    }
}

#[tokio::test(start_paused = true)]
async fn g5_a_shared_failure_is_everybodys_and_no_throttle() {
    let gate = gate("");
    let client = Client::new(|_, _| async {
        sleep(Duration::from_millis(200)).await;
        Err(Broken)
    });
    for call in ask_many(&service(&gate, &client), 200, || get("/x")) {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the upstream call failed: the upstream broke");
    }
    assert_eq!(client.calls(), 1);
    let after = gate.snapshot("api").unwrap();
    assert_eq!((after.running, after.callers, after.counters.throttled), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn g5_a_body_that_breaks_breaks_for_all() {
    let gate = gate("");
    let client = Client::new(|_, _| async {
        let (mut sender, response) = driven(Response::builder());
        tokio::spawn(async move {
            sender.send_data(Bytes::from_static(b"half")).await.unwrap();
            sleep(Duration::from_millis(200)).await;
            sender.abort(Broken);
        });
        Ok(response)
    });
    for call in ask_many(&service(&gate, &client), 10, || get("/x")) {
        let seen = call.await.unwrap().unwrap();
        assert_eq!((seen.body, seen.broke), (Bytes::from_static(b"half"), true));
    }
    assert_eq!(client.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn g6_nothing_is_kept_when_the_shared_call_has_ended() {
    let (gate, client) = (gate("min_interval_ms = 0"), slow());
    let service = service(&gate, &client);
    for n in 0..3 {
        assert_eq!(ask(&service, get("/x")).await.unwrap().body, format!("answer {n}"));
    }
    assert_eq!(client.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn g6_a_call_has_ended_when_its_small_answer_is_here_though_nobody_has_read_it() {
    let (gate, client) = (gate("min_interval_ms = 0"), slow());
    let mut service = service(&gate, &client);
    let unread = service.call(get("/x")).await.unwrap();
    let now = gate.snapshot("api").unwrap();
    assert_eq!((now.running, now.flights, now.callers), (0, 0, 0));
    let next = ask(&service, get("/x")).await.unwrap();
    assert_eq!((next.body, next.report.shared), (Bytes::from_static(b"answer 1"), false));
    assert_eq!(read(unread).await.body, "answer 0");
}

#[tokio::test(start_paused = true)]
async fn g7_the_first_caller_leaves_and_the_others_still_get_the_one_call() {
    let (gate, client, since) = (gate(""), slow(), Instant::now());
    let calls = ask_many(&service(&gate, &client), 20, || get("/x"));
    settle().await;
    sleep(Duration::from_millis(100)).await;
    calls[0].abort();
    for call in calls.into_iter().skip(1) {
        let seen = call.await.unwrap().unwrap();
        assert_eq!((seen.body, seen.cookies), (Bytes::from_static(b"answer 0"), 0));
    }
    assert_eq!((client.calls(), since.elapsed().as_millis()), (1, 200));
}

#[tokio::test(start_paused = true)]
async fn g7_the_first_caller_leaves_in_the_middle_of_the_body() {
    let gate = gate("");
    let senders = Senders::default();
    let keep = senders.clone();
    let client = Client::new(move |n, _| {
        let (sender, response) = driven(Response::builder());
        keep.lock().unwrap().insert(n, sender);
        std::future::ready(Ok(response))
    });
    let calls = ask_many(&service(&gate, &client), 3, || get("/x"));
    settle().await;
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    sender.send_data(Bytes::from_static(b"one ")).await.unwrap();
    settle().await;
    calls[0].abort();
    settle().await;
    sender.send_data(Bytes::from_static(b"two")).await.unwrap();
    drop(sender);
    for call in calls.into_iter().skip(1) {
        assert_eq!(call.await.unwrap().unwrap().body, "one two");
    }
}

#[tokio::test(start_paused = true)]
async fn g7_a_first_caller_that_does_not_read_holds_nobody_up() {
    let gate = gate("");
    let senders = Senders::default();
    let keep = senders.clone();
    let client = Client::new(move |n, _| {
        let (sender, response) = driven(Response::builder());
        keep.lock().unwrap().insert(n, sender);
        std::future::ready(Ok(response))
    });
    let mut paced = service(&gate, &client);
    let unread = paced.call(get("/x")).await.unwrap();
    let follower = ask_many(&paced, 1, || get("/x"));
    settle().await;
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    for piece in ["one ", "two ", "three"] {
        sender.send_data(Bytes::from(piece)).await.unwrap();
        settle().await;
    }
    drop(sender);
    for call in follower {
        assert_eq!(call.await.unwrap().unwrap().body, "one two three");
    }
    assert_eq!((client.calls(), gate.snapshot("api").unwrap().running), (1, 0));
    assert_eq!(read(unread).await.body, "one two three", "and it may still read what came");
}

#[tokio::test(start_paused = true)]
async fn g7_the_last_one_leaving_cancels_the_shared_call() {
    for running in [false, true] {
        let (gate, client) = (gate("min_interval_ms = 1000"), slow());
        let service = service(&gate, &client);
        if !running {
            // So that the shared call waits in line.
            ask(&service, get("/other")).await.unwrap();
        }
        let calls = ask_many(&service, 5, || get("/x"));
        settle().await;
        sleep(Duration::from_millis(100)).await;
        let during = gate.snapshot("api").unwrap();
        assert_eq!((during.running, during.waiting), if running { (1, 0) } else { (0, 1) });
        for call in calls {
            assert_eq!(gate.snapshot("api").unwrap().flights, 1);
            call.abort();
            settle().await;
        }
        let after = gate.snapshot("api").unwrap();
        assert_eq!((after.running, after.waiting, after.flights, after.callers), (0, 0, 0, 0), "running: {running}");
    }
}

#[tokio::test(start_paused = true)]
async fn g7_each_callers_own_deadline_ends_only_its_own_wait() {
    let (gate, client, since) = (gate("min_interval_ms = 1000"), slow(), Instant::now());
    let service = service(&gate, &client);
    ask(&service, get("/other")).await.unwrap();
    let patient = ask_many(&service, 2, || get("/x"));
    settle().await;
    let hasty = ask_many(&service, 1, || {
        let options = CallOptions { max_wait: Some(Duration::from_millis(300)), ..CallOptions::default() };
        let mut request = get("/x");
        request.extensions_mut().insert(options);
        request
    });
    for call in hasty {
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error, GateError::Refused(Refusal::WaitExceeded { .. })), "{error:?}");
        assert_eq!(since.elapsed().as_millis(), 500, "200 ms of the call before, and its own 300");
    }
    for call in patient {
        call.await.unwrap().unwrap();
    }
    assert_eq!((client.calls(), since.elapsed().as_millis()), (2, 1200));
}

#[tokio::test(start_paused = true)]
async fn g7_each_retry_is_a_new_flight_of_all_its_callers() {
    let gate = gate("min_interval_ms = 0");
    let client = Client::new(|n, _| async move {
        sleep(Duration::from_millis(200)).await;
        match n {
            0 | 1 => whole(Response::builder().status(429).header("retry-after", "2"), "").await,
            _ => whole(Response::builder(), "at last").await,
        }
    });
    for call in ask_many(&service(&gate, &client), 50, || get("/x")) {
        let seen = call.await.unwrap().unwrap();
        assert_eq!((seen.status, seen.body, seen.report.attempts), (200, Bytes::from_static(b"at last"), 3));
    }
    assert_eq!(client.calls(), 3);
    assert_eq!(gate.snapshot("api").unwrap().counters.throttled, 2);
}

#[tokio::test(start_paused = true)]
async fn g7_a_throttles_body_that_never_ends_keeps_neither_its_callers_nor_its_slot() {
    let gate = gate("min_interval_ms = 0\nmax_concurrency = 1");
    let senders = Senders::default();
    let keep = senders.clone();
    let client = Client::new(move |n, _| {
        let status = if n == 0 { 429 } else { 200 };
        let (sender, response) = driven(Response::builder().status(status).header("retry-after", "2"));
        // The first body hangs, the second ends.
        (n == 0).then(|| keep.lock().unwrap().insert(n, sender));
        std::future::ready(Ok(response))
    });
    let since = Instant::now();
    for call in ask_many(&service(&gate, &client), 1, || get("/x")) {
        assert_eq!(call.await.unwrap().unwrap().status, 200);
    }
    assert!((2000..2100).contains(&since.elapsed().as_millis()), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn g8_two_identities_never_share_a_response() {
    let (gate, client) = (gate("min_interval_ms = 0\nmax_concurrency = 100"), slow());
    let service = service(&gate, &client);
    let with = |name: &'static str, value: &'static str| {
        move || {
            let mut request = get("/x?k=1");
            request.headers_mut().insert(name, value.parse().unwrap());
            request
        }
    };
    let calls = [
        ask_many(&service, 2, with("authorization", "Bearer a")),
        ask_many(&service, 2, with("authorization", "Bearer b")),
        ask_many(&service, 2, with("cookie", "s=1")),
        ask_many(&service, 2, with("x-api-key", "1")),
        ask_many(&service, 2, || get("/x?k=2")),
        ask_many(&service, 2, || get("/x?k=1")),
        // Not named safe.
        ask_many(&service, 2, || post("/x?k=1", "")),
    ];
    for call in calls.into_iter().flatten() {
        call.await.unwrap().unwrap();
    }
    assert_eq!(client.calls(), 8);
}

#[tokio::test(start_paused = true)]
async fn g8_an_answer_that_grows_too_long_is_the_first_callers_and_the_others_call_for_themselves() {
    for declared in [false, true] {
        let gate = gate("dedupe_max_bytes = 1000\nmin_interval_ms = 100");
        let client = Client::new(move |n, _| async move {
            let head = Response::builder();
            let head = if declared { head.header("content-length", "1200") } else { head };
            let (mut sender, response) = driven(head);
            tokio::spawn(async move {
                for _ in 0..12 {
                    sender.send_data(vec![b'a' + n as u8; 100].into()).await.unwrap();
                    sleep(Duration::from_millis(10)).await;
                }
            });
            Ok(response)
        });
        let since = Instant::now();
        let mut bodies = Vec::new();
        for call in ask_many(&service(&gate, &client), 3, || get("/x")) {
            let seen = call.await.unwrap().unwrap();
            assert!(!seen.report.shared && !seen.broke);
            bodies.push(seen.body);
        }
        bodies.sort();
        assert_eq!(bodies, [vec![b'a'; 1200], vec![b'b'; 1200], vec![b'c'; 1200]].map(Bytes::from));
        assert_eq!(client.calls(), 3);
        assert!(since.elapsed() >= Duration::from_millis(200 + 110), "paced: {:?}", since.elapsed());
        assert_eq!(gate.snapshot("api").unwrap().running, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn g3_g8_a_stream_of_events_is_not_shared_and_reaches_its_caller_at_once() {
    let gate = gate("min_interval_ms = 0");
    let senders = Senders::default();
    let keep = senders.clone();
    let client = Client::new(move |n, _| {
        let (sender, response) = driven(Response::builder().header("content-type", "text/event-stream"));
        keep.lock().unwrap().insert(n, sender);
        std::future::ready(Ok(response))
    });
    let calls = ask_many(&service(&gate, &client), 6, || get("/events"));
    settle().await;
    assert_eq!(client.calls(), 6, "a stream's slot ends with its head, so more than four can be open");
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    senders.lock().unwrap().clear();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().status, 200);
    }
}
