//! What a session that wants in is told. A refusal is an answer, not an error.

use std::time::Duration;

use crate::SessionId;

/// The answer to an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is in, and is never refused again (E9).
    In(Admitted),
    /// It is not, and its token was not used up (E2).
    Refused(Refusal),
}

/// A session that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Its name from now on.
    pub session: SessionId,
    /// Why it was let in.
    pub entry: Entry,
    /// What it would have been refused for, had admission been on (E13, `observe`).
    pub observed: Option<Full>,
}

/// Why a session was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A newcomer, and there was room (E7).
    New,
    /// A seat that keeps its place (E11).
    Returning,
    /// Never refused for load (E10).
    Publisher,
    /// Never refused for load (E10).
    Peer,
}

/// Why a session was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No room for a newcomer (E8).
    EdgeFull {
        /// When to try again.
        retry: Duration,
        /// What was full.
        full: Full,
    },
    /// The token's session is open and was heard from (E2).
    TokenInUse,
    /// The tenant's share of sessions is used (E3).
    ScopeFull,
    /// The seat was freed, or the stream stopped (E4, T6).
    Removed,
}

/// What leaves no room for a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The relay is saturated (E6).
    Saturated,
    /// This second's share of the spare room is given away (E7).
    Share,
}

/// A session that the machine ended: it is counted no more, and the shell closes it (`Edge::poll_ended`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub session: SessionId,
    /// Why.
    pub end: End,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A new one came on its token, and it had gone silent (E2).
    Replaced,
    /// Its seat has a newer session, and the overlap is over (T3).
    Renewed,
    /// Its token ended and was not renewed within the overlap (E4).
    Expired,
    /// Its seat was freed, or its stream stopped (E4, T6).
    Removed,
}
