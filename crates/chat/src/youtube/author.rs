//! Who wrote a row.

use serde_json::Value;

use super::badge::read_badges;
use super::emoji::largest;
use super::text::plain_at;
use super::walk::string_at;
use crate::event::Author;

/// Reads the author's fields of a renderer.
pub(super) fn read_author(renderer: &Value) -> Author {
    let name = plain_at(renderer, "authorName").or_else(|| plain_at(renderer, "authorUsername"));
    Author {
        channel_id: string_at(renderer, "authorExternalChannelId"),
        // View models pad the name for the text behind it.
        name: name.map(|name| name.trim_end().to_owned()).filter(|name| !name.is_empty()),
        photo: largest(renderer, "authorPhoto.thumbnails"),
        badges: read_badges(renderer),
    }
}
