//! G9, G18–G21 over sockets: an address throttle amid the traffic of rooms, retries, what is told.

use std::time::Duration;

use http::Request;
use tidegate_upstreams::{Answer, Like, Rule, Script, Throttle};
use tokio::time::Instant;

use crate::stage::Stage;

const POLL: &str = "/api/youtubei/v1/live_chat/get_live_chat";

#[tokio::test(start_paused = true)]
async fn g9_an_address_throttle_closes_every_room_and_nothing_is_sent_during_it() {
    // The 31st call within 20 s closes the address for 20 s, and each call to a closed one would do so again.
    let throttle = Throttle { prolongs: true, ..Throttle::new(30, 20_000, 20_000) };
    let script = Script { throttle: Some(throttle), latency_ms: 400, ..Script::default() };
    let stage = Stage::with(script, "preset = \"youtube\"").await;
    let since = Instant::now();
    let rooms: Vec<_> = (0..50)
        .map(|room| {
            let request = Request::post(stage.url(POLL))
                .header("tidegate-key", format!("room-{room}"))
                .header("tidegate-max-wait-ms", "120000")
                .header("tidegate-max-attempts", "3")
                .header("x-key", format!("room-{room}"));
            // Different bodies, or they would be one call.
            let body: &'static str = Box::leak(format!("{{\"continuation\":\"{room}\"}}").into_boxed_str());
            stage.asking(request, body)
        })
        .collect();
    let mut told = 0;
    for room in rooms {
        let answer = room.await.unwrap();
        told += usize::from(answer.status == 429);
        assert!([200, 429].contains(&answer.status), "{answer:?}");
    }
    let log = stage.upstream.log();
    let after = log.aftermath().unwrap();
    assert!(after.throttled <= after.in_flight, "{after:?}");
    assert!(told <= after.in_flight + 1);
    let hold = after.told_ns + Duration::from_millis(19_990).as_nanos() as u64;
    let during = log.between(after.told_ns, hold);
    assert!(during.is_empty(), "{} calls came during the cooldown", during.len());
    let later = log.filter(|entry| entry.at_ns > after.told_ns);
    assert!(later.len() >= 19, "{}", later.len());
    assert!(later.min_gap().unwrap() >= Duration::from_millis(248), "{:?}", later.gaps());
    assert!(since.elapsed() >= Duration::from_secs(27));
}

#[tokio::test(start_paused = true)]
async fn g20_a_get_is_tried_again_after_the_servers_delay_and_a_post_is_not() {
    let once = || Rule::new("* /x", [Answer::status(429).with_header("retry-after", "2"), Answer::default()]).unwrap();
    let stage = Stage::with(Script { rules: vec![once()], ..Script::default() }, "min_interval_ms = 0").await;
    let since = Instant::now();
    let answer = stage.ask(stage.get("/api/x")).await;
    assert_eq!((answer.status, answer.header("tidegate-attempts")), (200, Some("2")));
    let waited: u64 = answer.header("tidegate-wait-ms").unwrap().parse().unwrap();
    assert!((2000..2050).contains(&waited), "{waited}");
    assert!(since.elapsed() >= Duration::from_secs(2));

    stage.upstream.reset();
    let answer = stage.ask_with(Request::post(stage.url("/api/x")), "{}").await;
    assert_eq!((answer.status, answer.header("tidegate-attempts")), (429, Some("1")));
    assert_eq!(answer.header("tidegate-synthetic"), None, "the upstream's own answer, as it came");

    stage.upstream.reset();
    let asked = Request::post(stage.url("/api/x")).header("tidegate-max-attempts", "2");
    let answer = stage.ask_with(asked, "the body").await;
    assert_eq!((answer.status, answer.header("tidegate-attempts")), (200, Some("2")));
    assert_eq!(answer.json()["body"], "the body", "sent again whole");
}

#[tokio::test(start_paused = true)]
async fn g10_g19_a_throttle_inside_a_200_is_recognised_also_compressed_and_passed_on_untouched() {
    for gzip in [false, true] {
        let answer = Answer { gzip, ..Answer::like(Like::ResourceExhausted).with_header("x-status", "kept") };
        let script = Script { rules: vec![Rule::new("POST /youtubei/*", [answer]).unwrap()], ..Script::default() };
        let stage = Stage::with(script, "preset = \"youtube\"\nmax_attempts = 1").await;
        let answer = stage.ask_with(Request::post(stage.url(POLL)), "{}").await;
        let direct = stage.gate.snapshot("api").unwrap();
        assert_eq!((direct.counters.throttled, direct.holds.len()), (1, 1), "gzip: {gzip}");
        assert_eq!(answer.header("content-encoding"), gzip.then_some("gzip"));
        if !gzip {
            assert_eq!(answer.json()["error"]["status"], "RESOURCE_EXHAUSTED");
        }
        let local = Request::post(stage.url(POLL)).header("tidegate-max-wait-ms", "0");
        assert_eq!(stage.ask_with(local, "{\"other\":1}").await.problem(), "rate_limited");
        assert_eq!(stage.upstream.log().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn g11_an_expired_token_is_passed_on_and_holds_nobody() {
    let script = Script {
        rules: vec![Rule::new("POST /youtubei/*", [Answer::like(Like::InvalidArgument)]).unwrap()],
        ..Script::default()
    };
    let stage = Stage::with(script, "preset = \"youtube\"").await;
    let answer = stage.ask_with(Request::post(stage.url(POLL)), "{}").await;
    assert_eq!(answer.status, 400);
    let after = stage.snapshot();
    assert_eq!((after.counters.expired_token, after.counters.throttled, after.holds.len()), (1, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn g29_observe_passes_everything_through_and_counts() {
    let script = Script {
        rules: vec![Rule::new("GET /x", [Answer::status(429).with_header("retry-after", "60")]).unwrap()],
        ..Script::default()
    };
    let stage = Stage::with(script, "mode = \"observe\"").await;
    let calls: Vec<_> = (0..10).map(|_| stage.asking(stage.get("/api/x"), "")).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status, 429);
    }
    assert_eq!(stage.upstream.log().len(), 10);
    let counters = stage.snapshot().counters;
    assert_eq!((counters.started, counters.throttled, counters.would_retry), (10, 10, 10));
    assert!(counters.would_wait > 0);
}
