//! G12–G15: cooldowns of one operation, forecasts of rate limits and budgets.

mod common;

use std::time::SystemTime;

use common::{Gate, WALL_S, headers, ms, secs};
use http::StatusCode;
use tidegate_gate::signal::Head;
use tidegate_gate::signal::rate_headers::Rate;
use tidegate_gate::{Call, Change, Claim, Jitter, Key, Next, Operation, Reach, Refusal, Scope, Seq};

fn stream() -> Gate {
    Gate::new("preset = \"stream-chat\"")
}

fn op(name: &str) -> Call {
    Call::new(Key::of("k"), Operation::new(name))
}

#[test]
fn g12_a_throttled_operation_is_refused_here_with_its_last_real_limits() {
    let mut gate = stream();
    let reset = (WALL_S + 50).to_string();
    let limits = [("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "30"), ("x-ratelimit-reset", &reset)];
    gate.exchange(op("GET /app"), 200, &limits);
    gate.exchange(op("GET /app"), 429, &[("retry-after", "20")]);
    gate.at_ms(500);
    let limited = gate.refused_429(op("GET /app"));
    assert_eq!(limited.operation.as_str(), "GET /app");
    assert_eq!(limited.scope, Scope::Operation(Operation::new("GET /app")));
    assert!(limited.synthetic);
    assert_eq!((limited.rate.limit, limited.rate.remaining), (Some(60), Some(30)));
    assert_eq!(limited.rate.reset, Some(ms(49_500)));
    assert_eq!(limited.retry_after, ms(19_500));
    // Other operations go on.
    gate.occupy(op("GET /users"));
    gate.at_ms(20_000).occupy(op("GET /app"));
}

#[test]
fn g12_without_a_server_delay_the_operation_is_held_for_the_jittered_fallback() {
    let mut gate = stream();
    let slot = gate.start(Call { retries: 1, ..op("GET /app") });
    let headers = headers(&[]);
    let head = Head { status: StatusCode::TOO_MANY_REQUESTS, headers: &headers, wall: SystemTime::UNIX_EPOCH };
    gate.up.handle_response(&slot, head, gate.now, Jitter::new(0.25));
    assert_eq!(gate.refused_429(op("GET /app")).retry_after, ms(500));
}

#[test]
fn g12_the_reset_stands_in_for_a_missing_retry_after() {
    let mut gate = stream();
    let reset = (WALL_S + 8).to_string();
    let spent = [("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
    gate.exchange(op("GET /app"), 429, &spent);
    assert_eq!(gate.refused_429(op("GET /app")).retry_after, secs(8));
    // A window with something left is not what was exceeded; a past reset is no time at all.
    for (remaining, reset) in [("5", reset.as_str()), ("0", "1699999999"), ("0", "0"), ("0", "soon")] {
        let mut gate = stream();
        let headers = [("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", remaining), ("x-ratelimit-reset", reset)];
        gate.exchange(op("GET /app"), 429, &headers);
        assert_eq!(gate.refused_429(op("GET /app")).retry_after, secs(1), "the whole fallback of a first attempt");
    }
}

#[test]
fn g12_calls_that_wait_when_their_operation_is_throttled_are_refused_in_their_turn() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nmax_concurrency = 1");
    let slot = gate.start(op("GET /app"));
    let (same, other) = (gate.queue(op("GET /app")), gate.queue(op("GET /users")));
    gate.respond(&slot, 429, &[("retry-after", "5")]);
    gate.up.handle_end(slot);
    let answers = gate.poll();
    assert!(matches!(&answers[0], Next::Refuse(ticket, Refusal::RateLimited(_)) if *ticket == same), "{answers:?}");
    assert_eq!(answers[1..], [Next::Start(other)]);
}

#[test]
fn g12_a_woken_call_whose_operation_was_throttled_meanwhile_is_refused() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nmax_concurrency = 2");
    let (a, b) = (gate.start(op("GET /app")), gate.start(op("GET /users")));
    let woken = gate.queue(op("GET /app"));
    gate.up.handle_end(b);
    assert_eq!(gate.poll(), [Next::Start(woken)]);
    gate.respond(&a, 429, &[("retry-after", "5")]);
    assert!(matches!(gate.up.claim(woken, gate.now), Claim::Refused(Refusal::RateLimited(_))));
    gate.up.handle_end(a);
    assert_eq!(gate.up.snapshot(gate.now).running, 0);
}

#[test]
fn g12_a_locally_made_429_has_an_integer_retry_after_of_at_least_what_is_left() {
    let mut gate = stream();
    gate.exchange(op("GET /app"), 429, &[("retry-after", "3")]);
    for (at_ms, whole) in [(0, 3), (1, 3), (999, 3), (1000, 2), (1001, 2), (2001, 1), (2999, 1)] {
        let limited = gate.at_ms(at_ms).refused_429(op("GET /app"));
        assert_eq!(limited.retry_after_s(), whole, "at {at_ms} ms");
    }
}

#[test]
fn g20_a_call_that_heeds_no_cooldown_is_not_refused_or_held() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nmax_concurrency = 2");
    let slot = gate.start(op("GET /app"));
    gate.respond(&slot, 429, &[("retry-after", "5"), ("x-ratelimit-limit", "10"), ("x-ratelimit-remaining", "0")]);
    assert!(matches!(gate.refused(op("GET /app")), Refusal::RateLimited(_)));
    let held = gate.queue(op("GET /users"));
    let heedless = |name| Call { heeds_cooldowns: false, ..op(name) };
    let running = gate.start(heedless("GET /app"));
    // Without a free slot it waits, but not behind those that the cooldown holds.
    let waiting = gate.queue(heedless("GET /app"));
    assert_eq!(gate.poll(), []);
    gate.up.handle_end(running);
    assert_eq!(gate.poll(), [Next::Start(waiting)]);
    gate.up.handle_cancel(waiting);
    assert_eq!(gate.at_ms(3000).poll(), [Next::Start(held)]);
}

#[test]
fn g13_a_rate_limit_nearly_used_up_holds_every_call_a_little() {
    for (remaining, held) in
        [("5", 3000), ("0", 3000), ("-2", 3000), ("15", 1500), ("6", 1500), ("30", 500), ("16", 500)]
    {
        let mut gate = stream();
        gate.exchange(op("GET /app"), 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", remaining)]);
        assert_eq!(gate.held(), Some(ms(held)), "{remaining} left");
        gate.queue(op("GET /users"));
    }
    let mut gate = stream();
    gate.exchange(op("GET /app"), 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "31")]);
    assert_eq!(gate.held(), None);
}

#[test]
fn g13_the_next_response_clears_or_sets_it() {
    let mut gate = stream();
    let (a, b) = (gate.start(op("GET /a")), gate.start(op("GET /b")));
    gate.respond(&a, 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "1")]);
    gate.at_ms(1000).respond(&b, 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "90")]);
    assert_eq!(gate.held(), None);
}

#[test]
fn g17_an_older_response_arriving_late_does_not_undo_a_newer_soft_cooldown() {
    let mut gate = stream();
    let (older, newer) = (gate.start(op("GET /a")), gate.start(op("GET /b")));
    let at = |remaining| [("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", remaining)];
    gate.respond(&newer, 200, &at("1"));
    gate.respond(&older, 200, &at("90"));
    assert_eq!(gate.held(), Some(secs(3)), "the older one clears nothing");
    let mut gate = stream();
    let (older, newer) = (gate.start(op("GET /a")), gate.start(op("GET /b")));
    gate.respond(&newer, 200, &at("90"));
    gate.respond(&older, 200, &at("1"));
    assert_eq!(gate.held(), None, "and sets nothing");
}

#[test]
fn g13_the_hold_may_be_the_operations_alone() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nsoft_scope = \"operation\"");
    gate.exchange(op("GET /app"), 200, &[("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "1")]);
    gate.occupy(op("GET /users"));
    let waiting = gate.queue(op("GET /app"));
    assert_eq!(gate.drain(ms(1)), [(waiting, secs(3))]);
}

#[test]
fn g14_a_budget_nearly_used_up_holds_calls_linearly_within_its_band() {
    let held = |used: &str, limit: &str, remaining: &str| {
        let mut gate = stream();
        let given = [("x-budget-used-ms", used), ("x-budget-limit-ms", limit), ("x-budget-remaining-ms", remaining)];
        let given: Vec<_> = given.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        gate.exchange(op("POST /channels"), 200, &given);
        gate.held().map(|held| held.as_millis())
    };
    assert_eq!(held("800", "1000", "200"), Some(30_000));
    assert_eq!(held("900", "1000", "100"), Some(45_000));
    assert_eq!(held("1000", "1000", "0"), Some(60_000));
    assert_eq!(held("700", "1000", "300"), Some(5000));
    assert_eq!(held("750", "1000", ""), Some(7500));
    assert_eq!(held("600", "1000", "400"), Some(1000));
    assert_eq!(held("699", "1000", "301"), Some(1990));
    assert_eq!(held("599", "1000", "401"), None);
    // The larger of the two uses; more than all is all.
    assert_eq!(held("100", "1000", "100"), Some(45_000));
    assert_eq!(held("2500", "1000", "-1500"), Some(60_000));
    assert_eq!(held("", "1000", "-1"), Some(60_000));
    // What cannot be used says nothing.
    for unusable in [("900", "", "100"), ("900", "0", "0"), ("900", "-5", "1"), ("x", "1000", "y"), ("", "1000", "")] {
        assert_eq!(held(unusable.0, unusable.1, unusable.2), None, "{unusable:?}");
    }
}

#[test]
fn g14_calls_resume_early_when_a_fresher_response_lowers_it() {
    let mut gate = stream();
    let (full, fresher) = (gate.start(op("POST /channels")), gate.start(op("POST /channels")));
    let budget = |used| [("x-budget-used-ms", used), ("x-budget-limit-ms", "1000")];
    gate.respond(&full, 200, &budget("1000"));
    let waiting = gate.queue(op("GET /users"));
    assert_eq!(gate.wait(), Some(ms(250)), "looks again in chunks");
    gate.at_ms(600).respond(&fresher, 200, &budget("100"));
    assert_eq!(gate.poll(), [Next::Start(waiting)]);
}

#[test]
fn g14_a_response_without_budget_headers_clears_nothing() {
    let mut gate = stream();
    let (full, plain) = (gate.start(op("POST /channels")), gate.start(op("GET /users")));
    gate.respond(&full, 200, &[("x-budget-used-ms", "1000"), ("x-budget-limit-ms", "1000")]);
    gate.respond(&plain, 200, &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "100")]);
    assert_eq!(gate.held(), Some(secs(60)));
}

#[test]
fn g14_the_budget_may_be_the_operations_alone() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nbudget_scope = \"operation\"");
    let (full, fresher) = (gate.start(op("POST /channels")), gate.start(op("POST /channels")));
    let budget = |used| [("x-budget-used-ms", used), ("x-budget-limit-ms", "1000")];
    gate.respond(&full, 200, &budget("1000"));
    gate.occupy(op("GET /users"));
    let waiting = gate.queue(op("POST /channels"));
    assert_eq!(gate.wait(), Some(ms(250)), "it waits and is not refused");
    gate.at_ms(100).respond(&fresher, 200, &budget("1"));
    assert_eq!(gate.at_ms(250).poll(), [Next::Start(waiting)]);
}

#[test]
fn g14_a_429_of_the_budget_holds_the_operation_for_its_retry_after_and_the_app_for_the_budget() {
    let mut gate = stream();
    let spent = [("retry-after", "12"), ("x-budget-used-ms", "1200"), ("x-budget-limit-ms", "1000")];
    gate.exchange(op("POST /channels"), 429, &spent);
    assert_eq!(gate.refused_429(op("POST /channels")).retry_after, secs(12));
    assert_eq!(gate.up.hold(gate.now).unwrap().scope, Scope::App);
    assert_eq!(gate.held(), Some(secs(60)));
}

#[test]
fn g15_an_exhausted_limit_may_hold_until_its_own_reset() {
    let mut gate = Gate::new("preset = \"discord\"");
    let route = |id: &str| {
        let path = format!("/api/v10/channels/{id}/messages");
        let route = gate.up.settings().route(&http::Method::POST, &path);
        Call::new(Key::of("bot"), route.operation)
    };
    let (message, other) = (route("41771983423143937"), op("GET /api/{version}/gateway/bot"));
    assert_eq!(message.operation.as_str(), "POST /api/{version}/channels/{id}/messages");
    let spent = [
        ("x-ratelimit-limit", "5"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1470173023.123"),
        ("x-ratelimit-reset-after", "1.25"),
        ("x-ratelimit-bucket", "abcd1234"),
    ];
    gate.exchange(message.clone(), 200, &spent);
    let waiting = gate.queue(message);
    gate.at_ms(20).occupy(other);
    assert_eq!(gate.drain(ms(1)), [(waiting, ms(1250))]);
}

#[test]
fn g15_discords_global_429_holds_everything_and_a_shared_one_its_operation() {
    let limited = |more: &[(&str, &str)]| {
        let mut gate = Gate::new("preset = \"discord\"");
        gate.exchange(op("a"), 429, &[&[("retry-after", "64")], more].concat());
        gate.at_ms(100);
        let refused = matches!(gate.up.enqueue(op("a"), gate.now), Err(Refusal::RateLimited(_)));
        (gate.up.hold(gate.now).is_some(), refused)
    };
    assert_eq!(limited(&[("x-ratelimit-bucket", "b"), ("x-ratelimit-scope", "user")]), (false, true));
    assert_eq!(limited(&[("x-ratelimit-bucket", "b"), ("x-ratelimit-scope", "shared")]), (false, true));
    assert_eq!(limited(&[("x-ratelimit-global", "true"), ("x-ratelimit-scope", "global")]), (true, false));
    // The wall in front of the API knows no buckets: an address was blocked.
    assert_eq!(limited(&[]), (true, false));
}

#[test]
fn cooldowns_of_a_million_operations_stay_within_the_bound_and_none_in_force_is_dropped() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nmax_operations = 1000");
    let held: Vec<Operation> = (0..600).map(|i| Operation::new(&format!("held-{i}"))).collect();
    for operation in &held {
        gate.exchange(Call::new(Key::of("k"), operation.clone()), 429, &[("retry-after", "100")]);
    }
    let rate = Rate { limit: Some(100), remaining: Some(90), reset: None };
    for i in 0..1_000_000 {
        let reach = Reach::Operation(Operation::new(&format!("other-{i}")));
        gate.up.apply(&Change::Rate { reach, seq: Seq(i), rate }, gate.now);
    }
    assert!(gate.up.snapshot(gate.now).operations <= 1000);
    for operation in held {
        assert_eq!(gate.refused_429(Call::new(Key::of("k"), operation)).retry_after, secs(100));
    }
}

#[test]
fn more_throttled_operations_than_can_be_told_apart_hold_the_upstream() {
    let mut gate = Gate::new("preset = \"stream-chat\"\nmax_operations = 2");
    for name in ["a", "b"] {
        gate.exchange(op(name), 429, &[("retry-after", "100")]);
    }
    assert_eq!(gate.held(), None);
    gate.exchange(op("c"), 429, &[("retry-after", "50")]);
    assert_eq!(gate.held(), Some(secs(50)));
    let first = gate.at_ms(50_000).start(op("c"));
    gate.up.handle_end(first);
    // Room again once the first ones are over.
    gate.at_ms(100_000).exchange(op("d"), 429, &[("retry-after", "50")]);
    assert_eq!(gate.held(), None);
    assert_eq!(gate.refused_429(op("d")).retry_after, secs(50));
}

#[test]
fn g18_a_forecast_ends_a_wait_at_once_only_if_nothing_can_lower_it() {
    let mut gate = stream();
    let (full, fresher) = (gate.start(op("POST /channels")), gate.start(op("GET /app")));
    let budget = |used| [("x-budget-used-ms", used), ("x-budget-limit-ms", "1000")];
    gate.respond(&full, 200, &budget("1000"));
    gate.up.handle_end(full);
    let deadline = gate.in_ms(30_000);
    let waiting = gate.queue(Call { deadline, ..op("GET /users") });
    assert_eq!(gate.poll(), [], "an answer is under way that may lower it");
    gate.up.handle_end(fresher);
    let answers = gate.poll();
    let [Next::Refuse(ticket, Refusal::RateLimited(limited))] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((*ticket, limited.retry_after, limited.scope.clone()), (waiting, secs(60), Scope::App));
    assert_eq!(gate.refused_429(Call { deadline, ..op("GET /users") }).retry_after, secs(60));
}

#[test]
fn g18_a_deadline_that_passes_in_a_forecast_is_a_429() {
    let mut gate = stream();
    let full = gate.start(op("POST /channels"));
    gate.respond(&full, 200, &[("x-budget-used-ms", "1000"), ("x-budget-limit-ms", "1000")]);
    let waiting = gate.queue(Call { deadline: gate.in_ms(1000), ..op("GET /users") });
    let answers = gate.at_ms(1000).poll();
    let [Next::Refuse(ticket, Refusal::RateLimited(limited))] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((*ticket, limited.retry_after_s()), (waiting, 59));
}
