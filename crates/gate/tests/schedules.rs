//! Random schedules: the machine against a naive model, and against its invariants.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use common::{Gate, call, interactive, ms};
use proptest::prelude::*;
use tidegate_gate::{
    Change, Claim, Cooldowns, Enqueued, Next, Operation, Priority, Reach, Seq, Slot, SoftKind, Ticket,
};

/// One thing that happens to a gate.
#[derive(Clone, Debug)]
enum Step {
    Enqueue {
        key: u8,
        person: bool,
    },
    /// One of those who wait goes away.
    Cancel(usize),
    /// One of those who run ends.
    End(usize),
    /// The upstream throttles everything.
    Throttle {
        ms: u64,
    },
    Advance {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..5, any::<bool>()).prop_map(|(key, person)| Step::Enqueue { key, person }),
        1 => any::<usize>().prop_map(Step::Cancel),
        3 => any::<usize>().prop_map(Step::End),
        1 => (1_u64..1500).prop_map(|ms| Step::Throttle { ms }),
        3 => (0_u64..700).prop_map(|ms| Step::Advance { ms }),
    ]
}

fn named(key: u8, person: bool) -> tidegate_gate::Call {
    let key = format!("key-{key}");
    if person { interactive(&key) } else { call(&key) }
}

/// The rules G1, G2 and G9 as one would write them down: lists, searched from the front.
#[derive(Debug)]
struct Model {
    interval: Duration,
    slots: usize,
    running: usize,
    last_start: Option<Instant>,
    held_until: Option<Instant>,
    waiting: Vec<(Ticket, u8, Priority)>,
    /// The keys of each priority in the order of their turns.
    rings: [Vec<u8>; 2],
    passed_over: usize,
}

impl Model {
    fn may_start(&self, now: Instant) -> bool {
        self.running < self.slots && self.next_time(now) <= now
    }

    /// When time alone would let somebody start.
    fn next_time(&self, now: Instant) -> Instant {
        now.max(self.last_start.map_or(now, |last| last + self.interval)).max(self.held_until.unwrap_or(now))
    }

    fn enter(&mut self, ticket: Ticket, key: u8, priority: Priority) {
        self.waiting.push((ticket, key, priority));
        let ring = &mut self.rings[priority as usize];
        if !ring.contains(&key) {
            ring.push(key);
        }
    }

    fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|(other, ..)| *other != ticket);
        for priority in [Priority::Background, Priority::Interactive] {
            let keys: BTreeSet<u8> = self.of(priority).map(|(_, key, _)| *key).collect();
            self.rings[priority as usize].retain(|key| keys.contains(key));
        }
    }

    fn of(&self, priority: Priority) -> impl Iterator<Item = &(Ticket, u8, Priority)> {
        self.waiting.iter().filter(move |(.., own)| *own == priority)
    }

    /// Who starts at this moment.
    fn start(&mut self, now: Instant) -> Option<Ticket> {
        if self.waiting.is_empty() || !self.may_start(now) {
            return None;
        }
        let (people, others) = (self.of(Priority::Interactive).count(), self.of(Priority::Background).count());
        let priority = match people > 0 && (others == 0 || self.passed_over < 7) {
            true => Priority::Interactive,
            false => Priority::Background,
        };
        self.passed_over = if priority == Priority::Interactive && others > 0 { self.passed_over + 1 } else { 0 };
        let key = self.rings[priority as usize].remove(0);
        let (ticket, ..) = *self.of(priority).find(|(_, own, _)| *own == key).unwrap();
        self.leave(ticket);
        if self.of(priority).any(|(_, own, _)| *own == key) {
            self.rings[priority as usize].push(key);
        }
        self.running += 1;
        self.last_start = Some(now);
        Some(ticket)
    }
}

/// Runs both side by side and compares every start.
struct SideBySide {
    gate: Gate,
    model: Model,
    running: Vec<Slot>,
    starts: Vec<Instant>,
}

impl SideBySide {
    fn new(interval_ms: u64, slots: usize) -> Self {
        let gate = Gate::new(&format!("min_interval_ms = {interval_ms}\nmax_concurrency = {slots}"));
        let model = Model {
            interval: ms(interval_ms),
            slots,
            running: 0,
            last_start: None,
            held_until: None,
            waiting: Vec::new(),
            rings: [Vec::new(), Vec::new()],
            passed_over: 0,
        };
        Self { gate, model, running: Vec::new(), starts: Vec::new() }
    }

    fn step(&mut self, step: Step) {
        let now = self.gate.now;
        match step {
            Step::Enqueue { key, person } => {
                let call = named(key, person);
                let priority = call.priority;
                match self.gate.up.enqueue(call, now).unwrap() {
                    Enqueued::Started(slot) => {
                        assert!(self.model.waiting.is_empty() && self.model.may_start(now));
                        self.model.running += 1;
                        self.model.last_start = Some(now);
                        self.begin(slot);
                    }
                    Enqueued::Queued(ticket) => {
                        assert!(!self.model.waiting.is_empty() || !self.model.may_start(now));
                        self.model.enter(ticket, key, priority);
                    }
                }
            }
            Step::Cancel(which) if !self.model.waiting.is_empty() => {
                let (ticket, ..) = self.model.waiting[which % self.model.waiting.len()];
                self.gate.up.handle_cancel(ticket);
                self.model.leave(ticket);
            }
            Step::End(which) if !self.running.is_empty() => {
                let slot = self.running.swap_remove(which % self.running.len());
                self.gate.up.handle_end(slot);
                self.model.running -= 1;
            }
            Step::Cancel(_) | Step::End(_) => {}
            Step::Throttle { ms: hold } => {
                self.gate.up.apply(&Change::Throttle { reach: Reach::Whole, hold: ms(hold) }, now);
                self.model.held_until = self.model.held_until.max(Some(now + ms(hold)));
            }
            Step::Advance { ms: by } => return self.advance(now + ms(by)),
        }
        self.compare_starts();
    }

    /// Sleeps as a shell does: until the time that the machine gave, never longer.
    fn advance(&mut self, to: Instant) {
        while let Some(next) = self.gate.up.poll_timeout(self.gate.now).filter(|next| *next <= to) {
            assert!(next > self.gate.now, "a shell would spin");
            self.gate.now = next;
            self.compare_starts();
        }
        self.gate.now = to;
        self.compare_starts();
    }

    fn compare_starts(&mut self) {
        let now = self.gate.now;
        for started in self.gate.start_due() {
            assert_eq!(started.ticket, self.model.start(now), "another one's turn");
            self.begin(started.slot);
        }
        assert_eq!(self.model.start(now), None, "a lost wake-up");
        if !self.model.waiting.is_empty() && self.model.running < self.model.slots {
            let wake = self.gate.up.poll_timeout(now).unwrap();
            assert_eq!(wake, self.model.next_time(now), "the machine sleeps too long or too short");
        }
        let snapshot = self.gate.up.snapshot(now);
        assert_eq!(snapshot.running as usize, self.running.len());
        assert_eq!(snapshot.waiting, self.model.waiting.len());
    }

    fn begin(&mut self, slot: Slot) {
        if let Some(last) = self.starts.last() {
            assert!(self.gate.now - *last >= self.model.interval, "a gap below min_interval");
        }
        self.starts.push(self.gate.now);
        self.running.push(slot);
        assert!(self.running.len() <= self.model.slots, "more than max_concurrency");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn g1_g2_the_machine_starts_whom_a_naive_model_starts_and_when(
        interval_ms in prop_oneof![Just(0_u64), Just(250), 1_u64..400],
        slots in 1_usize..6,
        steps in proptest::collection::vec(step(), 1..120),
    ) {
        let mut both = SideBySide::new(interval_ms, slots);
        steps.into_iter().for_each(|step| both.step(step));
        // Everything that still waits gets its turn once slots come back.
        while !both.running.is_empty() || !both.model.waiting.is_empty() {
            both.step(Step::End(0));
            both.step(Step::Advance { ms: 2000 });
        }
        let after = both.gate.up.snapshot(both.gate.now);
        prop_assert_eq!((after.running, after.waiting, after.keys), (0, 0, 0));
    }
}

/// What a woken caller does.
#[derive(Clone, Copy, Debug)]
enum Waker {
    ComesAfter(u64),
    GoesAwayAfter(u64),
}

fn waker() -> impl Strategy<Value = Waker> {
    prop_oneof![
        4 => Just(Waker::ComesAfter(0)),
        2 => (0_u64..2500).prop_map(Waker::ComesAfter),
        2 => (0_u64..2500).prop_map(Waker::GoesAwayAfter),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Callers that come late or go away just as they are woken: the gaps and the cap hold, nobody who stays is
    /// forgotten, and every slot comes back.
    #[test]
    fn g3_nobody_is_forgotten_however_the_woken_behave(
        interval_ms in prop_oneof![Just(0_u64), Just(250)],
        slots in 1_u32..4,
        callers in proptest::collection::vec((0_u8..4, any::<bool>(), waker(), 1_u64..600), 1..40),
    ) {
        let mut gate = Gate::new(&format!("min_interval_ms = {interval_ms}\nmax_concurrency = {slots}"));
        let mut plans: BTreeMap<Ticket, (Waker, u64)> = BTreeMap::new();
        let mut due: BTreeMap<(Instant, Ticket), Waker> = BTreeMap::new();
        let mut running: Vec<(Instant, Slot)> = Vec::new();
        let mut starts: Vec<Instant> = Vec::new();
        let (mut stayed, mut served) = (0, 0);
        for (key, person, waker, takes) in callers {
            stayed += u32::from(matches!(waker, Waker::ComesAfter(_)));
            match gate.up.enqueue(named(key, person), gate.now).unwrap() {
                Enqueued::Queued(ticket) => drop(plans.insert(ticket, (waker, takes))),
                Enqueued::Started(slot) => {
                    served += u32::from(matches!(waker, Waker::ComesAfter(_)));
                    starts.push(gate.now);
                    running.push((gate.now + ms(takes), slot));
                }
            }
        }
        for _ in 0..100_000 {
            let now = gate.now;
            let (ended, rest): (Vec<_>, Vec<_>) = running.into_iter().partition(|(end, _)| *end <= now);
            running = rest;
            ended.into_iter().for_each(|(_, slot)| gate.up.handle_end(slot));
            while let Some(entry) = due.first_entry().filter(|entry| entry.key().0 <= now) {
                let ((_, ticket), waker) = entry.remove_entry();
                match waker {
                    Waker::GoesAwayAfter(_) => gate.up.handle_cancel(ticket),
                    Waker::ComesAfter(_) => match gate.up.claim(ticket, now) {
                        Claim::Started(slot) => {
                            prop_assert!(starts.last().is_none_or(|last| now - *last >= ms(interval_ms)));
                            starts.push(now);
                            served += 1;
                            running.push((now + ms(plans[&ticket].1), slot));
                        }
                        // It has come late and keeps its place; next time it comes at once.
                        Claim::Waits => {
                            plans.entry(ticket).and_modify(|plan| plan.0 = Waker::ComesAfter(0));
                        }
                        other @ (Claim::Refused(_) | Claim::Gone) => panic!("{other:?}"),
                    },
                }
            }
            prop_assert!(running.len() <= slots as usize);
            loop {
                match gate.up.poll_start(now) {
                    Next::Start(ticket) => {
                        let (waker, _) = plans[&ticket];
                        let (Waker::ComesAfter(after) | Waker::GoesAwayAfter(after)) = waker;
                        due.insert((now + ms(after), ticket), waker);
                    }
                    Next::Wait(_) => break,
                    other @ (Next::Refuse(..) | Next::Abandon(_)) => panic!("{other:?}"),
                }
            }
            let times = [due.keys().map(|(at, _)| *at).next(), running.iter().map(|(end, _)| *end).min()];
            match times.into_iter().flatten().chain(gate.up.poll_timeout(now)).min() {
                Some(next) => gate.now = next.max(now),
                None => break,
            }
        }
        prop_assert_eq!(served, stayed);
        let after = gate.up.snapshot(gate.now);
        prop_assert_eq!((after.running, after.waiting, after.keys), (0, 0, 0));
    }

    /// Keys of equal demand get equal service at every moment of a long queue, in whatever order they came.
    #[test]
    fn g2_equal_demand_gets_equal_service(order in proptest::collection::vec(0_usize..8, 160).prop_shuffle()) {
        let mut gate = Gate::new("min_interval_ms = 10\nmax_concurrency = 3");
        gate.occupy(call("warm-up"));
        let mut owner = BTreeMap::new();
        let mut left = [20_usize; 8];
        for wish in order {
            // Twenty of each, in a random order.
            let key = (0..8).map(|i| (wish + i) % 8).find(|key| left[*key] > 0).unwrap();
            left[key] -= 1;
            owner.insert(gate.queue(call(&format!("key-{key}"))), key);
        }
        let mut counts = [0.0_f64; 8];
        for (started, (ticket, _)) in gate.drain(ms(25)).into_iter().enumerate() {
            counts[owner[&ticket]] += 1.0;
            if (started + 1) % 8 == 0 {
                let (sum, squares) = (counts.iter().sum::<f64>(), counts.iter().map(|count| count * count).sum::<f64>());
                prop_assert!(sum * sum / (8.0 * squares) >= 0.95, "{:?}", counts);
            }
        }
    }

    /// Within a key and a priority, first come first served, whoever goes away.
    #[test]
    fn g2_a_key_is_served_in_the_order_of_coming(
        callers in proptest::collection::vec((0_u8..3, any::<bool>(), any::<bool>()), 1..60),
    ) {
        let mut gate = Gate::new("min_interval_ms = 5\nmax_concurrency = 2");
        gate.occupy(call("warm-up"));
        let mut who = BTreeMap::new();
        for (key, person, leaves) in callers {
            let ticket = gate.queue(named(key, person));
            if leaves {
                gate.up.handle_cancel(ticket);
            } else {
                who.insert(ticket, (key, person));
            }
        }
        let mut last: BTreeMap<(u8, bool), Ticket> = BTreeMap::new();
        let log = gate.drain(ms(7));
        prop_assert_eq!(log.len(), who.len());
        for (ticket, _) in log {
            let before = last.insert(who[&ticket], ticket);
            prop_assert!(before < Some(ticket));
        }
    }
}

/// A change of a cooldown, and the time since the last one.
fn change() -> impl Strategy<Value = (u64, Change)> {
    let reach = prop_oneof![
        2 => Just(Reach::Whole),
        1 => (0_u8..3).prop_map(|operation| Reach::Operation(Operation::new(&format!("op-{operation}")))),
    ];
    let kind = prop_oneof![Just(SoftKind::Rate), Just(SoftKind::Budget)];
    let throttle = (reach.clone(), 1_u64..3000).prop_map(|(reach, hold)| Change::Throttle { reach, hold: ms(hold) });
    let soft = (kind, reach, 0_u64..20, proptest::option::of(1_u64..3000))
        .prop_map(|(kind, reach, seq, hold)| Change::Soft { kind, reach, seq: Seq(seq), hold: hold.map(ms) });
    (0_u64..1000, prop_oneof![throttle, soft])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Throttles are the latest end of all of them; a forecast is the one of the newest call, whatever came last.
    #[test]
    fn g17_cooldowns_are_what_a_list_of_all_changes_says(changes in proptest::collection::vec(change(), 1..60)) {
        let mut now = Instant::now();
        let mut cooldowns = Cooldowns::new(100);
        let mut told: Vec<(Instant, Change)> = Vec::new();
        let mut throttled = None;
        for (after, change) in changes {
            now += ms(after);
            cooldowns.apply(&change, now);
            told.push((now, change));

            let whole = naive(&told, &Reach::Whole, now);
            prop_assert_eq!(cooldowns.hold(now).map(|hold| hold.until), whole);
            for operation in ["op-0", "op-1", "op-2"].map(Operation::new) {
                let hold = cooldowns.hold_of(&operation, now);
                let reach = Reach::Operation(operation);
                let firm = naive_throttle(&told, &reach).filter(|until| *until > now);
                prop_assert_eq!(hold.as_ref().is_some_and(|hold| hold.refuses()), firm.is_some());
                prop_assert_eq!(hold.map(|hold| hold.until), firm.or_else(|| naive(&told, &reach, now)));
            }
            // Hard cooldowns only move forward.
            let until = naive_throttle(&told, &Reach::Whole);
            prop_assert!(until >= throttled);
            prop_assert_eq!(cooldowns.throttled_until(now), until.filter(|until| *until > now));
            throttled = until;
        }
    }
}

fn naive_throttle(told: &[(Instant, Change)], whose: &Reach) -> Option<Instant> {
    let ends = told.iter().filter_map(|(at, change)| match change {
        Change::Throttle { reach, hold } if reach == whose => Some(*at + *hold),
        Change::Throttle { .. } | Change::Soft { .. } | Change::Rate { .. } => None,
    });
    ends.max()
}

fn naive(told: &[(Instant, Change)], whose: &Reach, now: Instant) -> Option<Instant> {
    let newest = |wanted| {
        let softs = told.iter().filter_map(move |(at, change)| match change {
            Change::Soft { kind, reach, seq, hold } if *kind == wanted && reach == whose => {
                Some((*seq, hold.map(|hold| *at + hold)))
            }
            Change::Throttle { .. } | Change::Soft { .. } | Change::Rate { .. } => None,
        });
        // Of equal numbers the later one: it is the same call's.
        softs.max_by_key(|(seq, _)| *seq).and_then(|(_, until)| until)
    };
    let all = [naive_throttle(told, whose), newest(SoftKind::Rate), newest(SoftKind::Budget)];
    all.into_iter().flatten().filter(|until| *until > now).max()
}
