//! What changes something that is already there: removals, replacements, banners, votes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Event, Words};

/// A row was taken back or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Removed {
    /// The row's `id`. It may be one that was never seen.
    pub target_id: String,
    /// What to show in its place, where the upstream says so: "[message retracted]".
    #[serde(flatten)]
    pub words: Words,
}

/// All rows of one author are to go: a ban or a timeout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuthorRemoved {
    /// The author's channel.
    pub channel_id: String,
    /// What to show in place of each, where the upstream says so.
    #[serde(flatten)]
    pub words: Words,
}

/// A row turned into another one, at the same place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Replaced {
    /// The `id` of the row that goes.
    pub target_id: String,
    /// The row that comes: a `status` about `held` while a message waits for review.
    #[schema(no_recursion)]
    pub item: Box<Event>,
}

/// Something above the chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Banner {
    /// Shown or taken down.
    pub change: BannerChange,
    /// Names this banner: the one taken down has the id of the one shown.
    pub banner_id: String,
    /// What it is; left out when it is taken down.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub banner: Option<BannerKind>,
    /// The line above it: "Pinned by @x".
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub header: Option<String>,
    /// Its own words.
    #[serde(flatten)]
    pub words: Words,
    /// A copy of the pinned row, or the vote.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false, no_recursion)]
    pub item: Option<Box<Event>>,
    /// The video it leads to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub video_id: Option<String>,
    /// The address it leads to, when that is no video.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub link: Option<String>,
    /// How long it is shown, in milliseconds; left out when until it is taken down.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub timeout_ms: Option<u64>,
}

/// What happened to a banner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BannerChange {
    /// Shown, or shown anew.
    Shown,
    /// Taken down.
    Removed,
}

/// What a banner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BannerKind {
    /// A row of this chat.
    Pinned,
    /// Viewers are sent to another stream, or come from one.
    Redirect,
    /// The upstream's own summary of the chat.
    Summary,
    /// A vote.
    Poll,
    /// The channel asks for questions.
    Questions,
    /// A banner that this version does not know.
    Other,
}

/// A vote of the viewers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Poll {
    /// What happened.
    pub change: PollChange,
    /// Names this vote in all its events.
    pub poll_id: String,
    /// What is asked; left out where the channel gave no question, and when the vote closes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub question: Option<String>,
    /// What can be chosen, in order; empty when the vote closes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub choices: Vec<Choice>,
    /// How many have voted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub votes: Option<u64>,
}

/// What happened to a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PollChange {
    /// It can be voted on. Also told to those who come later.
    Opened,
    /// The count changed.
    Updated,
    /// It is over.
    Closed,
}

/// One choice of a vote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Choice {
    /// Its words.
    pub text: String,
    /// Its share of the votes, 0 to 1; left out before the first count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub share: Option<f64>,
}
