//! What a viewer gets: the chat's events, as documented and versioned JSON (C7).
//!
//! Every event is one JSON object: `schema`, `kind`, the common fields below, and the fields of its kind. Fields
//! that the upstream did not tell are left out, never `null`. Within one `schema` number fields and kinds are only
//! added, so a reader must pass over what it does not know.
//!
//! ```
//! use tidegate_chat::event::{Event, Kind};
//!
//! let json = r#"{"schema":1,"kind":"message","author":{"channel_id":"UC1","name":"@ann"},"text":"hello","id":"a"}"#;
//! let event: Event = serde_json::from_str(json).unwrap();
//! let Kind::Message(message) = &event.kind else { panic!("another kind") };
//! assert_eq!(message.words.text, "hello");
//! assert_eq!(event.kind.name(), "message");
//! assert_eq!(serde_json::to_string(&event).unwrap(), json);
//! ```

mod amount;
mod author;
mod change;
mod member;
mod notice;
mod row;
mod words;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use amount::{Amount, Money};
pub use author::{Author, Badge, BadgeKind};
pub use change::{AuthorRemoved, Banner, BannerChange, BannerKind, Choice, Poll, PollChange, Removed, Replaced};
pub use member::{Gift, GiftKind, GiftReceived, Membership, Step};
pub use notice::{
    About, ErrorCode, Failure, Gap, Mode, ModeKind, Status, StreamState, StreamStatus, Unknown, UnknownReason,
    ViewerCount,
};
pub use row::{Message, Paid, Sticker, Ticker};
pub use words::{Emoji, Run, TextRun, Words};

/// The version of this schema. A change that an older reader could take for something else raises it.
pub const SCHEMA: u32 = 1;

/// One event of a live chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The version of this schema ([`SCHEMA`]).
    pub schema: u32,
    /// What it is, with that kind's own fields; in JSON the field `kind` and the fields beside it.
    #[serde(flatten)]
    pub kind: Kind,
    /// The upstream's own id of the row: opaque, compared exactly, the same when the upstream repeats the row after
    /// a re-bootstrap. It names what `removed` and `replaced` aim at. Not the resume point, which is SSE's `id:`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub id: Option<String>,
    /// When the row was sent: microseconds since 1970 UTC by the upstream's clock. A room fills in the time of
    /// receipt where the upstream told none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub at_us: Option<i64>,
    /// In the replay of a finished stream: milliseconds from the video's start; negative before it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub offset_ms: Option<i64>,
}

impl Event {
    /// An event without id and time.
    #[must_use]
    pub const fn new(kind: Kind) -> Self {
        Self { schema: SCHEMA, kind, id: None, at_us: None, offset_ms: None }
    }

    /// Fills in the time of receipt, in microseconds since 1970 UTC, where the upstream told none.
    pub fn fill_time(&mut self, received_us: i64) {
        self.at_us.get_or_insert(received_us);
    }
}

/// The kinds of events (C7). `kind` in JSON is also SSE's `event:`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// Somebody wrote something.
    Message(Message),
    /// A paid message (Super Chat).
    Paid(Paid),
    /// A paid sticker (Super Sticker).
    Sticker(Sticker),
    /// A new member, a milestone of one, or an upgrade.
    Membership(Membership),
    /// Somebody gave something: memberships to others, or a gift to the channel.
    Gift(Gift),
    /// Somebody got a membership as a gift.
    GiftReceived(GiftReceived),
    /// A paid or member row is shown above the chat for a while. Always a copy: counting its amount counts it twice.
    Ticker(Ticker),
    /// Something is pinned above the chat, or taken down.
    Banner(Banner),
    /// A vote was opened, counted or closed.
    Poll(Poll),
    /// A row was taken back or deleted.
    Removed(Removed),
    /// All rows of one author are to go.
    AuthorRemoved(AuthorRemoved),
    /// The chat's mode changed: slow, members only, and so on.
    Mode(Mode),
    /// A row turned into another one, at the same place.
    Replaced(Replaced),
    /// How many are watching.
    ViewerCount(ViewerCount),
    /// A word of the upstream or of the room itself: notices, the stream's state.
    Status(Status),
    /// Rows are missing here.
    Gap(Gap),
    /// Something went wrong (C5).
    Error(Failure),
    /// The upstream sent something that this version does not know, or cannot read.
    Unknown(Unknown),
}

impl Kind {
    /// Every word that [`Kind::name`] gives.
    pub const NAMES: [&'static str; 18] = [
        "message",
        "paid",
        "sticker",
        "membership",
        "gift",
        "gift_received",
        "ticker",
        "banner",
        "poll",
        "removed",
        "author_removed",
        "mode",
        "replaced",
        "viewer_count",
        "status",
        "gap",
        "error",
        "unknown",
    ];

    /// The word that stands in `kind`, for SSE's `event:` and for counters.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Paid(_) => "paid",
            Self::Sticker(_) => "sticker",
            Self::Membership(_) => "membership",
            Self::Gift(_) => "gift",
            Self::GiftReceived(_) => "gift_received",
            Self::Ticker(_) => "ticker",
            Self::Banner(_) => "banner",
            Self::Poll(_) => "poll",
            Self::Removed(_) => "removed",
            Self::AuthorRemoved(_) => "author_removed",
            Self::Mode(_) => "mode",
            Self::Replaced(_) => "replaced",
            Self::ViewerCount(_) => "viewer_count",
            Self::Status(_) => "status",
            Self::Gap(_) => "gap",
            Self::Error(_) => "error",
            Self::Unknown(_) => "unknown",
        }
    }
}
