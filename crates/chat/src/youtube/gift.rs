//! Gifts: memberships for others, and pictures for the channel.

use serde_json::Value;

use super::author::read_author;
use super::emoji::largest;
use super::membership::number_in;
use super::text::{runs_at, words_at};
use super::walk::{at, string_at};
use crate::event::{Gift, GiftKind, GiftReceived, Kind};

/// The giver stands in a header of its own; only the channel's id is outside it.
pub(super) fn read_purchase(renderer: &Value) -> Option<Kind> {
    let header = at(renderer, "header.liveChatSponsorshipsHeaderRenderer").filter(|header| header.is_object())?;
    let mut author = read_author(header);
    author.channel_id = author.channel_id.or_else(|| string_at(renderer, "authorExternalChannelId"));
    let words = words_at(header, "primaryText");
    Some(Kind::Gift(Gift {
        author,
        gift: GiftKind::Memberships,
        count: number_in(&runs_at(header, "primaryText"), &words.text),
        image: largest(header, "image.thumbnails"),
        words,
    }))
}

/// "was gifted a membership by ", giver: the giver is the last run, and only a name.
pub(super) fn read_redemption(renderer: &Value) -> Kind {
    let runs = runs_at(renderer, "message");
    let giver = if runs.len() > 1 { runs.last().map(|giver| (*giver).to_owned()) } else { None };
    Kind::GiftReceived(GiftReceived { author: read_author(renderer), giver, words: words_at(renderer, "message") })
}

/// A picture paid with Jewels. What it cost stands in the sentence, if at all; who gave it has a name and no id.
pub(super) fn read_jewels(model: &Value) -> Kind {
    let mut author = read_author(model);
    author.photo = largest(model, "authorAvatar.avatarViewModel.image.sources");
    Kind::Gift(Gift {
        author,
        gift: GiftKind::Jewels,
        count: None,
        image: largest(model, "giftImage.sources").or_else(|| largest(model, "image.sources")),
        words: words_at(model, "text"),
    })
}
