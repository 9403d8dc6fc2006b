//! The relay's machine behind a mutex, and the sessions that it speaks for: one step at a time, none of them waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tidegate_edge::{Answer, Edge, EdgeSettings, End, Ended, Entry, Pass, Reading, Refusal, Removal, SessionId, State};
use tidegate_wire::relay::CloseCode;
use web_transport_moq::Session;
use web_transport_moq::noq::Connection;

use crate::metrics;

/// The desk of one relay.
pub(crate) struct Desk {
    inner: Mutex<Inner>,
}

struct Inner {
    edge: Edge,
    lines: HashMap<SessionId, Line>,
    load: Reading,
}

/// The connection of an open session.
struct Line {
    session: Session,
    /// Datagrams that had come when it was last looked at.
    received: u64,
}

/// A session that is in; it is counted until this is dropped.
pub(crate) struct Place {
    desk: Arc<Desk>,
    id: SessionId,
    pub(crate) entry: Entry,
}

/// An open session, as the control is told of it.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) pass: Pass,
    pub(crate) since: Instant,
    pub(crate) heard: Instant,
}

/// How the relay is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What was measured in the last second (E5).
    pub load: Reading,
    /// Open or saturated (E6).
    pub state: State,
    /// Whether newcomers are refused: saturated, and admission is on (E12).
    pub full: bool,
    /// Open sessions.
    pub sessions: usize,
}

impl Desk {
    pub(crate) fn new(settings: EdgeSettings, threads: usize) -> Arc<Self> {
        let load = Reading { busy: tidegate_edge::Busy::default(), lag: Duration::ZERO, window: Duration::ZERO };
        let edge = Edge::new(settings, threads, Instant::now());
        Arc::new(Self { inner: Mutex::new(Inner { edge, lines: HashMap::new(), load }) })
    }

    /// Whether a handshake may begin now (E7).
    pub(crate) fn may_begin(&self) -> bool {
        self.lock().edge.handle_handshake(Instant::now())
    }

    /// Lets a session in, or says why not.
    pub(crate) fn arrive(self: &Arc<Self>, pass: Pass, session: &Session) -> Result<Place, Refusal> {
        let mut inner = self.lock();
        let answer = inner.edge.handle_arrival(pass, Instant::now());
        if let Answer::In(admitted) = &answer {
            inner.lines.insert(admitted.session, Line { session: session.clone(), received: 0 });
        }
        inner.close_ended();
        drop(inner);
        match answer {
            Answer::In(admitted) => {
                metrics::admitted(admitted.entry, admitted.observed);
                Ok(Place { desk: Arc::clone(self), id: admitted.session, entry: admitted.entry })
            }
            Answer::Refused(refusal) => Err(refusal),
        }
    }

    /// Takes a second's reading, hears who is still there, and ends whose time is over.
    pub(crate) fn second(&self, reading: Reading) {
        let mut inner = self.lock();
        let now = Instant::now();
        inner.load = reading;
        if let Some(state) = inner.edge.handle_reading(reading, now) {
            tracing::info!(state = state.as_str(), busy = %reading.busy, lag = ?reading.lag, "the relay changed its state");
        }
        let Inner { edge, lines, .. } = &mut *inner;
        for (id, line) in lines {
            let received = Connection::stats(&line.session).udp_rx.datagrams;
            if std::mem::replace(&mut line.received, received) != received {
                edge.handle_heard(*id, now);
            }
        }
        edge.handle_timeout(now);
        inner.close_ended();
        let standing = inner.standing();
        drop(inner);
        metrics::standing(&standing);
    }

    pub(crate) fn set(&self, settings: EdgeSettings) {
        self.lock().edge.set(settings);
    }

    pub(crate) fn set_shares(&self, shares: impl IntoIterator<Item = (Arc<str>, u32)>) {
        self.lock().edge.handle_shares(shares);
    }

    pub(crate) fn set_away(&self, away: bool) {
        let mut inner = self.lock();
        inner.edge.handle_away(away, Instant::now());
        inner.close_ended();
    }

    pub(crate) fn remove(&self, removal: Removal, memory: Duration) {
        let mut inner = self.lock();
        inner.edge.handle_removal(removal, memory, Instant::now());
        inner.close_ended();
    }

    pub(crate) fn standing(&self) -> Standing {
        self.lock().standing()
    }

    /// All open sessions, in no order.
    pub(crate) fn open(&self) -> Vec<Open> {
        let inner = self.lock();
        let sessions = inner.edge.sessions().map(|(_, session)| session);
        sessions
            .map(|session| Open { pass: session.pass.clone(), since: session.since, heard: session.heard })
            .collect()
    }

    /// Closes every session (O9).
    pub(crate) fn close_all(&self, code: CloseCode) {
        for line in self.lock().lines.values() {
            line.session.close(code.number(), code.as_str().as_bytes());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn close_ended(&mut self) {
        while let Some(Ended { session, end }) = self.edge.poll_ended() {
            metrics::ended(end);
            if let Some(line) = self.lines.remove(&session) {
                let code = code_of(end);
                line.session.close(code.number(), code.as_str().as_bytes());
            }
        }
    }

    fn standing(&self) -> Standing {
        Standing { load: self.load, state: self.edge.state(), full: self.edge.is_full(), sessions: self.edge.len() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inner = self.desk.lock();
        inner.lines.remove(&self.id);
        inner.edge.handle_end(self.id, Instant::now());
        inner.close_ended();
    }
}

fn code_of(end: End) -> CloseCode {
    match end {
        End::Replaced => CloseCode::Replaced,
        End::Renewed => CloseCode::Renewed,
        End::Expired => CloseCode::TokenExpired,
        End::Removed => CloseCode::Removed,
    }
}
