//! Why a room is over.

use std::time::Duration;

use crate::event::{ErrorCode, Failure, StreamState};

/// Why a room is over: an answer to who asks for it before it opens (C4), an `error` event to its viewers (C5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ending {
    /// The upstream says that the chat is over.
    #[error("the chat is over")]
    Over,
    /// The page says that there is no chat to read, and why.
    #[error("{}", said(*.0))]
    Closed(StreamState),
    /// The video is gone, or no longer open to everybody.
    #[error("{0}")]
    Gone(String),
    /// The upstream wants fewer calls, and the room has not opened or has waited too often.
    #[error("YouTube limits our calls; come back in {} s", .0.as_secs().max(1))]
    RateLimited(Duration),
    /// The upstream fails, or answers something that this version cannot read.
    #[error("{0}")]
    Upstream(String),
}

impl Ending {
    /// As an event; nothing follows it.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let (code, retry_after) = match self {
            Self::Over => (ErrorCode::Ended, None),
            Self::Closed(StreamState::Ended | StreamState::NotAStream | StreamState::ChatDisabled) => {
                (ErrorCode::Ended, None)
            }
            Self::Closed(_) | Self::Gone(_) => (ErrorCode::Gone, None),
            Self::RateLimited(wait) => (ErrorCode::RateLimited, Some(super::millis(*wait))),
            Self::Upstream(_) => (ErrorCode::UpstreamError, None),
        };
        Failure { code, message: self.to_string(), retry_after_ms: retry_after, is_final: true }
    }
}

fn said(state: StreamState) -> &'static str {
    match state {
        StreamState::Live | StreamState::Upcoming => "the stream has no chat",
        StreamState::Ended => "the stream is over; replays of its chat are not read",
        StreamState::NotAStream => "the video is no live stream",
        StreamState::ChatDisabled => "the stream's chat is switched off",
        StreamState::MembersOnly => "the stream is for members only",
        StreamState::Private => "the video is private",
        StreamState::AgeRestricted => "the video is for signed-in adults only",
        StreamState::SignInRequired => "the video is for signed-in visitors only",
        StreamState::Unavailable => "the video is not available",
    }
}
