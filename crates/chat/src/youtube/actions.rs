//! Actions: what happens to the chat. Each is read on its own, so that none can cost another.

use serde_json::Value;

use super::amount::Region;
use super::banner::{read_banner, read_removed_banner};
use super::items::{read_item, unknown};
use super::panel::{read_closed_panel, read_shown_panel, read_updated_poll};
use super::text::words_at;
use super::ticker::read_ticker;
use super::walk::{at, count_at, list_at, only_key, string_at, text_at, whole_at};
use crate::event::{About, AuthorRemoved, Event, Kind, Removed, Replaced, Status, UnknownReason, ViewerCount, Words};

/// Reads one action. One is one event, but for those of a replay, which carry several, and for what only moves the
/// upstream's own page about, which is none.
#[must_use]
pub fn read_action(action: &Value, region: Region) -> Vec<Event> {
    let known = action.as_object().and_then(|map| map.iter().find(|(name, _)| is_known(name)));
    let Some((name, payload)) = known.map(|(name, payload)| (name.as_str(), payload)).or_else(|| only_key(action))
    else {
        return vec![unknown("action", UnknownReason::Unreadable, action)];
    };
    if name == "replayChatItemAction" {
        return replayed(payload, region);
    }
    if IGNORED.contains(&name) || (name == "signalAction" && !closes(payload)) {
        return Vec::new();
    }
    vec![read_named_action(name, payload, region)]
}

/// Whether an action has this name of an action that is read or passed over.
pub(super) fn is_known(name: &str) -> bool {
    name == "replayChatItemAction" || READ.contains(&name) || IGNORED.contains(&name)
}

fn read_named_action(name: &str, payload: &Value, region: Region) -> Event {
    let read = match name {
        "addChatItemAction" => at(payload, "item").map(|item| read_item(item, region)),
        "addLiveChatTickerItemAction" => Some(read_ticker(payload, region)),
        "replaceChatItemAction" => replaced(payload, region),
        "removeChatItemAction" | "markChatItemAsDeletedAction" => removed(payload),
        "removeChatItemByAuthorAction" | "markChatItemsByAuthorAsDeletedAction" => author_removed(payload),
        "addBannerToLiveChatCommand" => Some(read_banner(payload, region)),
        "removeBannerForLiveChatCommand" => Some(read_removed_banner(payload)),
        "showLiveChatActionPanelAction" => Some(read_shown_panel(payload)),
        "updateLiveChatPollAction" => Some(read_updated_poll(payload)),
        "closeLiveChatActionPanelAction" => Some(read_closed_panel(payload)),
        "updateViewershipAction" => viewer_count(payload),
        "signalAction" => Some(Event::new(Kind::Status(Status::new(About::Closing, Words::default())))),
        _ => return unknown(name, UnknownReason::UnknownKind, payload),
    };
    read.unwrap_or_else(|| unknown(name, UnknownReason::Unreadable, payload))
}

/// The actions of one moment of a replay. They are not nested any deeper.
fn replayed(payload: &Value, region: Region) -> Vec<Event> {
    let offset_ms = whole_at(payload, "videoOffsetTimeMsec");
    let inner = list_at(payload, "actions").iter().filter(|action| at(action, "replayChatItemAction").is_none());
    let events = inner.flat_map(|action| read_action(action, region));
    events.map(|event| Event { offset_ms, ..event }).collect()
}

fn replaced(payload: &Value, region: Region) -> Option<Event> {
    let item = Box::new(read_item(at(payload, "replacementItem")?, region));
    Some(Event::new(Kind::Replaced(Replaced { target_id: string_at(payload, "targetItemId")?, item })))
}

fn removed(payload: &Value) -> Option<Event> {
    let words = words_at(payload, "deletedStateMessage");
    Some(Event::new(Kind::Removed(Removed { target_id: string_at(payload, "targetItemId")?, words })))
}

fn author_removed(payload: &Value) -> Option<Event> {
    let words = words_at(payload, "deletedStateMessage");
    Some(Event::new(Kind::AuthorRemoved(AuthorRemoved { channel_id: string_at(payload, "externalChannelId")?, words })))
}

fn viewer_count(payload: &Value) -> Option<Event> {
    let viewers = count_at(payload, "viewCount.videoViewCountRenderer.originalViewCount")?;
    Some(Event::new(Kind::ViewerCount(ViewerCount { viewers })))
}

fn closes(signal: &Value) -> bool {
    text_at(signal, "signal") == Some("HIDE_LIVE_CHAT")
}

const READ: &[&str] = &[
    "addChatItemAction",
    "addLiveChatTickerItemAction",
    "replaceChatItemAction",
    "removeChatItemAction",
    "markChatItemAsDeletedAction",
    "removeChatItemByAuthorAction",
    "markChatItemsByAuthorAsDeletedAction",
    "addBannerToLiveChatCommand",
    "removeBannerForLiveChatCommand",
    "showLiveChatActionPanelAction",
    "updateLiveChatPollAction",
    "closeLiveChatActionPanelAction",
    "updateViewershipAction",
    "signalAction",
];

/// What only moves the upstream's own page about: tooltips, dialogs, surveys, goals.
const IGNORED: &[&str] = &[
    "showLiveChatTooltipCommand",
    "showLiveChatDialogAction",
    "showLiveChatSurveyCommand",
    "liveChatAddToToastAction",
    "liveChatReportModerationStateCommand",
    "addLiveChatTextMessageFromTemplateAction",
    "dimChatItemAction",
    "replaceLiveChatAction",
    "replaceLiveChatRendererAction",
    "changeEngagementPanelVisibilityAction",
    "addInteractivityWidgetAction",
    "updateOrAddInteractivityWidgetAction",
    "showCreatorGoalTickerChipCommand",
];
