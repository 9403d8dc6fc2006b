//! G9–G19: signals make cooldowns, cooldowns hold calls.

mod common;

use std::time::SystemTime;

use common::{Gate, WALL_S, call, headers, ms, secs};
use http::StatusCode;
use tidegate_gate::signal::Head;
use tidegate_gate::{Call, Change, Claim, Hold, Jitter, Key, Next, Operation, Outcome, Refusal, Scope, Seq, Slot};

fn youtube() -> Gate {
    Gate::new("preset = \"youtube\"")
}

fn stream() -> Gate {
    Gate::new("preset = \"stream-chat\"")
}

fn op(name: &str) -> Call {
    Call::new(Key::of("k"), Operation::new(name))
}

const JSON: (&str, &str) = ("content-type", "application/json; charset=UTF-8");
const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

#[test]
fn g9_a_429_holds_every_room() {
    let mut gate = youtube();
    let slot = gate.start(call("room-1"));
    gate.respond(&slot, 429, &[("retry-after", "42")]);
    gate.up.handle_end(slot);
    let waiting: Vec<_> = ["room-1", "room-2", "room-3"].map(|room| gate.queue(call(room))).into();
    assert_eq!(gate.wait(), Some(secs(42)));
    assert_eq!(gate.at_ms(41_999).poll(), []);
    // After it the queue drains at the paced rate: no herd (G18).
    let log = gate.drain(ms(10));
    assert_eq!(log, [(waiting[0], secs(42)), (waiting[1], ms(42_250)), (waiting[2], ms(42_500))]);
}

#[test]
fn g9_nothing_is_sent_during_a_cooldown_not_even_by_those_already_woken() {
    let mut gate = youtube();
    let slot = gate.start(call("room-1"));
    let woken = gate.queue(call("room-2"));
    assert_eq!(gate.at_ms(250).poll(), [Next::Start(woken)]);
    gate.respond(&slot, 429, &[]);
    assert_eq!(gate.up.claim(woken, gate.now), Claim::Waits);
    assert_eq!(gate.poll(), []);
    assert_eq!(gate.at_ms(30_250).poll(), [Next::Start(woken)]);
    assert!(matches!(gate.up.claim(woken, gate.now), Claim::Started(_)));
}

#[test]
fn g9_a_403_page_is_a_throttle_and_so_is_a_429_before_its_body_came() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let heard = gate.respond(&slot, 429, &[JSON]);
    assert_eq!((heard.outcome, gate.held()), (Outcome::Throttled, Some(secs(30))));
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    assert_eq!(gate.respond(&slot, 403, &[("content-type", "image/png")]).outcome, Outcome::Throttled);
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let heard = gate.respond_with(&slot, 403, &[HTML], "<html>Forbidden</html>");
    assert_eq!((heard.outcome, gate.held()), (Outcome::Throttled, Some(secs(30))));
}

#[test]
fn g9_a_403_whose_body_never_came_is_a_throttle() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    assert_eq!(gate.respond_with(&slot, 403, &[JSON], "").outcome, Outcome::Throttled);
}

#[test]
fn g10_a_throttle_inside_a_200_is_not_an_expired_token() {
    for (status, body) in [
        (
            200,
            r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#,
        ),
        (200, r#"{"responseContext":{},"error":{"message":"Quota exceeded for today"}}"#),
        (400, r#"{"error":{"code":400,"errors":[{"reason":"rateLimitExceeded"}]}}"#),
        (404, r#"{"error":{"code":429}}"#),
        (403, r#"{"error":{"status":"RESOURCE_EXHAUSTED"}}"#),
    ] {
        let mut gate = youtube();
        let slot = gate.start(call("room"));
        let heard = gate.respond_with(&slot, status, &[JSON, ("retry-after", "7")], body);
        assert_eq!((heard.outcome, gate.held()), (Outcome::Throttled, Some(secs(7))), "{body}");
    }
}

#[test]
fn g10_a_500_says_nothing_about_rates() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let heard = gate.respond(&slot, 503, &[JSON, ("retry-after", "60")]);
    assert_eq!((heard.outcome, heard.wants_body, gate.held()), (Outcome::Failed, false, None));
}

#[test]
fn g11_any_other_error_object_is_an_expired_token() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}"#,
        ),
        (200, r#"{"error":{"code":404,"status":"NOT_FOUND"}}"#),
        (200, r#"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#),
        (200, r#"{"responseContext":{"errors":{"error":[{"code":"INVALID_VALUE"}]}}}"#),
    ] {
        let mut gate = youtube();
        let slot = gate.start(call("room"));
        assert_eq!(gate.respond_with(&slot, status, &[JSON], body).outcome, Outcome::ExpiredToken, "{body}");
        assert_eq!(gate.held(), None);
    }
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let fine = gate.respond_with(&slot, 200, &[JSON], r#"{"continuationContents":{"x":"error quota"}}"#);
    assert_eq!(fine.outcome, Outcome::Fine);
}

const DENIED: &str =
    r#"{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}"#;

fn poll(gate: &mut Gate, room: &str, status: u16, body: &str) -> Outcome {
    let slot = gate.start(call(room));
    let outcome = gate.respond_with(&slot, status, &[JSON], body).outcome;
    gate.up.handle_end(slot);
    outcome
}

#[test]
fn g11b_one_private_video_does_not_freeze_every_room() {
    let mut gate = youtube();
    assert_eq!(poll(&mut gate, "room-1", 200, "{}"), Outcome::Fine);
    assert_eq!(poll(gate.at_ms(10_000), "private", 403, DENIED), Outcome::Gone);
    assert_eq!(gate.held(), None);
    // Its own success of a moment ago shows nothing.
    assert_eq!(poll(gate.at_ms(10_250), "private", 200, "{}"), Outcome::Fine);
    assert_eq!(poll(gate.at_ms(10_500), "private", 403, DENIED), Outcome::Throttled);
    assert_eq!(gate.held(), Some(secs(30)));
}

#[test]
fn g11b_a_403_with_no_recent_success_elsewhere_is_a_throttle() {
    let mut gate = youtube();
    assert_eq!(poll(&mut gate, "room-1", 200, "{}"), Outcome::Fine);
    assert_eq!(poll(gate.at_ms(10_001), "room-2", 403, DENIED), Outcome::Throttled);
}

#[test]
fn g11b_another_rooms_success_is_remembered_behind_ones_own() {
    let mut gate = youtube();
    poll(&mut gate, "room-1", 200, "{}");
    poll(gate.at_ms(250), "room-2", 200, "{}");
    poll(gate.at_ms(500), "room-2", 200, "{}");
    assert_eq!(poll(gate.at_ms(750), "room-2", 403, DENIED), Outcome::Gone);
}

#[test]
fn g11b_a_removed_video_is_gone() {
    let mut gate = youtube();
    let body = r#"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}"#;
    assert_eq!(poll(&mut gate, "room-1", 404, body), Outcome::Gone);
    assert_eq!(poll(gate.at_ms(250), "room-1", 404, "<html>"), Outcome::Failed);
    assert_eq!(gate.held(), None);
}

#[test]
fn g11c_a_captcha_is_a_throttle_in_disguise() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let heard = gate.respond(&slot, 302, &[HTML, ("location", "https://www.google.com/sorry/index?continue=x")]);
    assert_eq!((heard.outcome, gate.held()), (Outcome::Throttled, Some(secs(30))));
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let page =
        r#"<html>{"playabilityStatus":{"status":"LOGIN_REQUIRED","reason":"Sign in to confirm you’re not a bot"}}"#;
    assert_eq!(gate.respond_with(&slot, 200, &[HTML], page).outcome, Outcome::Throttled);
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let consent = gate.respond_with(&slot, 302, &[HTML, ("location", "https://consent.youtube.com/m")], "");
    assert_eq!((consent.outcome, gate.held()), (Outcome::Fine, None));
}

#[test]
fn g9_what_a_caller_finds_out_itself_counts_the_same() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    gate.up.handle_finding(&slot, Outcome::Throttled, Some(secs(9)), gate.now, Jitter::new(0.5));
    assert_eq!(gate.held(), Some(secs(9)));
}

#[test]
fn g9_a_missing_permission_is_no_throttle_where_the_upstream_says_so() {
    let github = || Gate::new("preset = \"github\"");
    let denied = r#"{"message":"Resource not accessible by integration"}"#;
    let mut gate = github();
    let slot = gate.start(call("a"));
    let roomy = [JSON, ("x-ratelimit-limit", "5000"), ("x-ratelimit-remaining", "4999")];
    assert_eq!(gate.respond_with(&slot, 403, &roomy, denied).outcome, Outcome::Failed);
    assert_eq!(gate.held(), None);
    // The secondary limit is told by its message, the primary by what remains, both may come with a time.
    let secondary = r#"{"message":"You have exceeded a secondary rate limit."}"#;
    assert_eq!(gate.respond_with(&slot, 403, &roomy, secondary).outcome, Outcome::Throttled);
    assert_eq!(gate.held(), Some(secs(60)));
    let mut gate = github();
    let slot = gate.start(call("a"));
    let reset = (WALL_S + 120).to_string();
    let spent = [JSON, ("x-ratelimit-limit", "5000"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)];
    assert_eq!(gate.respond(&slot, 403, &spent).outcome, Outcome::Throttled);
    assert_eq!(gate.held(), Some(secs(120)));
    let mut gate = github();
    let slot = gate.start(call("a"));
    assert_eq!(gate.respond(&slot, 403, &[("retry-after", "61")]).outcome, Outcome::Throttled);
    assert_eq!(gate.held(), Some(secs(61)));
}

#[test]
fn g16_an_unusable_retry_after_falls_back_and_never_to_no_wait() {
    for value in ["0", "-3", "soon", "", "Sun, 06 Nov 1994 08:49:37 GMT", "0.0"] {
        let mut gate = youtube();
        gate.exchange(call("room"), 429, &[("retry-after", value)]);
        assert_eq!(gate.held(), Some(secs(30)), "{value:?}");
    }
}

#[test]
fn g16_a_longer_than_clamp_retry_after_never_holds_shorter_than_the_clamp() {
    for value in
        ["300.5", "301", "86400", "18446744073709551615", "99999999999999999999999", "Fri, 31 Dec 2060 23:59:59 GMT"]
    {
        let mut gate = youtube();
        gate.exchange(call("room"), 429, &[("retry-after", value)]);
        assert_eq!(gate.held(), Some(secs(300)), "{value}");
    }
}

#[test]
fn g16_clocks_that_differ_do_not_change_the_hold() {
    // The server says 60 s by its own clock; this machine's is 10 s ahead, 10 s behind, or set back two hours.
    for skew_s in [10_i64, -10, -7200] {
        let mut gate = youtube();
        let slot = gate.start(call("room"));
        let server = SystemTime::UNIX_EPOCH + secs(WALL_S);
        let map = headers(&[
            ("date", &httpdate::fmt_http_date(server)),
            ("retry-after", &httpdate::fmt_http_date(server + secs(60))),
        ]);
        let wall = SystemTime::UNIX_EPOCH + secs(WALL_S.checked_add_signed(skew_s).unwrap());
        let head = Head { status: StatusCode::TOO_MANY_REQUESTS, headers: &map, wall };
        gate.up.handle_response(&slot, head, gate.now, Jitter::new(1.0));
        assert_eq!(gate.held(), Some(secs(60)));
    }
}

#[test]
fn g17_a_throttle_only_moves_forward() {
    let two = |first: &str, second: &str| {
        let mut gate = youtube();
        let a = gate.start(call("a"));
        let b = gate.at_ms(250).start(call("b"));
        gate.respond(&a, 429, &[("retry-after", first)]);
        gate.respond(&b, 429, &[("retry-after", second)]);
        gate.held().unwrap()
    };
    assert_eq!(two("60", "1"), secs(60));
    assert_eq!(two("1", "60"), secs(60));
}

#[test]
fn g17_a_late_success_does_not_clear_a_throttle() {
    let mut gate = youtube();
    let older = gate.start(call("a"));
    let newer = gate.at_ms(250).start(call("b"));
    let newest = gate.at_ms(500).start(call("c"));
    gate.respond(&newer, 429, &[("retry-after", "60")]);
    for slot in [&older, &newest] {
        assert_eq!(gate.respond_with(slot, 200, &[JSON], "{}").outcome, Outcome::Fine);
    }
    assert_eq!(gate.held(), Some(secs(60)));
}

#[test]
fn g17_the_fleets_number_decides_what_is_newest() {
    let mut gate = stream();
    let (mut a, mut b) = (gate.start(op("GET /a")), gate.start(op("GET /b")));
    a.renumber(Seq(900));
    b.renumber(Seq(899));
    gate.respond(&a, 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "90")]);
    gate.respond(&b, 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "1")]);
    assert_eq!(gate.held(), None);
}

#[test]
fn g18_a_deadline_before_the_end_of_the_cooldown_is_answered_at_once() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let patient = gate.queue(Call { deadline: gate.in_ms(90_000), ..call("a") });
    let impatient = gate.queue(Call { deadline: gate.in_ms(30_000), ..call("b") });
    gate.at_ms(100).respond(&slot, 429, &[("retry-after", "60")]);
    // Who waited already, and who comes now, is told the same.
    let answers = gate.poll();
    let [Next::Refuse(ticket, Refusal::RateLimited(limited))] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((*ticket, limited.retry_after_s(), limited.scope.clone()), (impatient, 60, Scope::Upstream));
    let deadline = gate.in_ms(30_000);
    assert_eq!(gate.refused_429(Call { deadline, ..call("c") }).retry_after, secs(60));
    assert_eq!(gate.at_ms(60_100).poll(), [Next::Start(patient)]);
}

#[test]
fn g19_responses_without_usable_headers_change_nothing() {
    let junk = [("x-ratelimit-limit", "many"), ("x-ratelimit-remaining", ""), ("x-ratelimit-reset", "??")];
    for pairs in [&[][..], &junk, &[("x-ratelimit-limit", "0"), ("x-ratelimit-remaining", "0")]] {
        let mut gate = stream();
        gate.exchange(op("a"), 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "20")]);
        let before = gate.up.snapshot(gate.now).holds;
        let slot: Slot = match gate.up.enqueue(Call { heeds_cooldowns: false, ..op("a") }, gate.now) {
            Ok(tidegate_gate::Enqueued::Started(slot)) => slot,
            other => panic!("{other:?}"),
        };
        gate.respond(&slot, 200, pairs);
        assert_eq!(gate.up.snapshot(gate.now).holds, before, "{pairs:?}");
    }
}

#[test]
fn g19_bodies_are_asked_for_only_where_they_may_tell_something() {
    let wants = |toml: &str, status, pairs: &[(&str, &str)]| {
        let mut gate = Gate::new(toml);
        let slot = gate.start(call("a"));
        gate.respond(&slot, status, pairs).wants_body
    };
    assert!(wants("preset = \"youtube\"", 200, &[JSON]));
    assert!(wants("preset = \"youtube\"", 200, &[HTML]));
    assert!(wants("preset = \"youtube\"", 200, &[]));
    assert!(!wants("preset = \"youtube\"", 200, &[("content-type", "image/jpeg")]));
    assert!(!wants("preset = \"youtube\"", 502, &[HTML]));
    assert!(wants("preset = \"github\"", 403, &[JSON]));
    assert!(!wants("preset = \"github\"", 200, &[JSON]));
    for preset in ["generic", "stream-chat", "discord", "openai"] {
        assert!(!wants(&format!("preset = \"{preset}\""), 200, &[JSON]));
        assert!(!wants(&format!("preset = \"{preset}\""), 429, &[JSON]));
    }
}

#[test]
fn g16_a_body_may_tell_a_longer_time_than_the_fallback() {
    let mut gate = youtube();
    let slot = gate.start(call("room"));
    let body = r#"{"error":{"code":429,"details":[{"retryDelay":"90s"}]}}"#;
    gate.respond_with(&slot, 429, &[JSON], body);
    assert_eq!(gate.held(), Some(secs(90)));
    assert_eq!(gate.up.snapshot(gate.now).counters.throttled, 1);
}

#[test]
fn g26_what_one_process_heard_holds_another() {
    let (mut heard_it, mut told) = (youtube(), youtube());
    let slot = heard_it.start(call("a"));
    let heard = heard_it.respond(&slot, 429, &[("retry-after", "42")]);
    assert!(matches!(heard.changes[..], [Change::Throttle { hold, .. }] if hold == secs(42)));
    heard.changes.iter().for_each(|change| told.up.apply(change, told.now));
    let hold = Hold { scope: Scope::Upstream, until: told.now + secs(42), firm: true };
    assert_eq!(told.up.hold(told.now), Some(hold));
}
