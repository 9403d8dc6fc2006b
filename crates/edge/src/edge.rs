//! The machine of one relay.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::handshakes::Handshakes;
use crate::intake::Intake;
use crate::removals::Removals;
use crate::saturation::Saturation;
use crate::scopes::Scopes;
use crate::sessions::Sessions;
use crate::{
    Admission, Admitted, Answer, EdgeSettings, End, Ended, Entry, Full, Pass, Reading, Refusal, Removal, Role, Session,
    SessionId, State,
};

/// Admits, refuses and ends the sessions of one relay.
#[derive(Debug)]
pub struct Edge {
    settings: EdgeSettings,
    saturation: Saturation,
    intake: Intake,
    handshakes: Handshakes,
    sessions: Sessions,
    scopes: Scopes,
    removals: Removals,
    ended: VecDeque<Ended>,
}

impl Edge {
    /// An open relay without sessions, with this many work threads.
    #[must_use]
    pub fn new(settings: EdgeSettings, threads: usize, now: Instant) -> Self {
        Self {
            saturation: Saturation::new(),
            intake: Intake::new(&settings),
            handshakes: Handshakes::new(threads, now),
            sessions: Sessions::default(),
            scopes: Scopes::default(),
            removals: Removals::default(),
            ended: VecDeque::new(),
            settings,
        }
    }

    /// Takes other settings; they hold from the next arrival and the next reading. Rule E13.
    pub fn set(&mut self, settings: EdgeSettings) {
        self.settings = settings;
    }

    /// What it was measured to be. Rule E6.
    #[must_use]
    pub const fn state(&self) -> State {
        self.saturation.state()
    }

    /// Whether newcomers are refused now: what the control and viewers are told. Rules E12 and E13.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.settings.admission == Admission::On && self.state() == State::Saturated
    }

    /// Whether a handshake may begin now; one that may not is left unanswered, and comes again. Rule E7.
    pub fn handle_handshake(&mut self, now: Instant) -> bool {
        self.handshakes.begin(now) || self.settings.admission != Admission::On
    }

    /// Takes what was measured in the last second. Answers the state if it changed. Rules E5 to E7.
    pub fn handle_reading(&mut self, reading: Reading, now: Instant) -> Option<State> {
        let open = self.sessions.len();
        let handshakes = self.handshakes.handle_reading(&reading, self.intake.load_of(open));
        let spare = self.intake.handle_reading(&reading, open, handshakes, &self.settings);
        self.handshakes.set_spare(spare);
        self.saturation.handle_reading(&reading, self.settings.level, now)
    }

    /// Answers a session that wants in. Its first request decides (E8): what it asks for afterwards is not asked
    /// about again (E9).
    pub fn handle_arrival(&mut self, pass: Pass, now: Instant) -> Answer {
        self.handle_timeout(now);
        if self.removals.means(&pass) {
            return Answer::Refused(Refusal::Removed);
        }
        let holder = self.sessions.holder(&pass.token);
        if holder.is_some_and(|session| self.sessions.is_heard(session, now)) {
            return Answer::Refused(Refusal::TokenInUse);
        }
        let entry = self.entry_of(&pass, now);
        let limited = matches!(entry, Entry::New | Entry::Publisher);
        if limited && self.scopes.is_full(&pass.tenant, holder.is_some()) {
            return Answer::Refused(Refusal::ScopeFull);
        }
        let full = if entry == Entry::New { self.fullness() } else { None };
        if let (Some(full), Admission::On) = (full, self.settings.admission) {
            return Answer::Refused(Refusal::EdgeFull { retry: self.settings.retry, full });
        }
        if let Some(session) = holder {
            self.end(Ended { session, end: End::Replaced }, now);
        }
        let session = self.admit(pass, now);
        let observed = full.filter(|_| self.settings.admission == Admission::Observe);
        Answer::In(Admitted { session, entry, observed })
    }

    /// A packet of a session's client came. E2 needs to hear of it each second.
    pub fn handle_heard(&mut self, session: SessionId, now: Instant) {
        self.sessions.hear(session, now);
    }

    /// A session ended by itself. One that the machine ended is known already.
    pub fn handle_end(&mut self, session: SessionId, now: Instant) {
        self.handle_timeout(now);
        self.close(session, now);
    }

    /// Takes the tenants' shares of the fleet's sessions, all of them. A tenant without one has no limit here. Rule
    /// E3.
    pub fn handle_shares(&mut self, shares: impl IntoIterator<Item = (Arc<str>, u32)>) {
        self.scopes.set_shares(shares);
    }

    /// Ends what a removal means, and refuses its tokens for as long as one could still be shown. Rules E4 and T6.
    pub fn handle_removal(&mut self, removal: Removal, memory: Duration, now: Instant) {
        self.handle_timeout(now);
        let meant = self.sessions.iter().filter(|(_, session)| removal.means(&session.pass)).map(|(id, _)| id);
        let mut meant: Vec<_> = meant.collect();
        meant.sort_unstable();
        for session in meant {
            self.end(Ended { session, end: End::Removed }, now);
        }
        self.removals.insert(removal, memory, now);
    }

    /// Whether the control, or its store, is away: then no token's end ends a session. Rule E4.
    pub fn handle_away(&mut self, away: bool, now: Instant) {
        if !away {
            self.sessions.set_away(false, now);
        }
        self.handle_timeout(now);
        self.sessions.set_away(away, now);
    }

    /// Ends the sessions whose time is over. The other verbs do so first.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(ended) = self.sessions.due(now) {
            self.end(ended, now);
        }
        self.sessions.forget_left(now);
        self.removals.expire(now);
    }

    /// When something may change by time alone.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.sessions.poll_timeout().into_iter().chain(self.removals.poll_timeout()).min()
    }

    /// The next session that the machine ended; look after every verb.
    pub fn poll_ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }

    /// An open session.
    #[must_use]
    pub fn session(&self, session: SessionId) -> Option<&Session> {
        self.sessions.get(session)
    }

    /// All open sessions, in no order.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        self.sessions.iter()
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.len() == 0
    }

    fn entry_of(&self, pass: &Pass, now: Instant) -> Entry {
        match pass.role {
            Role::Publisher => Entry::Publisher,
            Role::Peer => Entry::Peer,
            Role::Viewer if pass.back || self.sessions.knows(&pass.seat, now) => Entry::Returning,
            Role::Viewer => Entry::New,
        }
    }

    /// What leaves no room for a newcomer, if anything.
    fn fullness(&self) -> Option<Full> {
        match self.saturation.state() {
            State::Saturated => Some(Full::Saturated),
            State::Open if self.intake.has_room() => None,
            State::Open => Some(Full::Share),
        }
    }

    fn admit(&mut self, pass: Pass, now: Instant) -> SessionId {
        self.intake.join();
        if pass.role != Role::Peer {
            self.scopes.open(&pass.tenant);
        }
        let (session, older) = self.sessions.open(pass, now);
        for session in older {
            self.end(Ended { session, end: End::Renewed }, now);
        }
        session
    }

    fn end(&mut self, ended: Ended, now: Instant) {
        self.close(ended.session, now);
        self.ended.push_back(ended);
    }

    fn close(&mut self, session: SessionId, now: Instant) {
        if let Some(session) = self.sessions.end(session, now)
            && session.pass.role != Role::Peer
        {
            self.scopes.close(&session.pass.tenant);
        }
    }
}
