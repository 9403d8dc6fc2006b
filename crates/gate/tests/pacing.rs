//! G1–G3: spacing, slots, turns, the bounded queue, deadlines, cancellation.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{Gate, call, interactive, ms, secs};
use tidegate_gate::{Call, Claim, Enqueued, Key, Next, Operation, Refusal, Ticket};

#[test]
fn g1_a_burst_drains_at_a_steady_rate() {
    let mut gate = Gate::new("");
    let first = gate.start(call("a"));
    for _ in 0..9 {
        gate.queue(call("a"));
    }
    gate.up.handle_end(first);
    let starts: Vec<u128> = gate.drain(ms(100)).into_iter().map(|(_, at)| at.as_millis()).collect();
    assert_eq!(starts, [250, 500, 750, 1000, 1250, 1500, 1750, 2000, 2250]);
}

#[test]
fn g1_never_more_than_max_concurrency_at_once() {
    let mut gate = Gate::new("min_interval_ms = 0");
    let mut slots: Vec<_> = (0..4).map(|_| gate.start(call("a"))).collect();
    let fifth = gate.queue(call("a"));
    assert_eq!(gate.wait(), None, "no time will free a slot");
    gate.at_ms(10_000);
    assert_eq!(gate.start_due().len(), 0);
    gate.up.handle_end(slots.pop().unwrap());
    let started = gate.start_due();
    assert_eq!(started.iter().map(|started| started.ticket).collect::<Vec<_>>(), [Some(fifth)]);
    assert_eq!(gate.up.snapshot(gate.now).running, 4);
}

#[test]
fn g1_the_distance_counts_from_the_start_not_from_the_waking() {
    let mut gate = Gate::new("");
    gate.occupy(call("a"));
    let (slow, next) = (gate.queue(call("a")), gate.queue(call("b")));
    assert_eq!(gate.at_ms(250).poll(), [Next::Start(slow)]);
    // The woken caller needs 300 ms to come; the next one must not start right behind it.
    assert_eq!(gate.at_ms(550).poll(), []);
    let Claim::Started(_slot) = gate.up.claim(slow, gate.now) else { panic!("its turn") };
    assert_eq!(gate.wait(), Some(ms(250)));
    assert_eq!(gate.at_ms(800).poll(), [Next::Start(next)]);
}

/// A call that may have to connect before the upstream sees it.
fn connecting(key: &str) -> Call {
    Call { leaves_later: true, ..call(key) }
}

#[test]
fn g1_nobody_starts_while_another_call_is_still_connecting() {
    let mut gate = Gate::new("");
    let mut first = gate.start(connecting("a"));
    let (second, third) = (gate.queue(connecting("b")), gate.queue(connecting("c")));
    // Its connection takes longer than the spacing.
    assert_eq!(gate.at_ms(600).poll(), []);
    gate.up.handle_sent(&mut first, gate.now);
    gate.up.handle_sent(&mut first, gate.now);
    assert_eq!(gate.wait(), Some(ms(250)));
    assert_eq!(gate.at_ms(850).poll(), [Next::Start(second)]);
    let Claim::Started(second) = gate.up.claim(second, gate.now) else { panic!("its turn") };
    // It never leaves: its connection fails, or its caller goes away.
    assert_eq!(gate.at_ms(2000).poll(), []);
    gate.up.handle_end(second);
    assert_eq!(gate.poll(), [Next::Start(third)]);
    gate.up.handle_end(first);
}

#[test]
fn g1_a_connection_that_is_quick_keeps_nobody_longer() {
    let mut gate = Gate::new("");
    let mut first = gate.start(connecting("a"));
    let second = gate.queue(connecting("b"));
    gate.at_ms(30);
    gate.up.handle_sent(&mut first, gate.now);
    assert_eq!(gate.at_ms(279).poll(), []);
    assert_eq!(gate.at_ms(280).poll(), [Next::Start(second)]);
}

#[test]
fn g2_keys_take_turns_and_each_key_is_served_in_order() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let a: Vec<Ticket> = (0..3).map(|_| gate.queue(call("a"))).collect();
    let b = gate.queue(call("b"));
    let c: Vec<Ticket> = (0..2).map(|_| gate.queue(call("c"))).collect();
    let order: Vec<Ticket> = gate.drain(ms(1)).into_iter().map(|(ticket, _)| ticket).collect();
    assert_eq!(order, [a[0], b, c[0], a[1], c[1], a[2]]);
}

#[test]
fn g2_a_thousand_calls_of_ten_keys_are_fair_at_every_point() {
    let mut gate = Gate::new("max_queue = 1000");
    gate.occupy(call("warm-up"));
    // One key has queued everything before the next one comes.
    let mut owner = BTreeMap::new();
    for key in 0..10 {
        for _ in 0..100 {
            owner.insert(gate.queue(call(&format!("key-{key}"))), key);
        }
    }
    let log = gate.drain(ms(400));
    assert_eq!(log.len(), 1000);
    for (seen, window) in log.chunks(10).enumerate() {
        let mut counts = [0_u32; 10];
        log[..seen * 10 + window.len()].iter().for_each(|(ticket, _)| counts[owner[ticket]] += 1);
        assert!(jain(&counts) >= 0.95, "after {seen} rounds: {counts:?}");
    }
    for pair in log.windows(2) {
        assert!(pair[1].1 - pair[0].1 >= ms(250), "{pair:?}");
    }
}

#[test]
fn g2_an_interactive_call_passes_the_background_queue_within_two_starts() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    for key in 0..20 {
        gate.queue(call(&format!("key-{key}")));
    }
    assert_eq!(gate.at_ms(250).start_due().len(), 1);
    let person = gate.queue(interactive("person"));
    assert_eq!(gate.at_ms(500).start_due()[0].ticket, Some(person));
}

#[test]
fn g2_at_least_one_start_in_eight_is_background_when_both_wait() {
    let mut gate = Gate::new("max_concurrency = 100");
    gate.occupy(call("x"));
    let background: Vec<Ticket> = (0..4).map(|_| gate.queue(call("b"))).collect();
    for person in 0..30 {
        gate.queue(interactive(&format!("person-{person}")));
    }
    let log = gate.drain(ms(1));
    let places: Vec<usize> =
        log.iter().enumerate().filter(|(_, (ticket, _))| background.contains(ticket)).map(|(place, _)| place).collect();
    assert_eq!(places, [7, 15, 23, 31]);
}

#[test]
fn g3_a_full_queue_refuses_and_says_so() {
    let mut gate = Gate::new("max_queue = 2");
    gate.occupy(call("a"));
    gate.queue(call("a"));
    let last = gate.queue(call("b"));
    let Refusal::QueueFull { waiting, retry_after } = gate.refused(call("c")) else { panic!("no room") };
    assert_eq!((waiting, retry_after), (2, secs(1)));
    gate.up.handle_cancel(last);
    gate.queue(call("c"));
    assert_eq!(gate.up.snapshot(gate.now).counters.queue_full, 1);
}

#[test]
fn g3_a_million_keys_stay_within_the_bound() {
    let mut gate = Gate::new("max_queue = 1000");
    gate.occupy(call("x"));
    let mut waiting = Vec::new();
    for key in 0..1_000_000 {
        match gate.up.enqueue(Call::new(Key::of(&format!("key-{key}")), Operation::new("GET /x")), gate.now) {
            Ok(Enqueued::Queued(ticket)) => waiting.push(ticket),
            Ok(Enqueued::Started(_)) => panic!("too early"),
            Err(refusal) => assert!(matches!(refusal, Refusal::QueueFull { waiting: 1000, .. })),
        }
        // Some leave, so that all million keys have had their chance of leaving something behind.
        if key % 3 == 0 && waiting.len() == 1000 {
            waiting.drain(..500).for_each(|ticket| gate.up.handle_cancel(ticket));
        }
    }
    let full = gate.up.snapshot(gate.now);
    assert!(full.waiting <= 1000 && full.keys == full.waiting, "{full:?}");
    waiting.into_iter().for_each(|ticket| gate.up.handle_cancel(ticket));
    let empty = gate.up.snapshot(gate.now);
    assert_eq!((empty.waiting, empty.keys), (0, 0));
}

#[test]
fn g3_a_wait_known_to_be_too_long_is_refused_at_once() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    for _ in 0..10 {
        gate.queue(call("a"));
    }
    // Ten of its own key are ahead: the eleventh starts at 2,750 ms at the earliest.
    let too_short = Call { deadline: gate.in_ms(2749), ..call("a") };
    assert_eq!(gate.refused(too_short), Refusal::WaitExceeded { waited: Duration::ZERO, needed: Some(ms(2750)) });
    // Another key has only one turn of `a` before its own.
    assert_eq!(
        gate.refused(Call { deadline: gate.in_ms(499), ..call("b") }),
        Refusal::WaitExceeded { waited: Duration::ZERO, needed: Some(ms(500)) }
    );
    let last = gate.queue(Call { deadline: gate.in_ms(2750), ..call("a") });
    assert_eq!(gate.drain(ms(1)).last(), Some(&(last, ms(2750))), "the estimate was exact");
}

#[test]
fn g3_a_wait_behind_many_keys_is_known_too() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    for key in 0..200 {
        gate.queue(interactive(&format!("key-{key}")));
    }
    let needed = Some(ms(201 * 250));
    let waited = Duration::ZERO;
    let person = Call { deadline: gate.in_ms(30_000), ..interactive("one more") };
    assert_eq!(gate.refused(person), Refusal::WaitExceeded { waited, needed });
    // A first background call has at most seven interactive ones before it.
    let background = gate.queue(Call { deadline: gate.in_ms(2000), ..call("b") });
    let second = Call { deadline: gate.in_ms(2249), ..call("b") };
    assert_eq!(gate.refused(second), Refusal::WaitExceeded { waited, needed: Some(ms(250 * 9)) });
    assert_eq!(gate.drain(ms(1))[7], (background, ms(2000)));
}

#[test]
fn g3_a_deadline_that_passes_in_line_ends_the_wait() {
    let mut gate = Gate::new("min_interval_ms = 0\nmax_concurrency = 1");
    let slot = gate.start(call("a"));
    let waiting = gate.queue(Call { deadline: gate.in_ms(100), ..call("b") });
    assert_eq!(gate.wait(), Some(ms(100)));
    let refusal = Refusal::WaitExceeded { waited: ms(100), needed: None };
    assert_eq!(gate.at_ms(100).poll(), [Next::Refuse(waiting, refusal)]);
    assert_eq!(gate.up.claim(waiting, gate.now), Claim::Gone);
    gate.up.handle_end(slot);
    assert_eq!(gate.poll(), []);
}

#[test]
fn g3_no_time_to_wait_is_served_when_the_gate_is_idle() {
    let mut gate = Gate::new("");
    gate.occupy(Call { deadline: Some(gate.now), ..call("a") });
    assert!(matches!(gate.refused(Call { deadline: Some(gate.now), ..call("a") }), Refusal::WaitExceeded { .. }));
}

#[test]
fn g3_a_caller_that_goes_away_gives_back_its_place() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let gone: Vec<Ticket> = (0..6).map(|_| gate.queue(call("a"))).collect();
    let other = gate.queue(call("b"));
    let seventh = gate.queue(call("a"));
    gone.into_iter().for_each(|ticket| gate.up.handle_cancel(ticket));
    // Six cancelled waiters do not delay the seventh: it has their key's turn, the first one.
    let order = gate.drain(ms(1));
    assert_eq!(order, [(seventh, ms(250)), (other, ms(500))]);
    assert_eq!(gate.up.snapshot(gate.now).counters.cancelled, 6);
}

#[test]
fn g3_a_waiter_cancelled_as_it_is_woken_loses_no_wake_up() {
    let mut gate = Gate::new("max_concurrency = 1");
    let slot = gate.start(call("x"));
    gate.up.handle_end(slot);
    let (first, second) = (gate.queue(call("a")), gate.queue(call("b")));
    assert_eq!(gate.at_ms(250).poll(), [Next::Start(first)]);
    gate.up.handle_cancel(first);
    // At the same moment, and without the spacing of a call that was never made.
    assert_eq!(gate.poll(), [Next::Start(second)]);
    assert!(matches!(gate.up.claim(second, gate.now), Claim::Started(_)));
    assert_eq!(gate.up.claim(first, gate.now), Claim::Gone);
    assert_eq!(gate.up.snapshot(gate.now).running, 1);
}

#[test]
fn g3_a_call_aborted_before_its_response_gives_its_slot_back() {
    let mut gate = Gate::new("min_interval_ms = 0\nmax_concurrency = 1");
    for _ in 0..100 {
        let slot = gate.start(call("a"));
        // Nothing was ever answered: the shell's guard drops the slot.
        gate.up.handle_end(slot);
    }
    assert_eq!(gate.up.snapshot(gate.now).running, 0);
}

#[test]
fn g3_a_woken_caller_that_never_comes_holds_up_nobody_for_long() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let (stuck, next) = (gate.queue(call("a")), gate.queue(call("b")));
    let behind = gate.queue(call("a"));
    assert_eq!(gate.at_ms(250).poll(), [Next::Start(stuck)]);
    assert_eq!(gate.wait(), Some(secs(1)));
    assert_eq!(gate.at_ms(1250).poll(), [Next::Start(next)]);
    assert!(matches!(gate.up.claim(next, gate.now), Claim::Started(_)));
    // It comes after all: its turn is over, its place before the younger call of its key is not.
    assert_eq!(gate.up.claim(stuck, gate.now), Claim::Waits);
    assert_eq!(gate.at_ms(1500).poll(), [Next::Start(stuck)]);
    assert!(matches!(gate.up.claim(stuck, gate.now), Claim::Started(_)));
    assert_eq!(gate.at_ms(1750).poll(), [Next::Start(behind)]);
    assert_eq!(gate.up.snapshot(gate.now).counters.late, 1);
}

#[test]
fn g3_cancelling_is_harmless_at_every_point() {
    let mut gate = Gate::new("");
    let slot = gate.start(call("x"));
    let (late, told, waiting) = (gate.queue(call("a")), gate.queue(call("b")), gate.queue(call("c")));
    gate.at_ms(250).poll();
    gate.at_ms(1250).poll();
    for ticket in [late, told, waiting] {
        gate.up.handle_cancel(ticket);
        gate.up.handle_cancel(ticket);
        assert_eq!(gate.up.claim(ticket, gate.now), Claim::Gone);
    }
    gate.up.handle_end(slot);
    let after = gate.up.snapshot(gate.now);
    assert_eq!((after.running, after.waiting, after.keys), (0, 0, 0));
    assert_eq!(gate.wait(), None);
}

#[test]
fn g1_a_nested_call_does_not_deadlock_at_full_concurrency() {
    let mut gate = Gate::new("");
    let mut outer = Vec::new();
    for i in 0..4 {
        outer.push(gate.at_ms(i * 250).start(call("a")));
    }
    let blocked = gate.queue(call("b"));
    // Every running call fetches a token through the same gate. Each keeps the spacing, none needs a slot.
    let nested: Vec<Ticket> = (0..4).map(|_| gate.queue(Call { nested: true, ..call("a") })).collect();
    let mut tokens = Vec::new();
    for i in 4..8 {
        tokens.extend(gate.at_ms(i * 250).start_due());
    }
    assert_eq!(tokens.iter().map(|started| started.ticket.unwrap()).collect::<Vec<_>>(), nested);
    assert_eq!(gate.up.snapshot(gate.now).running, 4);
    tokens.into_iter().for_each(|started| gate.up.handle_end(started.slot));
    outer.into_iter().for_each(|slot| gate.up.handle_end(slot));
    assert_eq!(gate.at_ms(5000).start_due()[0].ticket, Some(blocked));
    assert_eq!(gate.up.snapshot(gate.now).running, 1);
}

#[test]
fn g27_alone_a_process_takes_its_part_of_the_pace() {
    let mut gate = Gate::new("");
    gate.up.set_processes(8);
    let slot = gate.start(call("a"));
    gate.queue(call("a"));
    assert_eq!(gate.wait(), None, "one slot of eight processes' four");
    gate.up.handle_end(slot);
    assert_eq!(gate.wait(), Some(secs(2)));
    gate.up.set_settings(common::settings("min_interval_ms = 500"));
    assert_eq!(gate.wait(), Some(secs(4)), "new settings do not make it alone");
    gate.up.set_settings(common::settings(""));
    gate.up.set_processes(0);
    assert_eq!(gate.wait(), Some(ms(250)));
}

#[test]
fn o3_new_settings_change_the_pace_and_nobodys_place() {
    let mut gate = Gate::new("");
    gate.occupy(call("x"));
    let (a, b) = (gate.queue(call("a")), gate.queue(call("b")));
    gate.up.set_settings(common::settings("min_interval_ms = 1000\nmax_queue = 1"));
    assert!(matches!(gate.refused(call("c")), Refusal::QueueFull { .. }));
    assert_eq!(gate.drain(ms(1)), [(a, secs(1)), (b, secs(2))]);
}

/// Jain's fairness index: 1 when all are equal, 1/n when one has everything.
fn jain(counts: &[u32]) -> f64 {
    let sum: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let squares: f64 = counts.iter().map(|&count| f64::from(count) * f64::from(count)).sum();
    sum * sum / (counts.len() as f64 * squares)
}
