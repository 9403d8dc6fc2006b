//! A gate under a hand-driven clock: what a shell does, without waiting for anything.
#![allow(dead_code, reason = "each test file uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test panics on everything else")]

use std::time::{Duration, Instant, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tidegate_gate::signal::Head;
use tidegate_gate::{
    Call, Claim, Enqueued, Heard, Jitter, Key, Next, Operation, Outcome, Priority, RateLimited, Refusal, Slot, Ticket,
    Upstream, UpstreamToml,
};

/// 2023-11-14 22:13:20 GMT.
pub(crate) const WALL_S: u64 = 1_700_000_000;

/// An upstream and the time.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) up: Upstream,
    pub(crate) now: Instant,
    start: Instant,
}

/// A call that was started, and when.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) ticket: Option<Ticket>,
    pub(crate) slot: Slot,
    pub(crate) at: Duration,
}

/// Settings from TOML.
pub(crate) fn settings(toml: &str) -> tidegate_gate::UpstreamSettings {
    toml::from_str::<UpstreamToml>(toml).unwrap().resolve().unwrap()
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A background call of a key.
pub(crate) fn call(key: &str) -> Call {
    Call::new(Key::of(key), Operation::new("GET /x"))
}

pub(crate) fn interactive(key: &str) -> Call {
    Call { priority: Priority::Interactive, ..call(key) }
}

pub(crate) fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap())
    };
    let mut map = HeaderMap::new();
    for (name, value) in pairs.iter().map(pair) {
        map.append(name, value);
    }
    map
}

impl Gate {
    pub(crate) fn new(toml: &str) -> Self {
        let now = Instant::now();
        Self { up: Upstream::new(settings(toml)), now, start: now }
    }

    /// Moves the clock to a time since the start.
    pub(crate) fn at_ms(&mut self, millis: u64) -> &mut Self {
        self.now = self.start + ms(millis);
        self
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.now - self.start
    }

    pub(crate) fn in_ms(&self, millis: u64) -> Option<Instant> {
        Some(self.now + ms(millis))
    }

    /// Starts a call that must not wait.
    #[track_caller]
    pub(crate) fn start(&mut self, call: Call) -> Slot {
        match self.up.enqueue(call, self.now) {
            Ok(Enqueued::Started(slot)) => slot,
            other => panic!("not started but {other:?}"),
        }
    }

    /// Starts a call that must not wait, and never ends it.
    #[track_caller]
    pub(crate) fn occupy(&mut self, call: Call) {
        let _slot = self.start(call);
    }

    /// Queues a call that must not start or be refused.
    #[track_caller]
    pub(crate) fn queue(&mut self, call: Call) -> Ticket {
        match self.up.enqueue(call, self.now) {
            Ok(Enqueued::Queued(ticket)) => ticket,
            other => panic!("not queued but {other:?}"),
        }
    }

    /// A call that must be refused.
    #[track_caller]
    pub(crate) fn refused(&mut self, call: Call) -> Refusal {
        self.up.enqueue(call, self.now).expect_err("the call was not refused")
    }

    #[track_caller]
    pub(crate) fn refused_429(&mut self, call: Call) -> RateLimited {
        match self.refused(call) {
            Refusal::RateLimited(limited) => limited,
            other => panic!("no 429 but {other:?}"),
        }
    }

    /// What the gate has to say at this moment, up to its `Wait`.
    pub(crate) fn poll(&mut self) -> Vec<Next> {
        let mut answers = Vec::new();
        loop {
            match self.up.poll_start(self.now) {
                Next::Wait(_) => return answers,
                next => answers.push(next),
            }
        }
    }

    /// When it has to say something again.
    pub(crate) fn wait(&mut self) -> Option<Duration> {
        match self.up.poll_start(self.now) {
            Next::Wait(at) => at.map(|at| at - self.now),
            other => panic!("not waiting: {other:?}"),
        }
    }

    /// Starts everybody whose turn it is now.
    pub(crate) fn start_due(&mut self) -> Vec<Started> {
        let mut started = Vec::new();
        loop {
            match self.up.poll_start(self.now) {
                Next::Start(ticket) => match self.up.claim(ticket, self.now) {
                    Claim::Started(slot) => started.push(Started { ticket: Some(ticket), slot, at: self.elapsed() }),
                    other => panic!("woken, but {other:?}"),
                },
                Next::Wait(_) => return started,
                Next::Refuse(ticket, refusal) => panic!("{ticket:?} was refused: {refusal}"),
                Next::Abandon(flight) => panic!("{flight:?} was abandoned"),
            }
        }
    }

    /// Runs until nothing more happens by time: every call takes `each`, and gives its slot back.
    pub(crate) fn drain(&mut self, each: Duration) -> Vec<(Ticket, Duration)> {
        self.run(each, |_, _| {})
    }

    /// The same, with a look at every start.
    pub(crate) fn run(
        &mut self,
        each: Duration,
        mut on_start: impl FnMut(&mut Self, &Started),
    ) -> Vec<(Ticket, Duration)> {
        let mut log = Vec::new();
        let mut under_way: Vec<(Instant, Slot)> = Vec::new();
        loop {
            let (ended, rest): (Vec<_>, Vec<_>) = under_way.into_iter().partition(|(end, _)| *end <= self.now);
            under_way = rest;
            ended.into_iter().for_each(|(_, slot)| self.up.handle_end(slot));
            for started in self.start_due() {
                on_start(self, &started);
                log.push((started.ticket.unwrap(), started.at));
                under_way.push((self.now + each, started.slot));
            }
            let next_end = under_way.iter().map(|(end, _)| *end).min();
            match [next_end, self.up.poll_timeout(self.now)].into_iter().flatten().min() {
                Some(next) => self.now = next,
                None => return log,
            }
        }
    }

    /// A response to a running call.
    pub(crate) fn respond(&mut self, slot: &Slot, status: u16, pairs: &[(&str, &str)]) -> Heard {
        let headers = headers(pairs);
        let wall = SystemTime::UNIX_EPOCH + secs(WALL_S) + self.elapsed();
        let head = Head { status: StatusCode::from_u16(status).unwrap(), headers: &headers, wall };
        self.up.handle_response(slot, head, self.now, Jitter::new(1.0))
    }

    /// A response with a body that is looked at.
    pub(crate) fn respond_with(&mut self, slot: &Slot, status: u16, pairs: &[(&str, &str)], body: &str) -> Heard {
        let heard = self.respond(slot, status, pairs);
        assert!(heard.wants_body, "{status} {pairs:?}");
        self.up.handle_body(slot, heard, body.as_bytes(), self.now, Jitter::new(1.0))
    }

    /// One call and its response, now.
    pub(crate) fn exchange(&mut self, call: Call, status: u16, pairs: &[(&str, &str)]) -> Outcome {
        let slot = self.start(call);
        let heard = self.respond(&slot, status, pairs);
        self.up.handle_end(slot);
        heard.outcome
    }

    /// The time that is left of the cooldown of every call.
    pub(crate) fn held(&self) -> Option<Duration> {
        self.up.hold(self.now).map(|hold| hold.until - self.now)
    }
}
