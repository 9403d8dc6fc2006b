//! Who wrote a row.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who wrote a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Author {
    /// The author's channel: the only lasting name. Left out where the upstream tells none (gifts, fundraisers).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub channel_id: Option<String>,
    /// What to show. A handle (`@x`) or a display name, and it may differ between two rows of one author, so it
    /// must never be used as a key. Left out for a channel without a name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub name: Option<String>,
    /// The largest picture's address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub photo: Option<String>,
    /// What the author is to this channel, in the upstream's order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub badges: Vec<Badge>,
}

/// One badge beside an author's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Badge {
    /// What it stands for.
    pub badge: BadgeKind,
    /// The upstream's words for it, in the language of the room: "Member (6 months)".
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub label: Option<String>,
    /// The picture's address; member badges only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub image: Option<String>,
}

/// What a badge stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BadgeKind {
    /// The channel itself.
    Owner,
    /// May delete messages and time authors out.
    Moderator,
    /// A channel that the upstream has verified.
    Verified,
    /// A paying member.
    Member,
    /// A badge that this version does not know.
    Other,
}
