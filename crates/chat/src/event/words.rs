//! What was written: plain text, and its parts where there is more to it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A text. In JSON its two fields stand directly in the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Words {
    /// The whole as plain text, in logical order and not otherwise touched: right-to-left letters, joiners and
    /// direction marks are as sent. A custom emoji stands as its shortcut (`:_wave:`). Empty when nothing was written.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub text: String,
    /// The parts, only where they say more than `text`: emoji, links, emphasis. Shown in this order they are the text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub runs: Vec<Run>,
}

impl Words {
    /// Plain text.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), runs: Vec::new() }
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.runs.is_empty()
    }
}

/// One part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "run", rename_all = "snake_case")]
pub enum Run {
    /// Letters.
    Text(TextRun),
    /// A picture in the line.
    Emoji(Emoji),
}

/// A part of letters, all with one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TextRun {
    /// The letters; a line break is `\n`.
    pub text: String,
    /// Where it leads: an absolute `http` or `https` address, with the upstream's redirect taken off. The text of a
    /// link may be a shortened form of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub link: Option<String>,
    /// Shown bold.
    #[serde(skip_serializing_if = "is_false", default)]
    pub bold: bool,
    /// Shown in italics.
    #[serde(skip_serializing_if = "is_false", default)]
    pub italics: bool,
}

/// An emoji.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Emoji {
    /// A standard emoji's characters, or a custom one's opaque id.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub id: String,
    /// Whether the channel made it: then only `url` shows it, and `shortcut` stands for it in text.
    #[serde(skip_serializing_if = "is_false", default)]
    pub custom: bool,
    /// What a writer types for it: `:_wave:`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub shortcut: Option<String>,
    /// The largest picture's address; left out where the upstream withholds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub url: Option<String>,
    /// What to read out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub alt: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
