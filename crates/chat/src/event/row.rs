//! Rows of the chat: what people wrote and paid for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Amount, Author, Event, Words};

/// Somebody wrote something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Who.
    pub author: Author,
    /// What.
    #[serde(flatten)]
    pub words: Words,
    /// The author's place on the channel's leaderboard, where it is shown: 1 is the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub rank: Option<u32>,
}

/// A paid message (Super Chat).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Paid {
    /// Who paid.
    pub author: Author,
    /// How much.
    pub amount: Amount,
    /// What was written with it; nothing in the lowest tier, and then nothing stands in for it.
    #[serde(flatten)]
    pub words: Words,
    /// The price band, 1 (blue) to 7 (red), read from the colour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub tier: Option<u8>,
    /// The head's background, `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub color: Option<String>,
    /// The body's background, `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub body_color: Option<String>,
}

/// A paid sticker (Super Sticker).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sticker {
    /// Who paid.
    pub author: Author,
    /// How much.
    pub amount: Amount,
    /// The largest picture's address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub image: Option<String>,
    /// What the picture shows, to be read out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub alt: Option<String>,
    /// The price band, 1 to 7, as for a paid message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub tier: Option<u8>,
    /// The background, `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub color: Option<String>,
}

/// A chip above the chat. Its `id` is that of the row it copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Ticker {
    /// How long it is still shown, in seconds from now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub duration_s: Option<u32>,
    /// How long it is shown altogether, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub full_duration_s: Option<u32>,
    /// The chip's own text: "7 mths".
    #[serde(flatten)]
    pub words: Words,
    /// Who it is about, where it carries no copy that says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub author: Option<Author>,
    /// The amount on the chip, where it carries no copy that says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub amount: Option<Amount>,
    /// A copy of the row: not another purchase.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false, no_recursion)]
    pub item: Option<Box<Event>>,
}
