//! Chips above the chat: copies of paid and member rows.

use serde_json::Value;

use super::amount::{Region, amount_at};
use super::author::read_author;
use super::emoji::largest;
use super::items::{read_item, unknown};
use super::text::words_at;
use super::walk::{at, count_at, only_key, string_at};
use crate::event::{Author, Event, Kind, Ticker, UnknownReason};

/// Reads `addLiveChatTickerItemAction`.
pub(super) fn read_ticker(action: &Value, region: Region) -> Event {
    let item = at(action, "item").unwrap_or(&Value::Null);
    let Some((name, chip)) = only_key(item) else {
        return unknown("addLiveChatTickerItemAction", UnknownReason::Unreadable, action);
    };
    if !KNOWN.contains(&name) {
        return unknown(name, UnknownReason::UnknownKind, chip);
    }
    let copy = at(chip, "showItemEndpoint.showLiveChatItemEndpoint.renderer").map(|item| read_item(item, region));
    let id = string_at(chip, "id").or_else(|| copy.as_ref()?.id.clone());
    // A copy may lack the id that the chip has: both are the row's.
    let copy = copy.map(|copy| Event { id: copy.id.clone().or_else(|| id.clone()), ..copy });
    let seconds = |value: &Value, path: &str| count_at(value, path).and_then(|seconds| u32::try_from(seconds).ok());
    let is_alone = copy.is_none();
    let ticker = Ticker {
        duration_s: seconds(chip, "durationSec").or_else(|| seconds(action, "durationSec")),
        full_duration_s: seconds(chip, "fullDurationSec"),
        words: words_at(chip, "detailText"),
        author: is_alone.then(|| author(chip)),
        amount: if is_alone { amount_at(chip, "amount", region) } else { None },
        item: copy.map(Box::new),
    };
    Event { id, ..Event::new(Kind::Ticker(ticker)) }
}

fn author(chip: &Value) -> Author {
    let author = read_author(chip);
    Author { photo: author.photo.clone().or_else(|| largest(chip, "sponsorPhoto.thumbnails")), ..author }
}

const KNOWN: &[&str] = &[
    "liveChatTickerPaidMessageItemRenderer",
    "liveChatTickerPaidStickerItemRenderer",
    "liveChatTickerSponsorItemRenderer",
];
