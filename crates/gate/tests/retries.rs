//! G20–G23, G29: what becomes of a throttled call, and observe mode.

mod common;

use std::time::Duration;

use common::{Gate, WALL_S, call, ms, secs};
use http::{HeaderMap, Method, Uri};
use tidegate_gate::{
    Call, Enqueued, Fingerprint, FingerprintParts, Jitter, Joined, Key, Operation, Outcome, RateLimited, Refusal,
    RetryPolicy, Scope, Verdict,
};

fn stream(more: &str) -> Gate {
    Gate::new(&format!("preset = \"stream-chat\"\n{more}"))
}

/// One attempt: start, 429, slot back, verdict.
fn attempt(gate: &mut Gate, call: Call, headers: &[(&str, &str)], policy: &RetryPolicy) -> Verdict {
    let slot = gate.start(call.clone());
    let heard = gate.respond(&slot, 429, headers);
    gate.up.handle_end(slot);
    gate.up.verdict(&heard, &call, policy, gate.now, Jitter::new(1.0))
}

#[track_caller]
fn given_up(verdict: Verdict) -> RateLimited {
    let Verdict::RateLimited(limited) = verdict else { panic!("{verdict:?}") };
    limited
}

#[test]
fn g20_a_429_is_retried_while_attempts_are_left_and_then_given_with_everything_known() {
    let mut gate = stream("");
    let policy = gate.up.settings().retry;
    let reset = (WALL_S + 9).to_string();
    let headers = [
        ("retry-after", "2"),
        ("x-ratelimit-limit", "60"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", reset.as_str()),
    ];
    // Attempts start at 0 for each call, also for the second call of the same operation.
    for round in 0..2_u64 {
        for retries in 0..3 {
            gate.at_ms((round * 3 + u64::from(retries)) * 5000);
            let verdict = attempt(&mut gate, Call { retries, ..call("a") }, &headers, &policy);
            if retries < 2 {
                assert_eq!(verdict, Verdict::RetryIn(secs(2)));
                continue;
            }
            let limited = given_up(verdict);
            assert_eq!((limited.rate.limit, limited.rate.remaining), (Some(60), Some(0)));
            assert_eq!((limited.retry_after, limited.synthetic), (secs(2), false));
            assert_eq!(limited.scope, Scope::Operation(Operation::new("GET /x")));
        }
    }
}

#[test]
fn g20_a_delay_above_max_retryable_delay_is_given_to_the_caller() {
    let mut gate = stream("");
    let policy = gate.up.settings().retry;
    assert_eq!(attempt(&mut gate, call("a"), &[("retry-after", "10")], &policy), Verdict::RetryIn(secs(10)));
    let limited = given_up(attempt(gate.at_ms(10_000), call("a"), &[("retry-after", "11")], &policy));
    assert_eq!(limited.retry_after, secs(11));
}

#[test]
fn g21_the_servers_delay_wins_even_above_max_delay() {
    let mut gate = stream("");
    let policy = gate.up.settings().retry;
    assert_eq!(policy.max_delay, secs(5));
    assert_eq!(attempt(&mut gate, call("a"), &[("retry-after", "8")], &policy), Verdict::RetryIn(secs(8)));
    // Without one the fallback doubles, capped by max_delay.
    let patient = RetryPolicy { max_attempts: 10, ..policy };
    for (retries, delay) in [(0, 1), (1, 2), (2, 4), (3, 5), (8, 5)] {
        let mut gate = stream("");
        let verdict = attempt(&mut gate, Call { retries, ..call("a") }, &[], &patient);
        assert_eq!(verdict, Verdict::RetryIn(secs(delay)));
    }
}

#[test]
fn g20_backing_off_does_not_hold_a_slot() {
    let mut gate = stream("max_concurrency = 1");
    let policy = gate.up.settings().retry;
    assert_eq!(attempt(&mut gate, call("a"), &[("retry-after", "9")], &policy), Verdict::RetryIn(secs(9)));
    gate.occupy(Call::new(Key::of("b"), Operation::new("GET /y")));
}

#[test]
fn g20_a_retry_whose_operations_hold_was_moved_a_little_waits_instead_of_failing() {
    let mut gate = stream("");
    let policy = gate.up.settings().retry;
    let (a, b) = (gate.start(call("a")), gate.start(call("b")));
    let heard = gate.respond(&a, 429, &[("retry-after", "1")]);
    let verdict = gate.up.verdict(&heard, &call("a"), &policy, gate.now, Jitter::new(1.0));
    assert_eq!(verdict, Verdict::RetryIn(secs(1)));
    gate.at_ms(50).respond(&b, 429, &[("retry-after", "1")]);
    let again = gate.at_ms(1000).queue(Call { retries: 1, ..call("a") });
    assert_eq!(gate.drain(ms(1)), [(again, ms(1050))]);
    assert!(matches!(gate.at_ms(1040).refused(call("new")), Refusal::RateLimited(_)));
}

#[test]
fn g20_a_retry_waits_for_a_hold_that_another_answer_has_pushed_on() {
    for preset in ["preset = \"stream-chat\"", "min_interval_ms = 0\nthrottle_statuses = [429]"] {
        let mut gate = Gate::new(preset);
        let policy = gate.up.settings().retry;
        let (a, b) = (gate.start(call("a")), gate.start(call("b")));
        let heard = gate.respond(&a, 429, &[("retry-after", "1")]);
        gate.respond(&b, 429, &[("retry-after", "60")]);
        let limited = given_up(gate.up.verdict(&heard, &call("a"), &policy, gate.now, Jitter::new(1.0)));
        assert_eq!(limited.retry_after, secs(60));
    }
}

#[test]
fn g9_an_upstreams_throttle_without_a_time_is_not_retried_into_its_own_cooldown() {
    let mut gate = Gate::new("preset = \"youtube\"");
    let policy = gate.up.settings().retry;
    let limited = given_up(attempt(&mut gate, call("a"), &[], &policy));
    assert_eq!((limited.retry_after, limited.scope), (secs(30), Scope::Upstream));
    let mut gate = Gate::new("preset = \"youtube\"");
    assert_eq!(attempt(&mut gate, call("a"), &[("retry-after", "3")], &policy), Verdict::RetryIn(secs(3)));
}

#[test]
fn g20_a_retry_that_would_come_after_the_deadline_is_none() {
    let mut gate = stream("");
    let policy = gate.up.settings().retry;
    let deadline = gate.in_ms(1999);
    given_up(attempt(&mut gate, Call { deadline, ..call("a") }, &[("retry-after", "2")], &policy));
}

#[test]
fn g22_a_calls_own_options_override() {
    let mut gate = stream("");
    let once = RetryPolicy { max_attempts: 1, ..gate.up.settings().retry };
    given_up(attempt(&mut gate, call("a"), &[("retry-after", "1")], &once));
    let quick = RetryPolicy { max_retryable_delay: Duration::ZERO, ..gate.up.settings().retry };
    given_up(attempt(gate.at_ms(1000), call("a"), &[("retry-after", "1")], &quick));
    // Without cooldowns the call's own fallback counts, not what the operation is held for.
    let heedless = RetryPolicy { enable_cooldown: false, max_delay: ms(300), ..gate.up.settings().retry };
    let own = Call { heeds_cooldowns: false, ..call("a") };
    assert_eq!(attempt(gate.at_ms(2000), own, &[], &heedless), Verdict::RetryIn(ms(300)));
}

#[test]
fn g23_retries_do_not_multiply_an_outage() {
    let mut gate = stream("max_concurrency = 1000");
    let policy = gate.up.settings().retry;
    let heedless = RetryPolicy { enable_cooldown: false, ..policy };
    let mut retries = 0;
    for _ in 0..200 {
        let call = Call { heeds_cooldowns: false, ..call("a") };
        match attempt(&mut gate, call, &[("retry-after", "1")], &heedless) {
            Verdict::RetryIn(_) => retries += 1,
            Verdict::RateLimited(_) => {}
            Verdict::Pass => panic!("a 429"),
        }
    }
    assert_eq!(retries, 40, "a fifth of the calls");
    let counters = gate.up.snapshot(gate.now).counters;
    assert_eq!((counters.retried, counters.over_retry_budget), (40, 160));
}

#[test]
fn g20_only_throttles_are_retried() {
    let mut gate = stream("");
    let policy = gate.up.settings().retry;
    for status in [200, 302, 400, 401, 403, 404, 500, 502, 503] {
        let slot = gate.start(call("a"));
        let heard = gate.respond(&slot, status, &[("retry-after", "1")]);
        gate.up.handle_end(slot);
        assert_eq!(gate.up.verdict(&heard, &call("a"), &policy, gate.now, Jitter::new(1.0)), Verdict::Pass, "{status}");
    }
}

#[test]
fn g29_observe_mode_passes_everything_and_says_what_it_would_have_done() {
    let mut gate =
        Gate::new("preset = \"stream-chat\"\nmode = \"observe\"\nmin_interval_ms = 250\nmax_concurrency = 2");
    let slots: Vec<_> = (0..4).map(|_| gate.start(call("a"))).collect();
    assert_eq!(slots.iter().map(|slot| slot.waited()).collect::<Vec<_>>(), [0, 250, 500, 750].map(ms));
    assert_eq!(gate.up.snapshot(gate.now).running, 4);
    let heard = gate.respond(&slots[0], 429, &[("retry-after", "60")]);
    assert_eq!(heard.outcome, Outcome::Throttled);
    let policy = gate.up.settings().retry;
    assert_eq!(gate.up.verdict(&heard, &call("a"), &policy, gate.now, Jitter::new(1.0)), Verdict::Pass);
    gate.at_ms(1000).occupy(call("a"));
    let counters = gate.up.snapshot(gate.now).counters;
    assert_eq!((counters.would_wait, counters.would_refuse, counters.would_retry), (3, 1, 1));
    assert_eq!((counters.started, counters.synthetic, counters.retried), (5, 0, 0));
    assert_eq!(gate.up.snapshot(gate.now).holds[0].scope, Scope::Operation(Operation::new("GET /x")));
}

#[test]
fn g29_turning_to_observe_mode_lets_everybody_go() {
    let mut gate = Gate::new("max_concurrency = 1\nthrottle_statuses = [429]");
    let slot = gate.start(call("a"));
    let waiting: Vec<_> = (0..3).map(|_| gate.queue(call("a"))).collect();
    gate.respond(&slot, 429, &[("retry-after", "60")]);
    gate.up.set_settings(common::settings("mode = \"observe\"\nmax_concurrency = 1"));
    let started: Vec<_> = gate.start_due().into_iter().filter_map(|started| started.ticket).collect();
    assert_eq!(started, waiting);
    assert_eq!(gate.up.snapshot(gate.now).running, 4);
}

#[test]
fn g29_observe_mode_shares_nothing_and_counts_what_it_would_have_shared() {
    let mut gate = Gate::new("mode = \"observe\"");
    let (uri, headers) = (Uri::from_static("/x"), HeaderMap::new());
    let parts =
        FingerprintParts { method: &Method::GET, uri: &uri, headers: &headers, ignore: &[], identity: b"", body: b"" };
    let print = Fingerprint::of(parts).unwrap();
    let Ok(Joined::Opened { enqueued: Enqueued::Started(_slot), .. }) =
        gate.up.join(print.clone(), call("a"), gate.now)
    else {
        panic!("the first")
    };
    let Ok(Joined::Alone(Enqueued::Started(_slot))) = gate.up.join(print, call("a"), gate.now) else {
        panic!("the second")
    };
    assert_eq!(gate.up.snapshot(gate.now).counters.would_share, 1);
}
