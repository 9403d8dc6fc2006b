//! Answers to polls.

use std::ops::Range;

use serde_json::{Value, json};

use crate::chat::Chat;
use crate::script::{Script, Shape, Silent};
use crate::token::Token;

/// The rows that are new to whoever asks with this token.
pub(crate) fn news(asked: &Token, script: &Script, rows: u64) -> Range<u64> {
    let from =
        asked.from.map_or(rows.saturating_sub(script.backlog), |from| from.max(rows.saturating_sub(script.reach_rows)));
    from..rows.max(from)
}

/// The answer to a poll that was asked with this token. `begun_us`: the start, in microseconds since 1970.
pub(crate) fn poll(asked: &Token, script: &Script, chat: &Chat, rows: u64, begun_us: u64, now_us: u64) -> Value {
    let news = news(asked, script, rows);
    let next = Token { made_us: now_us, from: Some(news.end), ..asked.clone() }.write();
    let is_silent = match script.silent {
        Silent::Nothing => false,
        Silent::AllChat => !asked.top,
        Silent::Everything => true,
    };
    let rows = if is_silent { 0..0 } else { news };
    let mut chat = json!({"continuations": continuations(&next, script), "actions":
        rows.map(|row| action(row, script, begun_us + chat.said_at(row).as_micros() as u64)).collect::<Vec<_>>()});
    // As the real one: no list where there is nothing.
    if chat["actions"].as_array().is_some_and(Vec::is_empty) {
        chat.as_object_mut().map(|chat| chat.remove("actions"));
    }
    match script.shape {
        Shape::Moved => json!({"responseContext": {}, "contents": {"liveChatRenderer": chat}}),
        Shape::Usual | Shape::Older | Shape::Unreadable => {
            json!({"responseContext": {}, "continuationContents": {"liveChatContinuation": chat}})
        }
    }
}

/// The end of a chat.
pub(crate) fn over() -> Value {
    json!({"responseContext": {}})
}

/// What a token that is expired, malformed or a stub is answered with, under status 400.
pub(crate) fn invalid() -> Value {
    const MESSAGE: &str = "Request contains an invalid argument.";
    let errors = json!([{"message": MESSAGE, "domain": "global", "reason": "badRequest"}]);
    json!({"error": {"code": 400, "message": MESSAGE, "errors": errors, "status": "INVALID_ARGUMENT"}})
}

/// The actions of a captured answer, a list of actions, or one action or item: what [`Script::recorded`] takes.
#[must_use]
pub fn actions_of(captured: &Value) -> Vec<Value> {
    let within = ["/continuationContents/liveChatContinuation/actions", "/contents/liveChatRenderer/actions"];
    let list = within.into_iter().find_map(|path| captured.pointer(path)).unwrap_or(captured);
    match list {
        Value::Array(actions) => actions.clone(),
        Value::Object(action) if action.keys().any(|key| key.ends_with("Action") || key.ends_with("Command")) => {
            vec![list.clone()]
        }
        Value::Object(_) => vec![json!({"addChatItemAction": {"item": list}})],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn continuations(next: &str, script: &Script) -> Value {
    match script.shape {
        Shape::Older => json!([{"timedContinuationData": {"timeoutMs": script.hint_ms, "continuation": next}}]),
        Shape::Usual | Shape::Moved | Shape::Unreadable => json!([{"invalidationContinuationData": {
            "invalidationId": {"objectSource": 1056, "objectId": "Y2hh", "topic": "chat~", "subscribeToGcmTopics": true},
            "timeoutMs": script.hint_ms, "continuation": next, "clickTrackingParams": "CA"}}]),
    }
}

fn action(row: u64, script: &Script, at_us: u64) -> Value {
    let recorded = script.recorded.len() as u64;
    if recorded > 0 {
        let mut action = script.recorded[(row % recorded) as usize].clone();
        // Each time round it is another row, or it would be taken for what was there before.
        rename(&mut action, row / recorded, at_us);
        return action;
    }
    json!({"clickTrackingParams": "CA", "addChatItemAction": {"clientId": "c", "item": {"liveChatTextMessageRenderer": {
        "id": format!("m{row}"),
        "timestampUsec": at_us.to_string(),
        "authorName": {"simpleText": format!("@viewer{}", row % 97)},
        "authorExternalChannelId": format!("UC{:022}", row % 97),
        "message": {"runs": [{"text": format!("row {row}")}]},
    }}}})
}

fn rename(value: &mut Value, round: u64, at_us: u64) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), &value) {
                    ("id" | "targetItemId", Value::String(id)) if round > 0 => *value = format!("{id}.{round}").into(),
                    ("timestampUsec", Value::String(_)) => *value = at_us.to_string().into(),
                    _ => rename(value, round, at_us),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| rename(value, round, at_us)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
