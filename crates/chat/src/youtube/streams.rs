//! The list of a channel's streams, in both shapes that its page has.

use serde_json::Value;

use super::name::VideoId;
use super::walk::{at, list_at, text_at, whole_at};

/// One video of a channel's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The video.
    pub video: VideoId,
    /// What the list says of it.
    pub state: ListedState,
    /// When it is to start: seconds since 1970 UTC.
    pub starts_s: Option<i64>,
}

/// What a list says of a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListedState {
    /// It is on.
    Live,
    /// It is announced.
    Upcoming,
    /// It is over, or never was a stream.
    Past,
    /// The list does not say in any language: the video's own page has to be asked. The newer shape of the list is so.
    Unsaid,
}

/// Reads the streams that a channel's page lists.
pub(super) fn read_streams(data: &Value) -> Vec<Listed> {
    let mut found = Vec::new();
    for tab in list_at(data, "contents.twoColumnBrowseResultsRenderer.tabs") {
        if let Some(content) = at(tab, "tabRenderer.content") {
            collect(content, &mut found, MAX_DEPTH);
        }
    }
    found
}

/// Collects videos through whatever rows, grids and shelves they lie in.
fn collect(value: &Value, found: &mut Vec<Listed>, depth: u32) {
    if depth == 0 || found.len() >= MAX_LISTED {
        return;
    }
    match value {
        Value::Array(list) => list.iter().for_each(|value| collect(value, found, depth - 1)),
        Value::Object(map) => {
            for (key, value) in map {
                let listed = match key.as_str() {
                    "videoRenderer" | "gridVideoRenderer" => video(value),
                    "lockupViewModel" => lockup(value),
                    _ => {
                        collect(value, found, depth - 1);
                        None
                    }
                };
                found.extend(listed.filter(|listed| !found.iter().any(|known| known.video == listed.video)));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The older shape: a style says what it is.
fn video(value: &Value) -> Option<Listed> {
    let starts_s = whole_at(value, "upcomingEventData.startTime");
    let style = list_at(value, "thumbnailOverlays")
        .iter()
        .find_map(|overlay| text_at(overlay, "thumbnailOverlayTimeStatusRenderer.style"));
    let state = match style {
        Some("LIVE") => ListedState::Live,
        Some("UPCOMING") => ListedState::Upcoming,
        _ if starts_s.is_some() => ListedState::Upcoming,
        Some(_) => ListedState::Past,
        None => ListedState::Unsaid,
    };
    Some(Listed { video: VideoId::parse(text_at(value, "videoId")?)?, state, starts_s })
}

/// The newer shape: nothing but a badge in the visitor's language, beside a style where there is one.
fn lockup(value: &Value) -> Option<Listed> {
    let is_video = text_at(value, "contentType").is_none_or(|kind| kind == "LOCKUP_CONTENT_TYPE_VIDEO");
    let overlays = list_at(value, "contentImage.thumbnailViewModel.overlays");
    let badges = overlays.iter().flat_map(|overlay| list_at(overlay, "thumbnailOverlayBadgeViewModel.thumbnailBadges"));
    let styles = badges.filter_map(|badge| text_at(badge, "thumbnailBadgeViewModel.badgeStyle"));
    let is_live = styles.into_iter().any(|style| style.ends_with("_LIVE"));
    let state = if is_live { ListedState::Live } else { ListedState::Unsaid };
    let video = VideoId::parse(text_at(value, "contentId")?)?;
    is_video.then_some(Listed { video, state, starts_s: None })
}

/// How many videos of a list are looked at: streams that are on or announced stand first.
const MAX_LISTED: usize = 60;
/// How deep rows and grids are nested at most.
const MAX_DEPTH: u32 = 24;
