//! Emoji: any field of one may be missing, and the row must live on.

use serde_json::Value;

use super::link::absolute;
use super::walk::{flag_at, list_at, string_at, text_at};
use crate::event::Emoji;

/// Reads an `emoji` object.
pub(super) fn read_emoji(emoji: &Value) -> Emoji {
    let id = string_at(emoji, "emojiId").unwrap_or_default();
    let alt = string_at(emoji, "image.accessibility.accessibilityData.label");
    // The flag is missing from old rows; a custom emoji's id is `channel/number`.
    let custom = flag_at(emoji, "isCustomEmoji") || id.starts_with("UC") && id.contains('/');
    Emoji {
        shortcut: list_at(emoji, "shortcuts").iter().find_map(Value::as_str).map(str::to_owned),
        url: largest(emoji, "image.thumbnails"),
        id,
        custom,
        alt,
    }
}

/// What stands for an emoji in plain text: its characters, or what a writer types for it; never a custom one's id
/// where there is anything better.
pub(super) fn as_text(emoji: &Emoji) -> &str {
    let id = Some(emoji.id.as_str()).filter(|id| !id.is_empty());
    let (shortcut, alt) = (emoji.shortcut.as_deref(), emoji.alt.as_deref());
    let found = if emoji.custom { shortcut.or(alt).or(id) } else { id.or(shortcut).or(alt) };
    found.unwrap_or_default()
}

/// The address of the last picture of a list, which is the largest.
pub(super) fn largest(value: &Value, path: &str) -> Option<String> {
    list_at(value, path).iter().rev().find_map(|image| text_at(image, "url")).map(absolute)
}
