//! A relay's machine with a clock that is moved by hand.

use std::time::{Duration, Instant};

use tidegate_edge::{
    Admitted, Answer, Busy, Edge, EdgeSettings, End, Ended, Pass, Reading, Refusal, Role, SessionId, State,
};

pub(crate) struct Stage {
    pub(crate) edge: Edge,
    pub(crate) now: Instant,
}

impl Stage {
    pub(crate) fn new(settings: EdgeSettings) -> Self {
        let now = Instant::now();
        Self { edge: Edge::new(settings, 2, now), now }
    }

    /// A relay that was just found saturated.
    pub(crate) fn saturated() -> Self {
        let mut stage = Self::new(EdgeSettings::default());
        assert_eq!(stage.seconds(2, 0.9, 0), Some(State::Saturated));
        stage
    }

    /// So many seconds of this load; answers the last change of state in them.
    pub(crate) fn seconds(&mut self, seconds: u32, busy: f64, lag_ms: u64) -> Option<State> {
        let mut changed = None;
        for _ in 0..seconds {
            self.now += s(1);
            changed = self.edge.handle_reading(reading(busy, lag_ms), self.now).or(changed);
        }
        changed
    }

    pub(crate) fn pass(&mut self, by: Duration) {
        self.now += by;
        self.edge.handle_timeout(self.now);
    }

    pub(crate) fn arrive(&mut self, pass: Pass) -> Answer {
        self.edge.handle_arrival(pass, self.now)
    }

    pub(crate) fn admit(&mut self, pass: Pass) -> SessionId {
        self.admitted(pass).session
    }

    pub(crate) fn admitted(&mut self, pass: Pass) -> Admitted {
        match self.arrive(pass) {
            Answer::In(admitted) => admitted,
            Answer::Refused(refusal) => panic!("refused: {refusal:?}"),
        }
    }

    pub(crate) fn refusal(&mut self, pass: Pass) -> Refusal {
        match self.arrive(pass) {
            Answer::Refused(refusal) => refusal,
            Answer::In(admitted) => panic!("let in: {admitted:?}"),
        }
    }

    /// How many of a crowd of newcomers get in now; each is of a seat of its own.
    pub(crate) fn crowd(&mut self, crowd: u32) -> u32 {
        let from = self.edge.len();
        (0..crowd).map(|n| u32::from(matches!(self.arrive(viewer(&format!("crowd-{from}-{n}"))), Answer::In(_)))).sum()
    }

    pub(crate) fn ended(&mut self) -> Vec<(SessionId, End)> {
        std::iter::from_fn(|| self.edge.poll_ended()).map(|Ended { session, end }| (session, end)).collect()
    }
}

pub(crate) fn reading(busy: f64, lag_ms: u64) -> Reading {
    Reading { busy: Busy::from_share(busy), lag: Duration::from_millis(lag_ms), window: s(1) }
}

pub(crate) fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A seat's first token.
pub(crate) fn viewer(seat: &str) -> Pass {
    viewers(seat, "1")
}

/// One of a seat's tokens.
pub(crate) fn viewers(seat: &str, token: &str) -> Pass {
    Pass {
        token: format!("{seat}-{token}").into(),
        seat: seat.into(),
        stream: "launch".into(),
        tenant: "acme".into(),
        role: Role::Viewer,
        left: s(120),
        back: false,
    }
}

pub(crate) fn publisher(name: &str) -> Pass {
    Pass { role: Role::Publisher, left: s(43_200), ..viewer(name) }
}

pub(crate) fn peer(name: &str) -> Pass {
    Pass { role: Role::Peer, ..viewer(name) }
}
