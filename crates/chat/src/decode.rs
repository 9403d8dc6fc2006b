//! Looks at a captured answer (C14): `tidegate chat --decode FILE`.

use serde_json::{Value, json};

use crate::event::{About, ErrorCode, Event, Failure, Kind, PollChange, Status, StreamState, StreamStatus, Words};
use crate::youtube::{
    Fetched, ListedState, Over, PageAnswer, PollAnswer, Region, Trouble, read_action, read_item, read_named_item,
    read_page, read_poll_json, read_poll_panel, read_values,
};

/// Why a file says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Nothing in it.
    #[error("there is nothing to read: give a captured poll answer, page, action or renderer")]
    Empty,
    /// Cut off or something else.
    #[error(
        "this is neither a page nor JSON from byte {at} on: give the answer as it was received, whole and decompressed"
    )]
    NotJson {
        /// How far it could be read, in JSON values.
        at: usize,
    },
}

/// Reads a captured poll answer, page, list of actions, action, item or bare renderer; several may follow each other.
/// What is a page or an error rather than a chat becomes a `status` or `error` event. `region` is where the capture was
/// made.
///
/// ```
/// use tidegate_chat::{decode, youtube::Region};
///
/// let events = decode(br#"{"removeChatItemAction":{"targetItemId":"a"}}"#, Region::Unknown).unwrap();
/// assert_eq!(serde_json::to_string(&events[0]).unwrap(), r#"{"schema":1,"kind":"removed","target_id":"a"}"#);
/// ```
///
/// # Errors
/// When the bytes are no page and no JSON; what came before them is lost too, as it may mean something else.
pub fn decode(bytes: &[u8], region: Region) -> Result<Vec<Event>, DecodeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Err(DecodeError::Empty);
    }
    if bytes.starts_with(b"<") {
        return Ok(decode_page(&read_page(&Fetched::ok(bytes))));
    }
    let (values, whole) = read_values(bytes);
    if !whole {
        return Err(DecodeError::NotJson { at: values.len() });
    }
    Ok(values.iter().flat_map(|value| decode_value(value, region, MAX_DEPTH)).collect())
}

fn decode_page(page: &PageAnswer) -> Vec<Event> {
    match page {
        PageAnswer::Watch(page) => vec![stream(page.status())],
        PageAnswer::Channel(page) => {
            let channel_id = page.channel.as_ref().map(ToString::to_string);
            let listed = page.streams.iter().map(|listed| StreamStatus {
                state: match listed.state {
                    ListedState::Live => StreamState::Live,
                    ListedState::Upcoming => StreamState::Upcoming,
                    ListedState::Past => StreamState::Ended,
                    ListedState::Unsaid => StreamState::NotAStream,
                },
                video_id: Some(listed.video.to_string()),
                channel_id: channel_id.clone(),
                starts_s: listed.starts_s,
                title: None,
                channel: None,
            });
            listed.map(stream).collect()
        }
        PageAnswer::Chat(page) => page.batch.events.clone(),
        PageAnswer::ChatOver(words) => vec![over(words)],
        PageAnswer::Trouble(trouble) => vec![failure(trouble)],
    }
}

fn decode_value(value: &Value, region: Region, depth: u32) -> Vec<Event> {
    let inner = |values: &[Value]| match depth.checked_sub(1) {
        Some(depth) => values.iter().flat_map(|value| decode_value(value, region, depth)).collect(),
        None => Vec::new(),
    };
    if let Some(list) = value.as_array() {
        return inner(list);
    }
    let has = |key: &str| value.get(key).is_some();
    if POLLS.iter().any(|key| has(key)) {
        return decode_poll(read_poll_json(value, region));
    }
    if let Some(actions) = value.get("actions").and_then(Value::as_array) {
        return inner(actions);
    }
    if has("item") {
        return vec![read_item(&value["item"], region)];
    }
    if let Some(name) = bare_renderer(value) {
        return vec![read_named_item(name, value, region)];
    }
    if has("choices")
        && let Some(poll) = read_poll_panel(value, PollChange::Updated)
    {
        return vec![poll];
    }
    if let Some(action) = wrapped(value) {
        return read_action(&action, region);
    }
    let names_item = value
        .as_object()
        .is_some_and(|map| map.keys().any(|key| key.ends_with("Renderer") || key.ends_with("ViewModel")));
    if names_item { vec![read_item(value, region)] } else { read_action(value, region) }
}

fn decode_poll(answer: PollAnswer) -> Vec<Event> {
    match answer {
        PollAnswer::Batch(batch) => batch.events,
        PollAnswer::Over(words) => vec![over(&words)],
        PollAnswer::Trouble(trouble) => vec![failure(&trouble)],
    }
}

/// The action that a renderer comes in, for those that are no rows.
fn wrapped(value: &Value) -> Option<Value> {
    let name = value.as_object()?.keys().find(|key| key.ends_with("Renderer"))?;
    match name.as_str() {
        "liveChatBannerRenderer" => Some(json!({"addBannerToLiveChatCommand": {"bannerRenderer": value}})),
        "liveChatActionPanelRenderer" => Some(json!({"showLiveChatActionPanelAction": {"panelToShow": value}})),
        "pollRenderer" => Some(json!({"updateLiveChatPollAction": {"pollToUpdate": value}})),
        ticker if ticker.starts_with("liveChatTicker") => Some(json!({"addLiveChatTickerItemAction": {"item": value}})),
        _ => None,
    }
}

/// Which renderer an object is that stands without its name: by the fields that only one kind has.
fn bare_renderer(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    Some(match () {
        () if has("purchaseAmountText") && has("sticker") => "liveChatPaidStickerRenderer",
        () if has("purchaseAmountText") => "liveChatPaidMessageRenderer",
        () if value.pointer("/header/liveChatSponsorshipsHeaderRenderer").is_some() => {
            "liveChatSponsorshipsGiftPurchaseAnnouncementRenderer"
        }
        () if has("headerSubtext") || has("headerPrimaryText") => "liveChatMembershipItemRenderer",
        () if has("giftImage") => "giftMessageViewModel",
        () if has("message") && has("authorName") && is_redemption(value) => {
            "liveChatSponsorshipsGiftRedemptionAnnouncementRenderer"
        }
        () if has("message") && has("authorName") => "liveChatTextMessageRenderer",
        () if has("message") && has("icon") => "liveChatViewerEngagementMessageRenderer",
        () if has("text") && has("icon") => "liveChatModeChangeMessageRenderer",
        () => return None,
    })
}

/// A sentence in italics that ends in a name: nothing else tells a redemption from a message once its name is off.
fn is_redemption(value: &Value) -> bool {
    let runs = value.pointer("/message/runs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let flag = |run: &Value, key: &str| run.get(key).and_then(Value::as_bool) == Some(true);
    matches!(runs, [sentence, name] if flag(sentence, "italics") && flag(name, "italics") && flag(name, "bold"))
}

fn over(over: &Over) -> Event {
    let message = match over {
        Over::NoContents => "YouTube's answer holds no chat: it is over, or no longer open".to_owned(),
        Over::Message(words) => words.clone(),
        Over::ReplayEnd => "The replay ends here".to_owned(),
    };
    error(ErrorCode::Ended, message, None)
}

fn stream(status: StreamStatus) -> Event {
    Event::new(Kind::Status(Status { stream: Some(status), ..Status::new(About::Stream, Words::default()) }))
}

fn failure(trouble: &Trouble) -> Event {
    let code = match trouble {
        Trouble::Throttled { .. } => ErrorCode::RateLimited,
        Trouble::Denied | Trouble::Gone => ErrorCode::Gone,
        Trouble::Expired
        | Trouble::Consent
        | Trouble::Moved { .. }
        | Trouble::SignIn
        | Trouble::Unavailable { .. }
        | Trouble::Garbled
        | Trouble::TooLarge
        | Trouble::Changed { .. } => ErrorCode::UpstreamError,
    };
    let retry_after_ms = match trouble {
        Trouble::Throttled { retry_after, .. } => retry_after.and_then(|delay| u64::try_from(delay.as_millis()).ok()),
        Trouble::Expired
        | Trouble::Denied
        | Trouble::Gone
        | Trouble::Consent
        | Trouble::Moved { .. }
        | Trouble::SignIn
        | Trouble::Unavailable { .. }
        | Trouble::Garbled
        | Trouble::TooLarge
        | Trouble::Changed { .. } => None,
    };
    error(code, trouble.to_string(), retry_after_ms)
}

fn error(code: ErrorCode, message: String, retry_after_ms: Option<u64>) -> Event {
    Event::new(Kind::Error(Failure { code, message, retry_after_ms, is_final: code != ErrorCode::RateLimited }))
}

/// What only whole answers have.
const POLLS: &[&str] = &["responseContext", "continuationContents", "contents", "response", "error"];

/// How deep lists of actions may lie in each other.
const MAX_DEPTH: u32 = 4;
