//! What a room tells about itself (C10).

use std::time::Instant;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Phase, Room, millis};
use crate::event::StreamStatus;
use crate::youtube::View;

/// A room at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoomState {
    /// What it does.
    pub doing: Doing,
    /// Which view is read: top chat instead of all where all chat stays silent (C6).
    pub reads: View,
    /// The stream, as its page told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamStatus>,
    /// The time between two polls, in milliseconds.
    pub interval_ms: u64,
    /// For how long a rate limit holds it, in milliseconds.
    pub cooldown_ms: u64,
    /// What went wrong last, until a poll succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// How often it has started from the page.
    pub bootstraps: u64,
}

/// What a room does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It asks for the page.
    Starting,
    /// It reads the chat.
    Reading,
    /// It waits for a rate limit to pass.
    Waiting,
    /// It polls, and a chat that should be busy says nothing (C6).
    Blind,
    /// It is over.
    Ended,
}

impl Room {
    /// The room at this moment.
    #[must_use]
    pub fn state(&self, now: Instant) -> RoomState {
        let left = self.limited_until.map(|until| until.saturating_duration_since(now)).filter(|left| !left.is_zero());
        let doing = match &self.phase {
            Phase::Ended(_) => Doing::Ended,
            Phase::Page | Phase::Poll(..) if left.is_some() => Doing::Waiting,
            Phase::Page | Phase::Poll(..) if self.life.is_blind => Doing::Blind,
            Phase::Page => Doing::Starting,
            Phase::Poll(..) => Doing::Reading,
        };
        RoomState {
            doing,
            reads: self.gives,
            stream: self.stream.clone(),
            interval_ms: millis(self.interval.get()),
            cooldown_ms: left.map_or(0, millis),
            last_error: self.last_trouble.clone(),
            bootstraps: self.bootstraps.count,
        }
    }
}
