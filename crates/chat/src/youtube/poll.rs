//! A poll's answer: events and the next token, or what became of the chat.

use serde_json::Value;

use super::actions::read_action;
use super::amount::Region;
use super::continuation::{ContinuationKind, Next};
use super::fetched::Fetched;
use super::lenient::read_json;
use super::text::plain_at;
use super::trouble::{Trouble, error_object};
use super::walk::{at, flag_at, list_at, text_at};
use crate::event::Event;

/// What a poll's answer is.
#[derive(Clone, Debug, PartialEq)]
pub enum PollAnswer {
    /// The chat.
    Batch(Batch),
    /// The upstream says that there is no chat any more. It has said so of living ones, so the page is asked once more
    /// before a viewer is told (C6).
    Over(Over),
    /// Something else.
    Trouble(Trouble),
}

/// A part of the chat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// What happened, in order. Empty in a quiet chat, and for ever in a blind room (C6).
    pub events: Vec<Event>,
    /// How many actions were passed over because they only move the upstream's own page about.
    pub ignored: usize,
    /// Where to go on; `None` is usually the end, and was once a passing fault after 20 hours: it is confirmed by the
    /// page (C6). The events count all the same.
    pub next: Option<Next>,
    /// The chat of a finished stream (C13).
    pub is_replay: bool,
}

/// How the upstream says that there is no chat any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// By leaving the chat out: the stream is over, or members only by now, or its chat is off.
    NoContents,
    /// By a sentence, in the language of the room.
    Message(String),
    /// By the end of a replay.
    ReplayEnd,
}

/// Reads the answer to a poll.
#[must_use]
pub fn read_poll(fetched: &Fetched<'_>) -> PollAnswer {
    if let Some(trouble) = Trouble::of_status(fetched) {
        // The old endpoint's end was a 404 page: not the video is gone, but what we call.
        let is_endpoint = trouble == Trouble::Gone && fetched.is_html();
        return PollAnswer::Trouble(if is_endpoint {
            Trouble::Changed { what: "get_live_chat is gone" }
        } else {
            trouble
        });
    }
    match read_json(fetched.body) {
        Some(answer) => read_poll_json(&answer, Region::default()),
        None if fetched.is_html() => PollAnswer::Trouble(Trouble::of_html(fetched.body)),
        None => PollAnswer::Trouble(Trouble::Garbled),
    }
}

/// Reads the answer to a poll, or the data of a chat page, once it is JSON.
#[must_use]
pub fn read_poll_json(answer: &Value, region: Region) -> PollAnswer {
    if let Some(error) = error_object(answer) {
        return PollAnswer::Trouble(Trouble::of_error(200, error));
    }
    // Readers of years ago saw the answer within another one.
    let answer = at(answer, "response").filter(|inner| inner.is_object()).unwrap_or(answer);
    if let Some(chat) = CHATS.iter().find_map(|path| at(answer, path).filter(|chat| chat.is_object())) {
        return read_chat(chat, region);
    }
    if let Some(message) = at(answer, "contents.messageRenderer") {
        return PollAnswer::Over(Over::Message(plain_at(message, "text").unwrap_or_default()));
    }
    if list_at(answer, "responseContext.errors.error").iter().any(|error| text_at(error, "code").is_some()) {
        return PollAnswer::Trouble(Trouble::Expired);
    }
    if at(answer, "responseContext").is_some() {
        return PollAnswer::Over(Over::NoContents);
    }
    PollAnswer::Trouble(Trouble::Changed { what: "no chat in the answer" })
}

fn read_chat(chat: &Value, region: Region) -> PollAnswer {
    let continuations = list_at(chat, "continuations");
    let next = Next::read(continuations);
    let actions = list_at(chat, "actions");
    let seeks = continuations.iter().any(|entry| at(entry, "playerSeekContinuationData").is_some());
    if next.is_none() && seeks && actions.is_empty() {
        return PollAnswer::Over(Over::ReplayEnd);
    }
    let is_replay = flag_at(chat, "isReplay")
        || next.as_ref().is_some_and(|next| next.kind == ContinuationKind::Replay)
        || actions.iter().any(|action| at(action, "replayChatItemAction").is_some());
    let mut batch = Batch { next, is_replay, ..Batch::default() };
    for action in actions {
        let events = read_action(action, region);
        batch.ignored += usize::from(events.is_empty());
        batch.events.extend(events);
    }
    PollAnswer::Batch(batch)
}

/// Where the chat stands in an answer: data have moved from one to the other and back.
const CHATS: &[&str] =
    &["continuationContents.liveChatContinuation", "contents.liveChatRenderer", "contents.liveChatContinuation"];
