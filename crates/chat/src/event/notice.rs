//! Words of the upstream or of the room itself, and what could not be read.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Event, Words};

/// The chat's mode changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Mode {
    /// Which mode it is about. Whether it was turned on or off stands in the text alone.
    pub mode: ModeKind,
    /// The upstream's sentence, in the language of the room.
    #[serde(flatten)]
    pub words: Words,
    /// The upstream's second line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub note: Option<String>,
}

/// Which mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeKind {
    /// A pause between two messages of one author.
    Slow,
    /// Members only.
    MembersOnly,
    /// Subscribers only.
    SubscribersOnly,
    /// Everybody, or questions and answers: the upstream has one picture for both.
    Open,
    /// A mode that this version does not know.
    Other,
}

/// How many are watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ViewerCount {
    /// As the upstream counts them.
    pub viewers: u64,
}

/// A word of the upstream or of the room itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// What it is about.
    pub about: About,
    /// The words, in the language of the room.
    #[serde(flatten)]
    pub words: Words,
    /// A second line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub note: Option<String>,
    /// Where its button leads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub link: Option<String>,
    /// The row that it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false, no_recursion)]
    pub item: Option<Box<Event>>,
    /// The stream's state, when it is about the stream.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub stream: Option<StreamStatus>,
}

impl Status {
    /// A status of words alone.
    #[must_use]
    pub const fn new(about: About, words: Words) -> Self {
        Self { about, words, note: None, link: None, item: None, stream: None }
    }
}

/// What a status is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The stream: its state, title and channel.
    Stream,
    /// The room that reads it.
    Room,
    /// A notice of the upstream to everybody: its rules, a mode that is on.
    Notice,
    /// The result of a vote.
    PollResult,
    /// A place in the chat whose message waits for review.
    Held,
    /// What a moderator did.
    Moderation,
    /// A message that the upstream's filter held back; moderators see it.
    Filtered,
    /// A fundraiser.
    Fundraiser,
    /// Who may write is restricted.
    Restricted,
    /// The chat closes.
    Closing,
}

/// What is known of the stream itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamStatus {
    /// Where it stands.
    pub state: StreamState,
    /// The video's id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub video_id: Option<String>,
    /// The video's title.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub title: Option<String>,
    /// The channel's id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub channel_id: Option<String>,
    /// The channel's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub channel: Option<String>,
    /// When it is to start or started: seconds since 1970 UTC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub starts_s: Option<i64>,
}

/// Where a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamState {
    /// It is on.
    Live,
    /// It is announced; its chat may be open already.
    Upcoming,
    /// It is over.
    Ended,
    /// It never was a stream.
    NotAStream,
    /// It has no chat.
    ChatDisabled,
    /// Members only.
    MembersOnly,
    /// Its owner hides it.
    Private,
    /// Only for signed-in adults.
    AgeRestricted,
    /// Only for signed-in visitors, for a reason that the upstream words in its own way.
    SignInRequired,
    /// It is not there, or not here: removed, never was, blocked in this region.
    Unavailable,
}

/// Rows are missing here, between the event before and the one after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    /// How many, when that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub missed: Option<u64>,
}

/// Something went wrong (C5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    /// Which kind.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// When to come back, in milliseconds from now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub retry_after_ms: Option<u64>,
    /// Whether nothing more will come: the stream of events ends here.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// The codes of C5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The upstream wants fewer calls; the room goes on waiting.
    RateLimited,
    /// The stream or its chat is over.
    Ended,
    /// The upstream fails, or answers something that this version cannot read.
    UpstreamError,
    /// The video is gone, or no longer open to everybody.
    Gone,
}

/// Something of the upstream that this version does not know or cannot read. It never ends a room (C7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Unknown {
    /// The upstream's name for it.
    pub raw_kind: String,
    /// Why it is not a kind of its own.
    pub reason: UnknownReason,
    /// What the upstream sent; left out when it is large.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub raw: Option<Value>,
}

/// Why something is `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The name is not known.
    UnknownKind,
    /// The name is known, but what it needs is missing or of another type.
    Unreadable,
}
