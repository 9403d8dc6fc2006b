//! What is pinned above the chat.

use serde_json::Value;

use super::amount::Region;
use super::items::{read_named_item, unknown};
use super::link::target;
use super::panel::read_poll_panel;
use super::text::{plain_at, words_at};
use super::walk::{at, count_at, only_key, string_at, text_at};
use crate::event::{Banner, BannerChange, BannerKind, Event, Kind, PollChange, UnknownReason, Words};

/// Reads `addBannerToLiveChatCommand`.
pub(super) fn read_banner(command: &Value, region: Region) -> Event {
    let banner = at(command, "bannerRenderer.liveChatBannerRenderer").unwrap_or(&Value::Null);
    let id = string_at(banner, "actionId").or_else(|| string_at(banner, "targetId"));
    let (Some(banner_id), Some((name, contents))) = (id, at(banner, "contents").and_then(only_key)) else {
        return unknown("addBannerToLiveChatCommand", UnknownReason::Unreadable, command);
    };
    let what = kind_of(text_at(banner, "bannerType").unwrap_or_default(), name);
    let endpoint = at(contents, "inlineActionButton.buttonRenderer.command");
    let video_id = endpoint.and_then(|endpoint| string_at(endpoint, "watchEndpoint.videoId"));
    let timeout_ms = count_at(command, "bannerProperties.bannerTimeoutMs");
    Event::new(Kind::Banner(Banner {
        change: BannerChange::Shown,
        banner_id,
        banner: Some(what),
        header: plain_at(banner, "header.liveChatBannerHeaderRenderer.text"),
        words: words_of(contents),
        item: item_of(what, name, contents, region).map(Box::new),
        link: if video_id.is_none() { endpoint.and_then(target) } else { None },
        video_id,
        timeout_ms,
    }))
}

/// Reads `removeBannerForLiveChatCommand`.
pub(super) fn read_removed_banner(command: &Value) -> Event {
    let Some(banner_id) = string_at(command, "targetActionId") else {
        return unknown("removeBannerForLiveChatCommand", UnknownReason::Unreadable, command);
    };
    Event::new(Kind::Banner(Banner {
        change: BannerChange::Removed,
        banner_id,
        banner: None,
        header: None,
        words: Words::default(),
        item: None,
        video_id: None,
        link: None,
        timeout_ms: None,
    }))
}

/// The contents tell the kind; where they do not, the banner's own word does.
fn kind_of(banner_type: &str, name: &str) -> BannerKind {
    match name {
        "liveChatBannerRedirectRenderer" => BannerKind::Redirect,
        "liveChatBannerChatSummaryRenderer" => BannerKind::Summary,
        "liveChatCallForQuestionsRenderer" => BannerKind::Questions,
        "liveChatBannerPollRenderer" | "pollRenderer" => BannerKind::Poll,
        _ => match banner_type {
            "LIVE_CHAT_BANNER_TYPE_PINNED_MESSAGE" => BannerKind::Pinned,
            "LIVE_CHAT_BANNER_TYPE_CROSS_CHANNEL_REDIRECT" => BannerKind::Redirect,
            "LIVE_CHAT_BANNER_TYPE_CHAT_SUMMARY" => BannerKind::Summary,
            "" if name.ends_with("MessageRenderer") => BannerKind::Pinned,
            _ => BannerKind::Other,
        },
    }
}

/// A pinned row or a vote, as the event that it is.
fn item_of(what: BannerKind, name: &str, contents: &Value, region: Region) -> Option<Event> {
    match what {
        BannerKind::Pinned | BannerKind::Other => Some(read_named_item(name, contents, region)),
        BannerKind::Poll => read_poll_panel(contents, PollChange::Opened),
        BannerKind::Redirect | BannerKind::Summary | BannerKind::Questions => None,
    }
}

/// The words of a banner that is no row: each kind keeps them in a field of its own.
fn words_of(contents: &Value) -> Words {
    let fields = ["bannerMessage", "chatSummary", "questionMessage"];
    fields.iter().map(|field| words_at(contents, field)).find(|words| !words.is_empty()).unwrap_or_default()
}
