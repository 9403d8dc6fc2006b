//! Answers written by hand, in the shapes that readers and reports describe and no public capture shows.

use serde_json::{Value, json};
use tidegate_chat::event::{Event, Kind, Message};
use tidegate_chat::youtube::{
    Batch, ChannelId, Fetched, PageAnswer, PollAnswer, Region, Token, TokenParts, VideoId, View, WatchPage, read_page,
    read_poll, read_poll_json,
};

pub(crate) const VIDEO: &str = "abcdefghij0";
pub(crate) const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";

pub(crate) fn token(view: View) -> Token {
    let (channel, video) = (ChannelId::parse(CHANNEL).unwrap(), VideoId::parse(VIDEO).unwrap());
    TokenParts { channel, video, view, made_us: 1_771_330_208_945_525 }.token()
}

/// A page with these two objects.
pub(crate) fn page(player: &Value, data: &Value) -> String {
    let escaped = |value: &Value| value.to_string().replace("</", "<\\/");
    format!(
        r#"<!DOCTYPE html><html><head><title>x</title>
<script nonce="n">(function() {{window.ytplayer={{}}; ytcfg.set({{"INNERTUBE_API_KEY":"key","INNERTUBE_CONTEXT_CLIENT_NAME":1,
"INNERTUBE_CONTEXT_CLIENT_VERSION":"2.20260213.01.00","VISITOR_DATA":"Cgt%3D%3D"}}); ytcfg.set({{later:function(){{}}}});}})()</script>
<script nonce="n">if (window.ytcsi) {{window.ytcsi.tick('x');}} var ytInitialPlayerResponse = {};var meta = 1;</script></head>
<body><script nonce="n">var ytInitialData = {};</script></body></html>"#,
        escaped(player),
        escaped(data),
    )
}

pub(crate) fn player(status: &Value, details: &Value, broadcast: &Value) -> Value {
    let mut player = json!({
        "playabilityStatus": status,
        "videoDetails": {"videoId": VIDEO, "title": "A title", "channelId": CHANNEL, "author": "A channel"},
        "microformat": {"playerMicroformatRenderer": {"liveBroadcastDetails": broadcast}},
    });
    for (key, value) in details.as_object().unwrap() {
        player["videoDetails"][key] = value.clone();
    }
    player
}

pub(crate) fn live_player() -> Value {
    player(&json!({"status": "OK"}), &json!({"isLive": true, "isLiveContent": true}), &json!({"isLiveNow": true}))
}

pub(crate) fn data(bar: &Value) -> Value {
    json!({"contents": {"twoColumnWatchNextResults": {"conversationBar": bar}}})
}

pub(crate) fn chat_bar(more: &Value) -> Value {
    let mut chat = json!({"continuations": [{"reloadContinuationData": {"continuation": token(View::Top).as_str()}}]});
    for (key, value) in more.as_object().unwrap() {
        chat[key] = value.clone();
    }
    json!({ "liveChatRenderer": chat })
}

/// The bar that stands in place of a chat. Its words come in the visitor's language.
pub(crate) fn closed_bar() -> Value {
    let text = json!({"runs": [{"text": "Chat ist für diesen Livestream deaktiviert."}]});
    json!({"conversationBarRenderer": {"availabilityMessage": {"messageRenderer": {"text": text}}}})
}

pub(crate) fn read(player: &Value, data: &Value) -> PageAnswer {
    read_page(&Fetched::ok(page(player, data).as_bytes()))
}

pub(crate) fn watch(player: &Value, data: &Value) -> WatchPage {
    match read(player, data) {
        PageAnswer::Watch(page) => *page,
        other => panic!("no watch page: {other:?}"),
    }
}

/// A poll's answer with these actions, and a token to go on with.
pub(crate) fn poll(actions: &[Value]) -> Value {
    let continuations = json!([{"invalidationContinuationData": {"timeoutMs": 10_000, "continuation": "next"}}]);
    json!({
        "responseContext": {},
        "continuationContents": {"liveChatContinuation": {"continuations": continuations, "actions": actions}},
    })
}

pub(crate) fn batch(answer: &Value) -> Batch {
    match read_poll_json(answer, Region::UnitedStates) {
        PollAnswer::Batch(batch) => batch,
        other => panic!("no batch: {other:?}"),
    }
}

pub(crate) fn events(actions: &[Value]) -> Vec<Event> {
    batch(&poll(actions)).events
}

pub(crate) fn answer(status: u16, body: &str) -> PollAnswer {
    read_poll(&Fetched { status, location: None, body: body.as_bytes() })
}

pub(crate) fn add(item: &Value) -> Value {
    json!({"clickTrackingParams": "CA", "addChatItemAction": {"item": item, "clientId": "c"}})
}

/// A message with these runs.
pub(crate) fn text(id: &str, runs: &Value) -> Value {
    add(&json!({"liveChatTextMessageRenderer": {
        "id": id,
        "timestampUsec": "1776004576422639",
        "authorName": {"simpleText": "@ann"},
        "authorExternalChannelId": CHANNEL,
        "message": {"runs": runs},
    }}))
}

/// What a batch of messages says, and the kinds of what else is in it.
pub(crate) fn said(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| match &event.kind {
            Kind::Message(Message { words, .. }) => words.text.clone(),
            kind => format!("<{}>", kind.name()),
        })
        .collect()
}
