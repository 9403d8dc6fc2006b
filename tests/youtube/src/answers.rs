//! The bodies of its answers.

use serde_json::{Value, json};

use crate::Script;

/// A watch page.
pub(crate) fn page(video: &str, script: &Script) -> String {
    let player = json!({
        "playabilityStatus": {"status": "OK"},
        "videoDetails": {"videoId": video, "title": "A stream", "channelId": CHANNEL, "author": "A channel",
            "isLive": script.is_live, "isLiveContent": true},
        "microformat": {"playerMicroformatRenderer": {"liveBroadcastDetails": {"isLiveNow": script.is_live}}},
    });
    let chat = json!({
        "continuations": [{"reloadContinuationData": {"continuation": "reload"}}],
        "isReplay": !script.is_live,
    });
    let bar = json!({"conversationBar": {"liveChatRenderer": chat}});
    let data = json!({"contents": {"twoColumnWatchNextResults": bar}});
    format!(
        r#"<!DOCTYPE html><html><head><script>ytcfg.set({{"INNERTUBE_API_KEY":"key",
"INNERTUBE_CONTEXT_CLIENT_VERSION":"2.20260213.01.00","VISITOR_DATA":"Cgt%3D%3D"}});
var ytInitialPlayerResponse = {player};</script></head><body><script>var ytInitialData = {data};</script></body></html>"#
    )
}

/// A poll's answer: the rows from one number to before another.
pub(crate) fn poll(from: u64, to: u64, script: &Script) -> Value {
    let row = |number: u64| {
        let at_us = (number as f64 / script.rate * 1e6) as u64 + 1;
        json!({"addChatItemAction": {"item": {"liveChatTextMessageRenderer": {
            "id": format!("m{number}"),
            "timestampUsec": at_us.to_string(),
            "authorName": {"simpleText": format!("@viewer{}", number % 97)},
            "authorExternalChannelId": CHANNEL,
            "message": {"runs": [{"text": format!("row {number}")}]},
        }}}})
    };
    let next = json!([{"timedContinuationData": {"timeoutMs": script.hint_ms, "continuation": format!("next{to}")}}]);
    let actions: Vec<Value> = (from..to).map(row).collect();
    let chat = json!({"continuations": next, "actions": actions});
    json!({"responseContext": {}, "continuationContents": {"liveChatContinuation": chat}})
}

/// The end of a chat.
pub(crate) fn over() -> Value {
    json!({"responseContext": {}})
}

/// What an expired token is answered with, under status 400.
pub(crate) fn expired() -> Value {
    json!({"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT"}})
}

/// The one channel that there is.
const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
