//! E7 under random crowds: a relay in the small, whose load follows from who is in.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidegate_edge::{Answer, Busy, Edge, EdgeSettings, Pass, Reading, Role, SessionId};

/// What a relay is like, and what comes.
#[derive(Clone, Debug)]
struct World {
    /// Busy share that one session takes. The dearest: a relay that carries seventy viewers.
    session: f64,
    /// How long a session takes to cost all of that, in tenths of a second.
    ramp: u32,
    /// Busy share that is there without sessions: publishers' work.
    base: f64,
    /// What one handshake takes of all threads, in seconds; the machine assumes 0.0005.
    handshake: f64,
    /// How much a reading may be off, relative.
    noise: f64,
    /// Who knocks in each second; the last goes on.
    crowds: Vec<Crowd>,
    seed: u64,
}

#[derive(Clone, Debug)]
struct Crowd {
    seconds: u32,
    each_second: u32,
    /// How many of a thousand leave in a second.
    leaving: u32,
}

fn world() -> impl Strategy<Value = World> {
    let session = prop_oneof![(0.0005..0.012_f64), (0.0002..0.002_f64)];
    let crowd = prop_oneof![0..20_u32, 0..400_u32, 2000..4000_u32];
    let crowds = (1..20_u32, crowd, prop_oneof![3 => Just(0_u32), 1 => 0..300_u32])
        .prop_map(|(seconds, each_second, leaving)| Crowd { seconds, each_second, leaving });
    let crowds = prop::collection::vec(crowds, 1..6);
    (session, 0..=10_u32, 0.0..0.4_f64, 0.0001..0.0008_f64, 0.0..0.05_f64, crowds, any::<u64>()).prop_map(
        |(session, ramp, base, handshake, noise, crowds, seed)| World {
            session,
            ramp,
            base,
            handshake,
            noise,
            crowds,
            seed,
        },
    )
}

/// A relay with its load, in steps of a tenth of a second.
struct Relay {
    world: World,
    edge: Edge,
    now: Instant,
    /// Who is in, and how many steps ago they came.
    inside: Vec<(SessionId, u32)>,
    arrivals: u64,
    random: u64,
    worst: f64,
}

impl Relay {
    fn new(world: World) -> Self {
        let now = Instant::now();
        let edge = Edge::new(EdgeSettings::default(), 2, now);
        let random = world.seed | 1;
        Self { world, edge, now, inside: Vec::new(), arrivals: 0, random, worst: 0.0 }
    }

    /// xorshift: noise that a failing case replays.
    fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        f64::from(u32::try_from(self.random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }

    fn second(&mut self, crowd: &Crowd) {
        let mut busy = 0.0;
        for step in 0..STEPS {
            let knocking = crowd.each_second * (step + 1) / STEPS - crowd.each_second * step / STEPS;
            let handshakes = (0..knocking).filter(|_| self.knock()).count();
            self.now += Duration::from_millis(100);
            let handshakes = f64::from(u32::try_from(handshakes).unwrap_or(0));
            let load = (self.load() + handshakes * self.world.handshake * f64::from(STEPS)).min(1.0);
            busy += load / f64::from(STEPS);
            for (_, age) in &mut self.inside {
                *age += 1;
            }
        }
        self.worst = self.worst.max(busy);
        let seen = busy * (1.0 + (self.random() * 2.0 - 1.0) * self.world.noise);
        let reading = Reading { busy: Busy::from_share(seen), lag: Duration::ZERO, window: Duration::from_secs(1) };
        self.edge.handle_reading(reading, self.now);
        let leaving = self.inside.len() * usize::try_from(crowd.leaving).unwrap_or(0) / 1000;
        for (session, _) in self.inside.drain(..leaving) {
            self.edge.handle_end(session, self.now);
        }
    }

    /// One who wants in; answers whether a handshake began.
    fn knock(&mut self) -> bool {
        if !self.edge.handle_handshake(self.now) {
            return false;
        }
        self.arrivals += 1;
        let name: std::sync::Arc<str> = self.arrivals.to_string().into();
        let pass = Pass {
            token: name.clone(),
            seat: name,
            stream: "launch".into(),
            tenant: "acme".into(),
            role: Role::Viewer,
            left: Duration::from_secs(3600),
            back: false,
        };
        if let Answer::In(admitted) = self.edge.handle_arrival(pass, self.now) {
            self.inside.push((admitted.session, 0));
        }
        true
    }

    fn load(&self) -> f64 {
        let ramp = f64::from(self.world.ramp.max(1));
        let part = |age: u32| (f64::from(age + 1) / ramp).min(1.0);
        self.world.base + self.inside.iter().map(|(_, age)| part(*age) * self.world.session).sum::<f64>()
    }
}

proptest! {
    #![proptest_config(crate::cases(100))]

    #[test]
    fn e7_no_burst_of_joins_carries_busy_past_095(world in world()) {
        let mut relay = Relay::new(world.clone());
        // Publishers were there before the crowd.
        relay.second(&Crowd { seconds: 1, each_second: 0, leaving: 0 });
        for crowd in &world.crowds {
            for _ in 0..crowd.seconds {
                relay.second(crowd);
            }
        }
        prop_assert!(relay.worst <= 0.95, "busy reached {} with {} in", relay.worst, relay.inside.len());
    }

    /// Refusing everybody would keep every promise but this one.
    #[test]
    fn e7_a_lasting_crowd_fills_the_relay(session in 0.0005..0.01_f64, ramp in 0..=10_u32, seed in any::<u64>()) {
        let crowd = Crowd { seconds: 60, each_second: 100, leaving: 0 };
        let world = World { session, ramp, base: 0.0, handshake: 0.0005, noise: 0.02, crowds: vec![], seed };
        let mut relay = Relay::new(world);
        for _ in 0..crowd.seconds {
            relay.second(&crowd);
        }
        let carried = relay.load();
        prop_assert!(carried >= 0.7, "only {carried} of the relay is used, by {} sessions", relay.inside.len());
    }
}

const STEPS: u32 = 10;
