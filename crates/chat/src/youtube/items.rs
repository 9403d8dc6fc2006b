//! Rows: which renderer is which kind of event.

use serde_json::Value;

use super::amount::Region;
use super::author::read_author;
use super::text::{plain_at, words_at};
use super::walk::{list_at, only_key, string_at, whole_at};
use super::{gift, membership, notice, paid};
use crate::event::{Event, Kind, Message, Unknown, UnknownReason};

/// Reads an item, `{"liveChat…Renderer": {…}}`. It is always an event, at worst an `unknown` one.
#[must_use]
pub fn read_item(item: &Value, region: Region) -> Event {
    let known = item.as_object().and_then(|map| map.iter().find(|(name, _)| reader(name).is_some()));
    match known.map(|(name, renderer)| (name.as_str(), renderer)).or_else(|| only_key(item)) {
        Some((name, renderer)) => read_named_item(name, renderer, region),
        None => unknown("item", UnknownReason::Unreadable, item),
    }
}

/// Reads what stands under a renderer's name.
#[must_use]
pub fn read_named_item(name: &str, renderer: &Value, region: Region) -> Event {
    let Some(read) = reader(name) else { return unknown(name, UnknownReason::UnknownKind, renderer) };
    let kind = if renderer.is_object() { read(renderer, region) } else { None };
    let Some(kind) = kind else { return unknown(name, UnknownReason::Unreadable, renderer) };
    let mut event = Event::new(kind);
    event.id = string_at(renderer, "id");
    event.at_us = whole_at(renderer, "timestampUsec").filter(|at_us| *at_us > 0);
    event
}

/// An event for what is not known or cannot be read.
pub(super) fn unknown(name: &str, reason: UnknownReason, value: &Value) -> Event {
    let is_small = !value.is_null() && serde_json::to_string(value).is_ok_and(|json| json.len() <= MAX_RAW_BYTES);
    let name = name.chars().take(MAX_NAME_CHARS).collect();
    let mut event = Event::new(Kind::Unknown(Unknown { raw_kind: name, reason, raw: is_small.then(|| value.clone()) }));
    event.id = string_at(value, "id");
    event.at_us = whole_at(value, "timestampUsec").filter(|at_us| *at_us > 0);
    event
}

/// What reads a renderer; `None` from it when something it cannot do without is missing.
type Reader = fn(&Value, Region) -> Option<Kind>;

fn reader(name: &str) -> Option<Reader> {
    Some(match name {
        "liveChatTextMessageRenderer" => |renderer, _| Some(message(renderer)),
        "liveChatPaidMessageRenderer" => paid::read_paid,
        "liveChatPaidStickerRenderer" => paid::read_sticker,
        "liveChatMembershipItemRenderer" => |renderer, _| Some(membership::read_membership(renderer)),
        "liveChatLegacyPaidMessageRenderer" => |renderer, _| Some(membership::read_legacy(renderer)),
        "liveChatSponsorshipsGiftPurchaseAnnouncementRenderer" => |renderer, _| gift::read_purchase(renderer),
        "liveChatSponsorshipsGiftRedemptionAnnouncementRenderer" => |renderer, _| Some(gift::read_redemption(renderer)),
        "giftMessageViewModel" => |renderer, _| Some(gift::read_jewels(renderer)),
        "liveChatViewerEngagementMessageRenderer" => |renderer, _| Some(notice::read_engagement(renderer)),
        "liveChatModeChangeMessageRenderer" => |renderer, _| Some(notice::read_mode(renderer)),
        "liveChatPlaceholderItemRenderer" => |_, _| Some(notice::held()),
        "liveChatModerationMessageRenderer" => |renderer, _| Some(notice::read_moderation(renderer)),
        "liveChatAutoModMessageRenderer" => |renderer, region| Some(notice::read_filtered(renderer, region)),
        "liveChatDonationAnnouncementRenderer" => |renderer, _| Some(notice::read_fundraiser(renderer)),
        "liveChatRestrictedParticipationRenderer" => |renderer, _| Some(notice::read_restricted(renderer)),
        _ => return None,
    })
}

fn message(renderer: &Value) -> Kind {
    let button = |button: &Value| plain_at(button, "buttonViewModel.title")?.trim_start_matches('#').parse().ok();
    let rank = list_at(renderer, "beforeContentButtons").iter().find_map(button);
    Kind::Message(Message { author: read_author(renderer), words: words_at(renderer, "message"), rank })
}

/// How much of an unknown thing is handed on, in bytes of JSON: enough to report it, too little to fill a ring.
const MAX_RAW_BYTES: usize = 4_096;
/// Names of renderers have up to 60 characters.
const MAX_NAME_CHARS: usize = 120;
