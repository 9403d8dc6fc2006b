//! Random schedules of shared calls against a naive list of who shares what (G5–G7).
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::time::Instant;

use common::{Gate, call, ms};
use http::{HeaderMap, Method, Uri};
use proptest::prelude::*;
use tidegate_gate::{
    Call, Claim, Enqueued, Fingerprint, FingerprintParts, Joined, Next, Priority, Refusal, Slot, Ticket,
};

#[derive(Clone, Debug)]
enum Step {
    Join {
        kind: usize,
        person: bool,
        max_wait_ms: Option<u64>,
    },
    /// One of the callers goes away.
    Leave(usize),
    /// One of the shared calls under way ends.
    End(usize),
    Advance {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let max_wait = proptest::option::of(0_u64..2000);
    prop_oneof![
        5 => (0_usize..3, any::<bool>(), max_wait)
            .prop_map(|(kind, person, max_wait_ms)| Step::Join { kind, person, max_wait_ms }),
        2 => any::<usize>().prop_map(Step::Leave),
        2 => any::<usize>().prop_map(Step::End),
        2 => (0_u64..600).prop_map(|ms| Step::Advance { ms }),
    ]
}

fn print(kind: usize) -> Fingerprint {
    let (uri, headers) = (Uri::from_static("/poll"), HeaderMap::new());
    let body = [u8::try_from(kind).unwrap()];
    let parts = FingerprintParts {
        method: &Method::POST,
        uri: &uri,
        headers: &headers,
        ignore: &[],
        identity: b"",
        body: &body,
    };
    Fingerprint::of(parts).unwrap()
}

/// A shared call as a list would keep it.
#[derive(Debug)]
struct Flight {
    ticket: Ticket,
    callers: BTreeMap<Ticket, Option<Instant>>,
    slot: Option<Slot>,
}

#[derive(Debug)]
struct Naive {
    gate: Gate,
    flights: BTreeMap<usize, Flight>,
}

impl Naive {
    fn step(&mut self, step: Step) {
        match step {
            Step::Join { kind, person, max_wait_ms } => self.join(kind, person, max_wait_ms),
            Step::Leave(which) => {
                let all: Vec<(usize, Ticket)> = self
                    .flights
                    .iter()
                    .flat_map(|(kind, flight)| flight.callers.keys().map(|caller| (*kind, *caller)))
                    .collect();
                if let Some((kind, caller)) = all.get(which % all.len().max(1)) {
                    self.gate.up.handle_cancel(*caller);
                    self.gone(*kind, *caller);
                }
            }
            Step::End(which) => {
                let running: Vec<usize> =
                    self.flights.iter().filter(|(_, flight)| flight.slot.is_some()).map(|(kind, _)| *kind).collect();
                if let Some(kind) = running.get(which % running.len().max(1)) {
                    let flight = self.flights.remove(kind).unwrap();
                    self.gate.up.handle_end(flight.slot.unwrap());
                    self.gate.up.end_flight(flight.ticket);
                    flight.callers.into_keys().for_each(|caller| self.gate.up.handle_cancel(caller));
                }
            }
            Step::Advance { ms: by } => {
                let to = self.gate.now + ms(by);
                while let Some(next) = self.gate.up.poll_timeout(self.gate.now).filter(|next| *next <= to) {
                    self.gate.now = next;
                    self.pump();
                }
                self.gate.now = to;
            }
        }
        self.pump();
    }

    fn join(&mut self, kind: usize, person: bool, max_wait_ms: Option<u64>) {
        let now = self.gate.now;
        let deadline = max_wait_ms.map(|wait| now + ms(wait));
        let priority = if person { Priority::Interactive } else { Priority::Background };
        let call = Call { deadline, priority, ..call(&format!("room-{kind}")) };
        match self.gate.up.join(print(kind), call, now) {
            Ok(Joined::Opened { caller, flight, enqueued }) => {
                let slot = match enqueued {
                    Enqueued::Started(slot) => Some(slot),
                    Enqueued::Queued(ticket) => {
                        assert_eq!(ticket, flight);
                        None
                    }
                };
                let callers = BTreeMap::from([(caller, deadline)]);
                let before = self.flights.insert(kind, Flight { ticket: flight, callers, slot });
                assert!(before.is_none(), "two upstream calls of one kind at once");
            }
            Ok(Joined::Following { caller, flight }) => {
                let known = self.flights.get_mut(&kind).expect("nothing to follow");
                assert_eq!(known.ticket, flight);
                known.callers.insert(caller, deadline);
            }
            Ok(Joined::Alone(_)) => panic!("this gate acts"),
            Err(Refusal::WaitExceeded { needed, .. }) => {
                assert!(needed.is_some_and(|needed| Some(now + needed) > deadline), "it could have been in time");
                assert!(!self.flights.contains_key(&kind));
            }
            Err(other @ (Refusal::QueueFull { .. } | Refusal::RateLimited(_))) => panic!("{other}"),
        }
    }

    /// A caller is gone; the last one takes the call with it.
    fn gone(&mut self, kind: usize, caller: Ticket) {
        self.flights.get_mut(&kind).unwrap().callers.remove(&caller).expect("a caller");
    }

    fn pump(&mut self) {
        let now = self.gate.now;
        loop {
            match self.gate.up.poll_start(now) {
                Next::Start(ticket) => {
                    let Claim::Started(slot) = self.gate.up.claim(ticket, now) else { panic!("just woken") };
                    let flight = self.flights.values_mut().find(|flight| flight.ticket == ticket).unwrap();
                    assert!(!flight.callers.is_empty(), "nobody waits for it");
                    assert!(flight.slot.replace(slot).is_none(), "started twice");
                }
                Next::Refuse(caller, refusal) => {
                    let (&kind, flight) =
                        self.flights.iter().find(|(_, flight)| flight.callers.contains_key(&caller)).unwrap();
                    assert!(flight.slot.is_none(), "its call has started");
                    assert!(flight.callers[&caller].is_some_and(|deadline| deadline <= now), "not yet: {refusal}");
                    self.gone(kind, caller);
                }
                Next::Abandon(ticket) => {
                    let (&kind, flight) = self.flights.iter().find(|(_, flight)| flight.ticket == ticket).unwrap();
                    assert!(flight.callers.is_empty(), "somebody still waits");
                    if let Some(slot) = self.flights.remove(&kind).unwrap().slot {
                        self.gate.up.handle_end(slot);
                    }
                    self.gate.up.end_flight(ticket);
                }
                Next::Wait(_) => break,
            }
        }
        for flight in self.flights.values() {
            assert!(!flight.callers.is_empty(), "a call goes on for nobody");
            let overdue = flight.callers.values().flatten().any(|deadline| *deadline <= now);
            assert!(flight.slot.is_some() || !overdue, "nobody told the caller that its time is over");
        }
        let snapshot = self.gate.up.snapshot(now);
        assert_eq!(snapshot.flights, self.flights.len());
        assert_eq!(snapshot.callers, self.flights.values().map(|flight| flight.callers.len()).sum::<usize>());
        assert_eq!(snapshot.running as usize, self.flights.values().filter(|flight| flight.slot.is_some()).count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn g5_g7_shared_calls_are_what_a_naive_list_says(
        slots in 1_u32..3,
        steps in proptest::collection::vec(step(), 1..100),
    ) {
        let gate = Gate::new(&format!("max_concurrency = {slots}"));
        let mut naive = Naive { gate, flights: BTreeMap::new() };
        steps.into_iter().for_each(|step| naive.step(step));
        while !naive.flights.is_empty() {
            naive.step(Step::End(0));
            naive.step(Step::Advance { ms: 500 });
        }
        let after = naive.gate.up.snapshot(naive.gate.now);
        prop_assert_eq!((after.running, after.waiting, after.flights, after.callers), (0, 0, 0, 0));
    }
}
