//! What it shows and how it answers.

use std::sync::Arc;

use serde_json::Value;

use crate::{CHANNEL, Fault, VIDEO};

/// What it shows and how it answers.
#[derive(Clone, Debug)]
pub struct Script {
    /// Where the stream stands.
    pub state: State,
    /// How many watch, as its page says.
    pub viewers: u64,
    /// Rows a second.
    pub rate: f64,
    /// What the rows are, in turns; made up where there are none. See [`crate::actions_of`].
    pub recorded: Arc<[Value]>,
    /// `timeoutMs` of its answers.
    pub hint_ms: u64,
    /// Rows that an answer reaches back at most. YouTube: 150 to 200.
    pub reach_rows: u64,
    /// Rows of the backlog behind a page's token.
    pub backlog: u64,
    /// What says nothing although people write.
    pub silent: Silent,
    /// How its pages and answers are made.
    pub shape: Shape,
    /// Whether visitors are asked for consent first.
    pub consent: Consent,
    /// In place of the video's page.
    pub page: Option<Fault>,
    /// In place of every answer to a poll.
    pub poll: Option<Fault>,
}

/// Where a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is on.
    Live,
    /// It is announced for this time, seconds since 1970; its chat is open.
    Upcoming {
        /// When it is to start.
        starts_s: i64,
    },
    /// It is over, and its chat can be replayed.
    Ended,
    /// A video that never was a stream.
    NoStream,
    /// It is on, without a chat.
    ChatOff,
    /// It is on, for members.
    MembersOnly,
    /// It was made private.
    Private,
    /// For signed-in adults.
    AgeRestricted,
    /// For signed-in visitors who prove to be no bots: a throttle in disguise.
    BotCheck,
    /// It was removed, or never was.
    Removed,
}

/// What says nothing although people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silent {
    /// All is told.
    Nothing,
    /// Polls for all chat get no rows, those for top chat do.
    AllChat,
    /// No poll gets a row.
    Everything,
}

/// How pages and answers are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As in 2026: the menu's tokens are stubs, which no poll is answered for.
    Usual,
    /// As before: `window["ytInitialData"]`, full tokens in the menu, timed continuations.
    Older,
    /// A poll's answer lies under `contents.liveChatRenderer`, as on the chat's own page.
    Moved,
    /// A page without any data, as a redesign would look to today's readers.
    Unreadable,
}

/// Whether visitors are asked for consent before they see a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Not asked for.
    NotAsked,
    /// Those without the cookie that answers it.
    Asked,
    /// Everybody, whatever cookie they have.
    Insisted,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its lasting id: `UC` and 22 characters.
    pub id: String,
    /// Its streams, newest first; which of them are on, their scripts say.
    pub videos: Vec<String>,
    /// What `/live` shows, where it is not what it should be: an announced stream while another one is on.
    pub shows: Option<String>,
    /// How its list of streams is made.
    pub tab: Tab,
}

/// How a channel's list of streams is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// `videoRenderer`, with a style that says what is on.
    Older,
    /// `lockupViewModel`, with nothing but a badge in the visitor's language.
    Newer,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            state: State::Live,
            viewers: 10,
            rate: 1.0,
            recorded: Arc::new([]),
            hint_ms: 5_000,
            reach_rows: 200,
            backlog: 50,
            silent: Silent::Nothing,
            shape: Shape::Usual,
            consent: Consent::NotAsked,
            page: None,
            poll: None,
        }
    }
}

impl Default for Channel {
    fn default() -> Self {
        Self { id: CHANNEL.to_owned(), videos: vec![VIDEO.to_owned()], shows: None, tab: Tab::Older }
    }
}

impl State {
    /// Whether a channel's `/live` leads to it.
    pub(crate) fn is_on_or_announced(self) -> bool {
        match self {
            Self::Live | Self::Upcoming { .. } | Self::ChatOff | Self::MembersOnly => true,
            Self::Ended | Self::NoStream | Self::Private | Self::AgeRestricted | Self::BotCheck | Self::Removed => {
                false
            }
        }
    }

    /// Whether polls of its live chat are answered.
    pub(crate) fn has_live_chat(self) -> bool {
        matches!(self, Self::Live | Self::Upcoming { .. })
    }
}
