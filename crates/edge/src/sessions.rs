//! The open sessions: one for each token, two for a moment for a seat, and the seats that may come back (E2, E4, E11).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use foldhash::fast::FixedState;

use crate::settings::HEARD;
use crate::{End, Ended, OVERLAP, Pass, RETURN, Role, SessionId};

/// One open session.
#[derive(Clone, Debug)]
pub struct Session {
    /// What its token said.
    pub pass: Pass,
    /// When it was let in.
    pub since: Instant,
    /// When a packet of its client last came.
    pub heard: Instant,
    /// When its token and the overlap are over.
    token_ends: Instant,
    /// When the overlap with its seat's newer session is over.
    renewed_ends: Option<Instant>,
}

/// All open sessions, and the seats whose sessions ended a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: HashMap<SessionId, Session, FixedState>,
    by_token: HashMap<Arc<str>, SessionId, FixedState>,
    /// Viewers' seats only: who publishes has no place to keep.
    seats: HashMap<Arc<str>, Presence, FixedState>,
    /// When sessions end by themselves.
    ends: BTreeSet<(Instant, SessionId)>,
    /// Seats in the order of their last session's end.
    left: VecDeque<(Instant, Arc<str>)>,
    /// While the control cannot be reached, no token's end ends a session (E4).
    away: bool,
    last: u64,
}

/// Where a seat stands at this relay.
#[derive(Debug)]
enum Presence {
    /// Its sessions, the oldest first; never none.
    Here(Vec<SessionId>),
    /// Its last session ended then.
    Left(Instant),
}

impl Sessions {
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn get(&self, session: SessionId) -> Option<&Session> {
        self.open.get(&session)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        self.open.iter().map(|(id, session)| (*id, session))
    }

    /// The session that is open on a token.
    pub(crate) fn holder(&self, token: &str) -> Option<SessionId> {
        self.by_token.get(token).copied()
    }

    /// Whether a session was heard from so lately that it keeps its token. Rule E2.
    pub(crate) fn is_heard(&self, session: SessionId, now: Instant) -> bool {
        self.open.get(&session).is_some_and(|session| now.saturating_duration_since(session.heard) < HEARD)
    }

    /// Whether a seat has a session here, or had one a moment ago. Rule E11.
    pub(crate) fn knows(&self, seat: &str, now: Instant) -> bool {
        match self.seats.get(seat) {
            Some(Presence::Here(_)) => true,
            Some(Presence::Left(at)) => now.saturating_duration_since(*at) < RETURN,
            None => false,
        }
    }

    /// Opens a session. Of its seat's others the newest has until the end of the overlap (T3); those before it are
    /// answered, and the caller ends them.
    pub(crate) fn open(&mut self, pass: Pass, now: Instant) -> (SessionId, Vec<SessionId>) {
        self.last += 1;
        let id = SessionId(self.last);
        let token_ends = now + pass.left + OVERLAP;
        self.by_token.insert(Arc::clone(&pass.token), id);
        let seat = (pass.role == Role::Viewer).then(|| Arc::clone(&pass.seat));
        let session = Session { pass, since: now, heard: now, token_ends, renewed_ends: None };
        self.watch(id, &session);
        self.open.insert(id, session);
        (id, seat.map(|seat| self.sit(seat, id, now)).unwrap_or_default())
    }

    fn sit(&mut self, seat: Arc<str>, id: SessionId, now: Instant) -> Vec<SessionId> {
        let Some(Presence::Here(sessions)) = self.seats.get_mut(&seat) else {
            self.seats.insert(seat, Presence::Here(vec![id]));
            return Vec::new();
        };
        let mut older = sessions.clone();
        sessions.push(id);
        if let Some(newest) = older.pop() {
            self.rewatch(newest, |session| session.renewed_ends = Some(now + OVERLAP));
        }
        older
    }

    /// A packet of its client came.
    pub(crate) fn hear(&mut self, session: SessionId, now: Instant) {
        if let Some(session) = self.open.get_mut(&session) {
            session.heard = session.heard.max(now);
        }
    }

    /// Takes a session out. One that is gone already is no error: both ends may close it.
    pub(crate) fn end(&mut self, id: SessionId, now: Instant) -> Option<Session> {
        let session = self.open.remove(&id)?;
        if let Some(at) = self.deadline(&session) {
            self.ends.remove(&(at, id));
        }
        if self.by_token.get(&session.pass.token) == Some(&id) {
            self.by_token.remove(&session.pass.token);
        }
        if session.pass.role == Role::Viewer
            && let Some(presence) = self.seats.get_mut(&session.pass.seat)
            && let Presence::Here(sessions) = presence
        {
            sessions.retain(|other| *other != id);
            if sessions.is_empty() {
                *presence = Presence::Left(now);
                self.left.push_back((now, Arc::clone(&session.pass.seat)));
            }
        }
        Some(session)
    }

    /// A session whose time is over; the caller ends it.
    pub(crate) fn due(&self, now: Instant) -> Option<Ended> {
        let &(_, session) = self.ends.first().filter(|(at, _)| *at <= now)?;
        let renewed = self.open.get(&session).and_then(|session| session.renewed_ends).is_some_and(|ends| ends <= now);
        Some(Ended { session, end: if renewed { End::Renewed } else { End::Expired } })
    }

    /// Forgets the seats that did not come back.
    pub(crate) fn forget_left(&mut self, now: Instant) {
        while let Some((at, seat)) = self.left.pop_front_if(|(at, _)| now.saturating_duration_since(*at) >= RETURN) {
            if matches!(self.seats.get(&seat), Some(Presence::Left(left)) if *left == at) {
                self.seats.remove(&seat);
            }
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let end = self.ends.first().map(|(at, _)| *at);
        let left = self.left.front().map(|(at, _)| *at + RETURN);
        end.into_iter().chain(left).min()
    }

    /// Whether the control can be reached. When it comes back, sessions have a whole overlap to be renewed in. E4.
    pub(crate) fn set_away(&mut self, away: bool, now: Instant) {
        if away == self.away {
            return;
        }
        self.away = away;
        self.ends.clear();
        let mut open = std::mem::take(&mut self.open);
        for (id, session) in &mut open {
            if !away {
                session.token_ends = session.token_ends.max(now + OVERLAP);
            }
            self.watch(*id, session);
        }
        self.open = open;
    }

    fn rewatch(&mut self, id: SessionId, change: impl FnOnce(&mut Session)) {
        let Some(mut session) = self.open.remove(&id) else { return };
        if let Some(at) = self.deadline(&session) {
            self.ends.remove(&(at, id));
        }
        change(&mut session);
        self.watch(id, &session);
        self.open.insert(id, session);
    }

    fn watch(&mut self, id: SessionId, session: &Session) {
        if let Some(at) = self.deadline(session) {
            self.ends.insert((at, id));
        }
    }

    fn deadline(&self, session: &Session) -> Option<Instant> {
        let token = (!self.away).then_some(session.token_ends);
        token.into_iter().chain(session.renewed_ends).min()
    }
}
