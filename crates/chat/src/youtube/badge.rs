//! Badges beside an author's name.

use serde_json::Value;

use super::emoji::largest;
use super::walk::{at, list_at, string_at, text_at};
use crate::event::{Badge, BadgeKind};

/// Reads `authorBadges`, which may be null.
pub(super) fn read_badges(owner: &Value) -> Vec<Badge> {
    list_at(owner, "authorBadges")
        .iter()
        .filter_map(|badge| Some(read_badge(at(badge, "liveChatAuthorBadgeRenderer")?)))
        .collect()
}

fn read_badge(badge: &Value) -> Badge {
    // A picture of the channel's own is a member's badge; the others have an icon of the upstream's.
    let image = largest(badge, "customThumbnail.thumbnails");
    let kind = match text_at(badge, "icon.iconType") {
        Some("OWNER") => BadgeKind::Owner,
        Some("MODERATOR") => BadgeKind::Moderator,
        Some("VERIFIED") => BadgeKind::Verified,
        Some(_) => BadgeKind::Other,
        None if at(badge, "customThumbnail").is_some() => BadgeKind::Member,
        None => BadgeKind::Other,
    };
    let label = string_at(badge, "tooltip").or_else(|| string_at(badge, "accessibility.accessibilityData.label"));
    Badge { badge: kind, label, image }
}
