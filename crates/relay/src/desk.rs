//! The relay's machine behind a mutex, and the sessions that it speaks for: one step at a time, none of them waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tidegate_edge::{Answer, Edge, EdgeSettings, End, Ended, Entry, Pass, Reading, Refusal, Removal, SessionId, State};
use tidegate_wire::relay::CloseCode;
use web_transport_moq::Session;
use web_transport_moq::noq::Connection;

use crate::hls::Ending;
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

/// How an open session is heard and told that it is over.
pub(crate) enum Line {
    /// A connection of its own.
    Media {
        session: Box<Session>,
        /// Datagrams that had come when it was last looked at.
        received: u64,
    },
    /// Requests over HTTP: each is heard by itself ([`Place::hear`]).
    Http(Ending),
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
    /// It watches over LL-HLS.
    pub(crate) hls: bool,
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
    pub(crate) fn arrive(self: &Arc<Self>, pass: Pass, line: Line) -> Result<Place, Refusal> {
        let mut inner = self.lock();
        let answer = inner.edge.handle_arrival(pass, Instant::now());
        if let Answer::In(admitted) = &answer {
            inner.lines.insert(admitted.session, line);
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
            if line.has_received() {
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
        let is_http = |id| matches!(inner.lines.get(&id), Some(Line::Http(_)));
        let open = |(id, session): (SessionId, &tidegate_edge::Session)| Open {
            pass: session.pass.clone(),
            since: session.since,
            heard: session.heard,
            hls: is_http(id),
        };
        inner.edge.sessions().map(open).collect()
    }

    /// Closes every session (O9).
    pub(crate) fn close_all(&self, code: CloseCode) {
        for line in self.lock().lines.values() {
            line.close(code);
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
                line.close(code_of(end));
            }
        }
    }

    fn standing(&self) -> Standing {
        Standing { load: self.load, state: self.edge.state(), full: self.edge.is_full(), sessions: self.edge.len() }
    }
}

impl Line {
    pub(crate) fn media(session: &Session) -> Self {
        Self::Media { session: Box::new(session.clone()), received: 0 }
    }

    /// Whether a packet has come since it was last asked.
    fn has_received(&mut self) -> bool {
        match self {
            Self::Media { session, received } => {
                let now = Connection::stats(session).udp_rx.datagrams;
                std::mem::replace(received, now) != now
            }
            Self::Http(_) => false,
        }
    }

    fn close(&self, code: CloseCode) {
        match self {
            Self::Media { session, .. } => session.close(code.number(), code.as_str().as_bytes()),
            Self::Http(ending) => drop(ending.send_replace(Some(code))),
        }
    }
}

impl Place {
    /// Something came from its client.
    pub(crate) fn hear(&self) {
        self.desk.lock().edge.handle_heard(self.id, Instant::now());
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
