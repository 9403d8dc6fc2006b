//! A video's state, from `ytInitialPlayerResponse`.

use serde_json::Value;

use super::bar::Bar;
use super::trouble::{Throttle, Trouble};
use super::walk::{at, flag_at, list_at, text_at, whole_at};
use crate::event::StreamState;

/// The state of a video, or what a page in disguise is.
///
/// ```text
/// OK ── members' offer? ─ yes ─▶ members only
///    └─ live, upcoming, was a stream, none of them ─▶ its state; a chat that is off takes its place
/// LIVE_STREAM_OFFLINE ─▶ upcoming, or ended when it has an end
/// LOGIN_REQUIRED ─▶ bot check = throttle │ age │ private │ other
/// UNPLAYABLE, ERROR ─▶ members only │ session limit = throttle │ unavailable
/// ```
pub(super) fn state_of(player: &Value, bar: &Bar) -> Result<StreamState, Trouble> {
    let status = at(player, "playabilityStatus").unwrap_or(&Value::Null);
    if at(status, "errorScreen.playerCaptchaViewModel").is_some() {
        return Err(Trouble::throttled(Throttle::Captcha));
    }
    // The bar of a members-only stream says that chat is off, so the offer is looked at first.
    if at(status, "errorScreen.playerLegacyDesktopYpcOfferRenderer").is_some() {
        return Ok(StreamState::MembersOnly);
    }
    match text_at(status, "status").unwrap_or_default() {
        "OK" => Ok(playable(player, bar)),
        "LIVE_STREAM_OFFLINE" => Ok(offline(player, bar)),
        "LOGIN_REQUIRED" | "AGE_CHECK_REQUIRED" | "AGE_VERIFICATION_REQUIRED" | "CONTENT_CHECK_REQUIRED" => {
            locked(player, status)
        }
        "UNPLAYABLE" | "ERROR" if says(status, &["available try again later"]) => {
            Err(Trouble::throttled(Throttle::SessionLimit))
        }
        "UNPLAYABLE" | "ERROR" => Ok(StreamState::Unavailable),
        _ => Err(Trouble::Changed { what: "a playability status that is not known" }),
    }
}

/// When the stream is to start or started: seconds since 1970 UTC.
pub(super) fn starts_s(player: &Value) -> Option<i64> {
    let slate =
        "playabilityStatus.liveStreamability.liveStreamabilityRenderer.offlineSlate.liveStreamOfflineSlateRenderer";
    whole_at(player, &format!("{slate}.scheduledStartTime"))
        .or_else(|| Some(text_at(broadcast(player), "startTimestamp")?.parse::<jiff::Timestamp>().ok()?.as_second()))
}

fn playable(player: &Value, bar: &Bar) -> StreamState {
    let state = if is_live(player) {
        StreamState::Live
    } else if flag_at(player, "videoDetails.isUpcoming") {
        StreamState::Upcoming
    } else if flag_at(player, "videoDetails.isLiveContent") || text_at(broadcast(player), "endTimestamp").is_some() {
        StreamState::Ended
    } else {
        StreamState::NotAStream
    };
    or_closed(state, bar)
}

fn offline(player: &Value, bar: &Bar) -> StreamState {
    let state = if is_live(player) {
        // A live stream whose encoder has dropped out.
        StreamState::Live
    } else if text_at(broadcast(player), "endTimestamp").is_some() || matches!(bar, Bar::Chat(chat) if chat.is_replay) {
        StreamState::Ended
    } else {
        StreamState::Upcoming
    };
    or_closed(state, bar)
}

/// A chat that is off matters only where there could be one.
fn or_closed(state: StreamState, bar: &Bar) -> StreamState {
    match (state, bar) {
        (StreamState::Live | StreamState::Upcoming, Bar::Closed) => StreamState::ChatDisabled,
        // Finished since the player's part was made.
        (StreamState::Live, Bar::Chat(chat)) if chat.is_replay => StreamState::Ended,
        (state, _) => state,
    }
}

/// One status has many reasons. Fields tell age and privacy; the rest is told by the sentence alone, which is in
/// English because every request asks for it.
fn locked(player: &Value, status: &Value) -> Result<StreamState, Trouble> {
    if says(status, &["bot"]) {
        return Err(Trouble::throttled(Throttle::BotCheck));
    }
    let is_age = whole_at(status, "desktopLegacyAgeGateReason").is_some()
        || text_at(status, "status") != Some("LOGIN_REQUIRED")
        || says(status, &["age", "inappropriate"]);
    if flag_at(player, "videoDetails.isPrivate") || says(status, &["private"]) {
        Ok(StreamState::Private)
    } else if is_age {
        Ok(StreamState::AgeRestricted)
    } else {
        Ok(StreamState::SignInRequired)
    }
}

/// Whether the reason holds one of these as whole words.
fn says(status: &Value, phrases: &[&str]) -> bool {
    let reasons =
        text_at(status, "reason").into_iter().chain(list_at(status, "messages").iter().filter_map(Value::as_str));
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        format!(" {} ", words.join(" "))
    };
    reasons.map(words).any(|reason| phrases.iter().any(|phrase| reason.contains(&format!(" {phrase} "))))
}

/// Missing and null flags mean no.
fn is_live(player: &Value) -> bool {
    flag_at(broadcast(player), "isLiveNow") || flag_at(player, "videoDetails.isLive")
}

/// Other videos on a page have such details too, so they are read at this path only.
fn broadcast(player: &Value) -> &Value {
    at(player, "microformat.playerMicroformatRenderer.liveBroadcastDetails").unwrap_or(&Value::Null)
}
