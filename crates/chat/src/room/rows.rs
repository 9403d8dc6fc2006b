//! Which row an event is, which it repeats, and which it takes away.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::{About, Event, Kind};

/// The rows that were sent, so that what a re-bootstrap repeats is not sent twice (C8). Only hashes are kept: a row's
/// id is only ever asked for whether it is the same.
#[derive(Debug)]
pub(super) struct Seen {
    known: HashSet<u64>,
    order: VecDeque<u64>,
    max: usize,
}

impl Seen {
    pub(super) fn new(max: usize) -> Self {
        Self { known: HashSet::new(), order: VecDeque::new(), max }
    }

    /// Takes an event down; `false` when it was here before. What has no name of its own is always new: a count or a
    /// vote may well stand as it stood before.
    pub(super) fn is_new(&mut self, event: &Event) -> bool {
        match &event.kind {
            Kind::Removed(removed) => self.insert(hash(("removed", &removed.target_id))),
            Kind::Replaced(replaced) => {
                // The backlog of a re-bootstrap has the row as it became, in its own right.
                if let Some(id) = &replaced.item.id {
                    self.insert(hash(id));
                }
                true
            }
            // A chip has the id of the row that it copies.
            Kind::Ticker(_) => event.id.as_ref().is_none_or(|id| self.insert(hash(("ticker", id)))),
            Kind::Message(_)
            | Kind::Paid(_)
            | Kind::Sticker(_)
            | Kind::Membership(_)
            | Kind::Gift(_)
            | Kind::GiftReceived(_)
            | Kind::Banner(_)
            | Kind::Poll(_)
            | Kind::AuthorRemoved(_)
            | Kind::Mode(_)
            | Kind::ViewerCount(_)
            | Kind::Status(_)
            | Kind::Gap(_)
            | Kind::Error(_)
            | Kind::Unknown(_) => event.id.as_ref().is_none_or(|id| self.insert(hash(id))),
        }
    }

    fn insert(&mut self, key: u64) -> bool {
        if !self.known.insert(key) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > self.max
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

pub(super) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The row's id and its author's channel.
pub(super) fn row_of(event: &Event) -> (Option<&String>, Option<&String>) {
    let author = match &event.kind {
        Kind::Message(message) => Some(&message.author),
        Kind::Paid(paid) => Some(&paid.author),
        Kind::Sticker(sticker) => Some(&sticker.author),
        Kind::Membership(membership) => Some(&membership.author),
        Kind::Gift(gift) => Some(&gift.author),
        Kind::GiftReceived(received) => Some(&received.author),
        Kind::Replaced(replaced) => return row_of(&replaced.item),
        Kind::Ticker(ticker) => match &ticker.item {
            Some(item) => return (event.id.as_ref(), row_of(item).1),
            None => ticker.author.as_ref(),
        },
        Kind::Banner(_)
        | Kind::Poll(_)
        | Kind::Removed(_)
        | Kind::AuthorRemoved(_)
        | Kind::Mode(_)
        | Kind::ViewerCount(_)
        | Kind::Status(_)
        | Kind::Gap(_)
        | Kind::Error(_)
        | Kind::Unknown(_) => None,
    };
    (event.id.as_ref(), author.and_then(|author| author.channel_id.as_ref()))
}

/// Tells the hash of each row or author that an event takes away.
pub(super) fn takes_away(kind: &Kind, mut gone: impl FnMut(u64)) {
    match kind {
        Kind::Removed(removed) => gone(hash(&removed.target_id)),
        Kind::AuthorRemoved(removed) => gone(hash(&removed.channel_id)),
        // A row that is held for review again was taken away from those who come now.
        Kind::Replaced(replaced) => {
            if matches!(&replaced.item.kind, Kind::Status(status) if status.about == About::Held) {
                gone(hash(&replaced.target_id));
            }
        }
        Kind::Message(_)
        | Kind::Paid(_)
        | Kind::Sticker(_)
        | Kind::Membership(_)
        | Kind::Gift(_)
        | Kind::GiftReceived(_)
        | Kind::Ticker(_)
        | Kind::Banner(_)
        | Kind::Poll(_)
        | Kind::Mode(_)
        | Kind::ViewerCount(_)
        | Kind::Status(_)
        | Kind::Gap(_)
        | Kind::Error(_)
        | Kind::Unknown(_) => {}
    }
}
