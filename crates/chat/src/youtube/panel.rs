//! Votes: opened in a panel, counted, closed.

use serde_json::Value;

use super::items::unknown;
use super::text::{plain_at, runs_at};
use super::walk::{at, list_at, string_at};
use crate::event::{Choice, Event, Kind, Poll, PollChange, UnknownReason};

/// Reads `showLiveChatActionPanelAction`.
pub(super) fn read_shown_panel(action: &Value) -> Event {
    let panel = at(action, "panelToShow.liveChatActionPanelRenderer").unwrap_or(&Value::Null);
    let contents = at(panel, "contents").unwrap_or(&Value::Null);
    let Some(poll) = at(contents, "pollRenderer") else {
        // Panels of other kinds have come and gone; their name is what there is to report.
        let name = contents.as_object().and_then(|map| map.keys().next());
        let reason = if name.is_some() { UnknownReason::UnknownKind } else { UnknownReason::Unreadable };
        return unknown(name.map_or("showLiveChatActionPanelAction", String::as_str), reason, action);
    };
    let event = read_poll(poll, PollChange::Opened, string_at(panel, "id"));
    event.unwrap_or_else(|| unknown("showLiveChatActionPanelAction", UnknownReason::Unreadable, action))
}

/// Reads `updateLiveChatPollAction`.
pub(super) fn read_updated_poll(action: &Value) -> Event {
    let poll = at(action, "pollToUpdate.pollRenderer").and_then(|poll| read_poll_panel(poll, PollChange::Updated));
    poll.unwrap_or_else(|| unknown("updateLiveChatPollAction", UnknownReason::Unreadable, action))
}

/// Reads `closeLiveChatActionPanelAction`. A panel has the id of its vote.
pub(super) fn read_closed_panel(action: &Value) -> Event {
    match string_at(action, "targetPanelId") {
        Some(poll_id) => {
            event(Poll { change: PollChange::Closed, poll_id, question: None, choices: Vec::new(), votes: None })
        }
        None => unknown("closeLiveChatActionPanelAction", UnknownReason::Unreadable, action),
    }
}

/// Reads a `pollRenderer`; `None` without an id or choices.
pub(crate) fn read_poll_panel(poll: &Value, change: PollChange) -> Option<Event> {
    read_poll(poll, change, None)
}

fn read_poll(poll: &Value, change: PollChange, panel_id: Option<String>) -> Option<Event> {
    let choices: Vec<Choice> = list_at(poll, "choices").iter().filter_map(read_choice).collect();
    let poll_id = string_at(poll, "liveChatPollId").or(panel_id)?;
    let header = at(poll, "header.pollHeaderRenderer").unwrap_or(&Value::Null);
    let question = plain_at(header, "pollQuestion").or_else(|| plain_at(poll, "pollQuestion"));
    (!choices.is_empty()).then(|| event(Poll { change, poll_id, question, choices, votes: votes(header) }))
}

fn read_choice(choice: &Value) -> Option<Choice> {
    let share = at(choice, "voteRatio").and_then(Value::as_f64).or_else(|| {
        let percent = plain_at(choice, "votePercentage")?;
        Some(percent.trim_end_matches(['%', ' ', '\u{a0}']).parse::<f64>().ok()? / 100.0)
    });
    Some(Choice { text: plain_at(choice, "text")?, share: share.filter(|share| (0.0..=1.0).contains(share)) })
}

/// "@owner", " • ", "just now", " • ", "1,234 votes": the last part's number. One that is rounded ("1.9K") is none.
fn votes(header: &Value) -> Option<u64> {
    let runs = runs_at(header, "metadataText");
    let (number, unit) = runs.last().filter(|_| runs.len() > 1)?.trim().split_once([' ', '\u{a0}'])?;
    let is_plain = number.chars().all(|c| c.is_ascii_digit() || c == ',') && !unit.is_empty();
    if is_plain { number.replace(',', "").parse().ok() } else { None }
}

fn event(poll: Poll) -> Event {
    Event::new(Kind::Poll(poll))
}
