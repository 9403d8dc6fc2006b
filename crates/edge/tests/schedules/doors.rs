//! E2, E3, E4, E9, E10, E11, T3 under random comings and goings: against lists that are searched from the front.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidegate_edge::{
    Answer, Busy, Edge, EdgeSettings, End, Ended, Entry, Pass, Reading, Refusal, Removal, Role, SessionId,
};

#[derive(Clone, Debug)]
enum Step {
    Arrive { seat: u8, token: u8, role: Role, back: bool, left_s: u64 },
    Hear(usize),
    End(usize),
    Load { seconds: u32, busy: f64 },
    Pass { ms: u64 },
    Share(Option<u32>),
    Kick { seat: u8 },
    Away(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let role = prop_oneof![6 => Just(Role::Viewer), 1 => Just(Role::Publisher), 1 => Just(Role::Peer)];
    let arrive = (0..12_u8, 0..4_u8, role, prop::bool::weighted(0.1), 0..130_u64)
        .prop_map(|(seat, token, role, back, left_s)| Step::Arrive { seat, token, role, back, left_s });
    prop_oneof![
        10 => arrive,
        2 => any::<usize>().prop_map(Step::Hear),
        3 => any::<usize>().prop_map(Step::End),
        2 => (1..4_u32, prop_oneof![Just(0.1), Just(0.8), Just(0.95)])
            .prop_map(|(seconds, busy)| Step::Load { seconds, busy }),
        3 => (0..20_000_u64).prop_map(|ms| Step::Pass { ms }),
        1 => prop::option::of(0..8_u32).prop_map(Step::Share),
        1 => (0..12_u8).prop_map(|seat| Step::Kick { seat }),
        1 => any::<bool>().prop_map(Step::Away),
    ]
}

/// A session as the model keeps it.
#[derive(Clone, Debug)]
struct Open {
    id: SessionId,
    pass: Pass,
    heard: Instant,
    token_ends: Instant,
    renewed_ends: Option<Instant>,
}

struct SideBySide {
    edge: Edge,
    now: Instant,
    open: Vec<Open>,
    /// When each seat's last session ended.
    left: BTreeMap<Arc<str>, Instant>,
    kicked: Vec<Arc<str>>,
    share: Option<u32>,
    away: bool,
}

impl SideBySide {
    fn new() -> Self {
        let now = Instant::now();
        let edge = Edge::new(EdgeSettings::default(), 2, now);
        Self { edge, now, open: Vec::new(), left: BTreeMap::new(), kicked: Vec::new(), share: None, away: false }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Arrive { seat, token, role, back, left_s } => {
                self.arrive(pass(seat, token, role, back, Duration::from_secs(left_s)));
            }
            Step::Hear(which) => {
                let now = self.now;
                if let Some(open) = pick(&mut self.open, which) {
                    open.heard = now;
                    self.edge.handle_heard(open.id, now);
                }
            }
            Step::End(which) => {
                if let Some(id) = pick(&mut self.open, which).map(|open| open.id) {
                    self.edge.handle_end(id, self.now);
                    self.gone(id);
                }
            }
            Step::Load { seconds, busy } => {
                for _ in 0..seconds {
                    self.pass(Duration::from_secs(1));
                    let window = Duration::from_secs(1);
                    let reading = Reading { busy: Busy::from_share(busy), lag: Duration::ZERO, window };
                    self.edge.handle_reading(reading, self.now);
                }
            }
            Step::Pass { ms } => self.pass(Duration::from_millis(ms)),
            Step::Share(share) => {
                self.share = share;
                self.edge.handle_shares(share.map(|share| ("acme".into(), share)));
            }
            Step::Kick { seat } => {
                let seat: Arc<str> = format!("seat-{seat}").into();
                self.edge.handle_removal(Removal::Seat(seat.clone()), Duration::from_secs(1_000_000), self.now);
                let meant: Vec<_> =
                    self.open.iter().filter(|open| open.pass.seat == seat).map(|open| open.id).collect();
                self.expect_ended(&meant, End::Removed);
                self.kicked.push(seat);
            }
            Step::Away(away) => self.set_away(away),
        }
        self.same();
    }

    fn set_away(&mut self, away: bool) {
        self.edge.handle_away(away, self.now);
        if self.away && !away {
            for open in &mut self.open {
                open.token_ends = open.token_ends.max(self.now + Duration::from_secs(30));
            }
        }
        self.away = away;
    }

    fn pass(&mut self, by: Duration) {
        self.now += by;
        self.edge.handle_timeout(self.now);
        let due = |open: &Open| {
            let renewed = open.renewed_ends.is_some_and(|ends| ends <= self.now);
            let expired = !self.away && open.token_ends <= self.now;
            (renewed || expired).then_some(open.id)
        };
        let mut due: Vec<_> = self.open.iter().filter_map(due).collect();
        let mut ended: Vec<_> = std::iter::from_fn(|| self.edge.poll_ended()).map(|ended| ended.session).collect();
        due.sort_unstable();
        ended.sort_unstable();
        assert_eq!(ended, due, "E4, T3: who ends by time");
        for id in due {
            self.gone(id);
        }
    }

    fn arrive(&mut self, pass: Pass) {
        let holder = self.open.iter().find(|open| open.pass.token == pass.token).cloned();
        let heard = holder.as_ref().is_some_and(|open| self.now - open.heard < Duration::from_secs(3));
        let viewer = pass.role == Role::Viewer;
        let same_seat = |open: &&Open| open.pass.role == Role::Viewer && open.pass.seat == pass.seat;
        let left = self.left.get(&pass.seat).is_some_and(|at| self.now - *at < Duration::from_secs(30));
        let returning = viewer && (pass.back || left || self.open.iter().any(|open| same_seat(&open)));
        let counted = self.open.iter().filter(|open| open.pass.role != Role::Peer).count();
        let counted = counted - usize::from(holder.as_ref().is_some_and(|open| open.pass.role != Role::Peer));
        let scope_full = self.share.is_some_and(|share| counted >= usize::try_from(share).unwrap_or(0));
        let answer = self.edge.handle_arrival(pass.clone(), self.now);
        match &answer {
            Answer::Refused(Refusal::Removed) => assert!(self.kicked.contains(&pass.seat)),
            Answer::Refused(Refusal::TokenInUse) => assert!(heard, "E2"),
            Answer::Refused(Refusal::ScopeFull) => {
                assert!(scope_full && !returning && pass.role != Role::Peer, "E3");
            }
            Answer::Refused(Refusal::EdgeFull { .. }) => assert!(viewer && !returning, "E10, E11: {pass:?}"),
            Answer::In(admitted) => {
                assert!(!self.kicked.contains(&pass.seat) && !heard, "T6, E2");
                let limited = !returning && pass.role != Role::Peer;
                assert!(!(limited && scope_full), "E3");
                let entry = match pass.role {
                    Role::Publisher => Entry::Publisher,
                    Role::Peer => Entry::Peer,
                    Role::Viewer if returning => Entry::Returning,
                    Role::Viewer => Entry::New,
                };
                assert_eq!(admitted.entry, entry);
                if let Some(holder) = holder {
                    self.expect_ended(&[holder.id], End::Replaced);
                }
                self.sit(admitted.session, pass);
            }
        }
    }

    fn sit(&mut self, id: SessionId, pass: Pass) {
        let others = self.open.iter_mut().filter(|open| open.pass.role == Role::Viewer && open.pass.seat == pass.seat);
        let mut others: Vec<_> = if pass.role == Role::Viewer { others.collect() } else { Vec::new() };
        let newest = others.pop();
        let older: Vec<_> = others.iter().map(|open| open.id).collect();
        if let Some(newest) = newest {
            newest.renewed_ends = Some(self.now + Duration::from_secs(30));
        }
        self.expect_ended(&older, End::Renewed);
        let token_ends = self.now + pass.left + Duration::from_secs(30);
        self.open.push(Open { id, pass, heard: self.now, token_ends, renewed_ends: None });
    }

    fn expect_ended(&mut self, sessions: &[SessionId], end: End) {
        for session in sessions {
            assert_eq!(self.edge.poll_ended(), Some(Ended { session: *session, end }));
            self.gone(*session);
        }
    }

    fn gone(&mut self, id: SessionId) {
        let at = self.open.iter().position(|open| open.id == id).expect("it was open");
        let gone = self.open.remove(at);
        let here = self.open.iter().any(|open| open.pass.role == Role::Viewer && open.pass.seat == gone.pass.seat);
        if gone.pass.role == Role::Viewer && !here {
            self.left.insert(gone.pass.seat, self.now);
        }
    }

    /// E9: nothing but what the model knows ended, and both know the same sessions.
    fn same(&mut self) {
        assert_eq!(self.edge.poll_ended(), None);
        let mut known: Vec<_> = self.edge.sessions().map(|(id, _)| id).collect();
        known.sort_unstable();
        let open: Vec<_> = self.open.iter().map(|open| open.id).collect();
        assert_eq!(known, open);
        assert!(self.edge.poll_timeout().is_none_or(|at| at > self.now), "a shell would spin");
    }
}

fn pass(seat: u8, token: u8, role: Role, back: bool, left: Duration) -> Pass {
    let seat: Arc<str> = match role {
        Role::Viewer => format!("seat-{seat}").into(),
        Role::Publisher | Role::Peer => format!("{}-{seat}", role.as_str()).into(),
    };
    let token = format!("{seat}/{token}").into();
    Pass { token, seat, stream: "launch".into(), tenant: "acme".into(), role, left, back }
}

fn pick(open: &mut [Open], which: usize) -> Option<&mut Open> {
    let index = which.checked_rem(open.len())?;
    open.get_mut(index)
}

proptest! {
    #![proptest_config(crate::cases(300))]

    #[test]
    fn e2_e3_e4_e9_e10_e11_t3_every_answer_is_what_the_lists_say(steps in prop::collection::vec(step(), 1..150)) {
        let mut both = SideBySide::new();
        for step in &steps {
            both.step(step);
        }
    }
}
