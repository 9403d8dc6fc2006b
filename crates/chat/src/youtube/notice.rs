//! What the upstream itself says in the chat.

use serde_json::Value;

use super::amount::Region;
use super::items::read_item;
use super::link::target;
use super::text::{plain_at, words_at};
use super::walk::{at, text_at};
use crate::event::{About, Kind, Mode, ModeKind, Status, Words};

pub(super) fn read_engagement(renderer: &Value) -> Kind {
    let about = if text_at(renderer, "icon.iconType") == Some("POLL") { About::PollResult } else { About::Notice };
    let link = at(renderer, "actionButton.buttonRenderer.navigationEndpoint").and_then(target);
    Kind::Status(Status { link, ..Status::new(about, words_at(renderer, "message")) })
}

/// The icon tells the mode; whether it was turned on or off stands in the sentence alone.
pub(super) fn read_mode(renderer: &Value) -> Kind {
    let mode = match text_at(renderer, "icon.iconType") {
        Some("SLOW_MODE") => ModeKind::Slow,
        Some("MEMBERS_ONLY_MODE") => ModeKind::MembersOnly,
        Some("TAB_SUBSCRIPTIONS") => ModeKind::SubscribersOnly,
        Some("QUESTION_ANSWER") => ModeKind::Open,
        Some(_) | None => ModeKind::Other,
    };
    Kind::Mode(Mode { mode, words: words_at(renderer, "text"), note: plain_at(renderer, "subtext") })
}

/// A row whose message waits for review; it keeps its place.
pub(super) const fn held() -> Kind {
    Kind::Status(Status::new(About::Held, Words { text: String::new(), runs: Vec::new() }))
}

pub(super) fn read_moderation(renderer: &Value) -> Kind {
    Kind::Status(Status::new(About::Moderation, words_at(renderer, "message")))
}

pub(super) fn read_filtered(renderer: &Value, region: Region) -> Kind {
    let item = at(renderer, "autoModeratedItem").map(|item| Box::new(read_item(item, region)));
    Kind::Status(Status { item, ..Status::new(About::Filtered, words_at(renderer, "headerText")) })
}

pub(super) fn read_fundraiser(renderer: &Value) -> Kind {
    let note = plain_at(renderer, "subtext");
    Kind::Status(Status { note, ..Status::new(About::Fundraiser, words_at(renderer, "text")) })
}

pub(super) fn read_restricted(renderer: &Value) -> Kind {
    Kind::Status(Status::new(About::Restricted, words_at(renderer, "message")))
}
