//! G5–G8: calls that are the same are one.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Gate, call, interactive, ms, secs};
use http::{HeaderMap, Method, Uri};
use tidegate_gate::{
    Call, Claim, Enqueued, Fingerprint, FingerprintParts, Joined, Next, Refusal, Seq, Slot, Ticket, Verdict,
};

fn print(path: &'static str) -> Fingerprint {
    let (uri, headers) = (Uri::from_static(path), HeaderMap::new());
    let parts =
        FingerprintParts { method: &Method::GET, uri: &uri, headers: &headers, ignore: &[], identity: b"", body: b"" };
    Fingerprint::of(parts).unwrap()
}

impl Gate {
    /// Joins as the first of its kind.
    #[track_caller]
    fn open(&mut self, path: &'static str, call: Call) -> (Ticket, Ticket, Enqueued) {
        match self.up.join(print(path), call, self.now) {
            Ok(Joined::Opened { caller, flight, enqueued }) => (caller, flight, enqueued),
            other => panic!("not opened but {other:?}"),
        }
    }

    #[track_caller]
    fn open_started(&mut self, path: &'static str, call: Call) -> (Ticket, Ticket, Slot) {
        match self.open(path, call) {
            (caller, flight, Enqueued::Started(slot)) => (caller, flight, slot),
            other => panic!("not started but {other:?}"),
        }
    }

    #[track_caller]
    fn follow(&mut self, path: &'static str, call: Call) -> (Ticket, Ticket) {
        match self.up.join(print(path), call, self.now) {
            Ok(Joined::Following { caller, flight }) => (caller, flight),
            other => panic!("not following but {other:?}"),
        }
    }

    #[track_caller]
    fn claimed(&mut self, ticket: Ticket) -> Slot {
        let claim = self.up.claim(ticket, self.now);
        let Claim::Started(slot) = claim else { panic!("not started but {claim:?}") };
        slot
    }
}

#[test]
fn g5_two_hundred_identical_calls_are_one_upstream_call() {
    let mut gate = Gate::new("");
    let (first, flight, slot) = gate.open_started("/poll", call("room"));
    let followers: Vec<_> = (0..199).map(|_| gate.follow("/poll", call("room"))).collect();
    assert!(followers.iter().all(|(_, of)| *of == flight));
    assert_eq!(gate.poll(), []);
    gate.up.handle_end(slot);
    gate.up.end_flight(flight);
    followers.into_iter().for_each(|(caller, _)| gate.up.handle_cancel(caller));
    gate.up.handle_cancel(first);
    let after = gate.up.snapshot(gate.now);
    assert_eq!((after.counters.started, after.counters.shared), (1, 199));
    assert_eq!((after.flights, after.callers, after.running), (0, 0, 0));
    assert_eq!(gate.poll(), [], "nobody left a call under way");
}

#[test]
fn g6_when_the_shared_call_ends_the_next_one_is_new() {
    let mut gate = Gate::new("min_interval_ms = 0");
    let (_, flight, slot) = gate.open_started("/poll", call("room"));
    gate.up.handle_end(slot);
    gate.up.end_flight(flight);
    let (_, next, _slot) = gate.open_started("/poll", call("room"));
    assert_ne!(flight, next);
}

#[test]
fn g5_other_calls_are_not_shared() {
    let mut gate = Gate::new("min_interval_ms = 0");
    let (_, one, _a) = gate.open_started("/poll?token=1", call("room"));
    let (_, two, _b) = gate.open_started("/poll?token=2", call("room"));
    assert_ne!(one, two);
}

#[test]
fn g7_one_caller_leaving_does_not_end_the_call_for_the_others() {
    let mut gate = Gate::new("");
    let (first, flight, slot) = gate.open_started("/poll", call("room"));
    let (second, _) = gate.follow("/poll", call("room"));
    // The one who opened it is the first to go; the others still get their one call.
    gate.up.handle_cancel(first);
    assert_eq!(gate.poll(), []);
    gate.follow("/poll", call("room"));
    gate.up.handle_cancel(second);
    assert_eq!(gate.poll(), []);
    gate.up.handle_end(slot);
    gate.up.end_flight(flight);
    assert_eq!(gate.up.snapshot(gate.now).counters.started, 1);
}

#[test]
fn g7_the_last_one_leaving_cancels_the_call_under_way() {
    let mut gate = Gate::new("min_interval_ms = 0");
    let (first, flight, slot) = gate.open_started("/poll", call("room"));
    let (second, _) = gate.follow("/poll", call("room"));
    gate.up.handle_cancel(first);
    gate.up.handle_cancel(second);
    assert_eq!(gate.poll(), [Next::Abandon(flight)]);
    // Dropping it gives the slot back; whoever comes meanwhile is not tied to the dying call.
    let (_, next, _slot) = gate.open_started("/poll", call("room"));
    assert_ne!(next, flight);
    gate.up.handle_end(slot);
    assert_eq!(gate.up.snapshot(gate.now).running, 1);
}

#[test]
fn g7_the_last_one_leaving_takes_a_waiting_call_out_of_the_line() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let (first, flight, _) = gate.open("/poll", call("room"));
    let other = gate.queue(call("other"));
    gate.up.handle_cancel(first);
    assert_eq!(gate.poll(), [Next::Abandon(flight)]);
    gate.up.handle_cancel(flight);
    assert_eq!(gate.drain(ms(1)), [(other, ms(250))]);
}

#[test]
fn g7_the_shared_call_has_the_highest_priority_of_its_callers() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let ahead: Vec<Ticket> = (0..5).map(|i| gate.queue(call(&format!("key-{i}")))).collect();
    let (_, flight, _) = gate.open("/poll", call("room"));
    gate.follow("/poll", interactive("person"));
    let order: Vec<Ticket> = gate.drain(ms(1)).into_iter().map(|(ticket, _)| ticket).collect();
    assert_eq!(order, [&[flight][..], &ahead].concat());
}

#[test]
fn g7_each_callers_own_deadline_ends_only_its_own_wait() {
    let mut gate = Gate::new("min_interval_ms = 0\nmax_concurrency = 1");
    let slot = gate.start(call("x"));
    let (first, flight, _) = gate.open("/poll", Call { deadline: gate.in_ms(100), ..call("room") });
    let (second, _) = gate.follow("/poll", Call { deadline: gate.in_ms(200), ..call("room") });
    let (third, _) = gate.follow("/poll", call("room"));
    let over = |ticket, waited| Next::Refuse(ticket, Refusal::WaitExceeded { waited: ms(waited), needed: None });
    assert_eq!(gate.wait(), Some(ms(100)));
    assert_eq!(gate.at_ms(100).poll(), [over(first, 100)]);
    assert_eq!(gate.at_ms(200).poll(), [over(second, 200)]);
    gate.at_ms(60_000).up.handle_end(slot);
    assert_eq!(gate.poll(), [Next::Start(flight)]);
    let _slot = gate.claimed(flight);
    gate.up.handle_cancel(third);
    assert_eq!(gate.poll(), [Next::Abandon(flight)]);
}

#[test]
fn g7_the_latest_deadline_of_its_callers_ends_the_shared_call() {
    let mut gate = Gate::new("min_interval_ms = 0\nmax_concurrency = 1");
    let slot = gate.start(call("x"));
    let (first, flight, _) = gate.open("/poll", Call { deadline: gate.in_ms(100), ..call("room") });
    let (second, _) = gate.follow("/poll", Call { deadline: gate.in_ms(50), ..call("room") });
    let over = |ticket, waited| Next::Refuse(ticket, Refusal::WaitExceeded { waited: ms(waited), needed: None });
    assert_eq!(gate.at_ms(50).poll(), [over(second, 50)]);
    assert_eq!(gate.at_ms(100).poll(), [over(first, 100), Next::Abandon(flight)]);
    gate.up.handle_end(slot);
    assert_eq!(gate.poll(), []);
}

#[test]
fn g7_deadlines_bound_the_wait_and_not_the_call() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let (_, flight, _) = gate.open("/poll", Call { deadline: gate.in_ms(300), ..call("room") });
    gate.follow("/poll", Call { deadline: gate.in_ms(280), ..call("room") });
    assert_eq!(gate.at_ms(250).poll(), [Next::Start(flight)]);
    let slot = gate.claimed(flight);
    gate.follow("/poll", Call { deadline: gate.in_ms(1), ..call("room") });
    assert_eq!(gate.at_ms(10_000).poll(), []);
    assert_eq!(gate.wait(), None);
    gate.up.handle_end(slot);
}

#[test]
fn g18_a_follower_whose_deadline_ends_before_the_cooldown_is_told_at_once() {
    let mut gate = Gate::new("throttle_statuses = [429]\nmin_interval_ms = 0");
    gate.exchange(call("a"), 429, &[("retry-after", "60")]);
    let (_, flight, _) = gate.open("/poll", call("room"));
    let impatient = Call { deadline: gate.in_ms(30_000), ..call("room") };
    let Err(Refusal::RateLimited(limited)) = gate.up.join(print("/poll"), impatient, gate.now) else { panic!("429") };
    assert_eq!((limited.retry_after_s(), limited.synthetic), (60, true));
    assert_eq!(gate.at_ms(60_000).poll(), [Next::Start(flight)]);
}

#[test]
fn g7_each_retry_is_a_new_flight_and_costs_the_budget_once() {
    let mut gate = Gate::new("throttle_statuses = [429]\nmin_interval_ms = 0\nscope = \"operation\"");
    let (_, flight, slot) = gate.open_started("/poll", call("room"));
    for _ in 0..49 {
        gate.follow("/poll", call("room"));
    }
    let heard = gate.respond(&slot, 429, &[("retry-after", "2")]);
    gate.up.handle_end(slot);
    gate.up.end_flight(flight);
    let policy = gate.up.settings().retry;
    for _ in 0..50 {
        // Every caller decides by its own policy; the budget's ten would not be enough for fifty retries.
        let verdict = gate.up.verdict(&heard, &call("room"), &policy, gate.now, tidegate_gate::Jitter::new(0.5));
        assert_eq!(verdict, Verdict::RetryIn(secs(2)));
    }
    gate.at_ms(2000);
    let again = || Call { retries: 1, ..call("room") };
    let (_, next, slot) = gate.open_started("/poll", again());
    for _ in 0..49 {
        assert_eq!(gate.follow("/poll", again()).1, next);
    }
    assert_eq!(slot.seq(), Seq(2), "two upstream calls in all");
}

#[test]
fn g3_shared_callers_are_bounded() {
    let mut gate = Gate::new("max_shared = 2");
    let (first, _, _slot) = gate.open_started("/poll", call("room"));
    gate.follow("/poll", call("room"));
    assert!(matches!(gate.up.join(print("/poll"), call("room"), gate.now), Err(Refusal::QueueFull { .. })));
    assert!(matches!(gate.up.join(print("/other"), call("room"), gate.now), Err(Refusal::QueueFull { .. })));
    gate.up.handle_cancel(first);
    gate.follow("/poll", call("room"));
}

#[test]
fn g7_a_nested_caller_frees_a_shared_call_from_waiting_for_a_slot() {
    let mut gate = Gate::new("min_interval_ms = 0\nmax_concurrency = 1");
    let outer = gate.start(call("x"));
    let (_, token, _) = gate.open("/token", call("room"));
    assert_eq!(gate.poll(), []);
    // The running call needs the same token: waiting for its own slot would wait for itself.
    gate.follow("/token", Call { nested: true, ..call("x") });
    assert_eq!(gate.poll(), [Next::Start(token)]);
    let slot = gate.claimed(token);
    gate.up.handle_end(slot);
    gate.up.handle_end(outer);
    assert_eq!(gate.up.snapshot(gate.now).running, 0);
}
