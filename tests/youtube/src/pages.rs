//! Pages: a video's, a channel's, and those that stand in the way.

use serde_json::{Value, json};

use crate::Inside;
use crate::script::{Channel, Script, Shape, State, Tab};
use crate::token::{STUBS, Token};

/// A video's page.
pub(crate) fn watch(inside: &Inside, video: &str, made_us: u64) -> String {
    let (script, channel) = (inside.script_of(video), inside.channel_of(video));
    let data = json!({"responseContext": {}, "contents": {"twoColumnWatchNextResults": {
        "results": {"results": {"contents": [{"videoPrimaryInfoRenderer": {"viewCount": {"videoViewCountRenderer": {
            "isLive": script.state == State::Live, "originalViewCount": script.viewers.to_string(),
        }}}}]}},
        "conversationBar": bar(video, channel, script, made_us),
    }}});
    let canonical = format!("https://www.youtube.com/watch?v={video}");
    page(&canonical, script.shape, &player(video, channel, script.state), &data)
}

/// What a channel's `/live` shows.
pub(crate) fn live(inside: &Inside, channel: &Channel, made_us: u64) -> String {
    let on = |video: &&String| inside.script_of(video).state.is_on_or_announced();
    let mut candidates = channel.videos.iter().filter(on);
    let shown = match (&channel.shows, candidates.next(), candidates.next()) {
        (Some(shown), _, _) | (None, Some(shown), None) => Some(shown),
        (None, None, _) => return browse(channel, &[], inside.script.shape),
        // With more than one, it is the list.
        (None, Some(_), Some(_)) => None,
    };
    shown.map_or_else(|| streams(inside, channel), |video| watch(inside, video, made_us))
}

/// A channel's list of streams.
pub(crate) fn streams(inside: &Inside, channel: &Channel) -> String {
    let listed = |video: &String| {
        let state = inside.script_of(video).state;
        let item = match channel.tab {
            Tab::Older => older(video, state),
            Tab::Newer => newer(video, state),
        };
        json!({"richItemRenderer": {"content": item}})
    };
    let items: Vec<Value> = channel.videos.iter().map(listed).collect();
    let grid = json!({"tabRenderer": {"selected": true, "content": {"richGridRenderer": {"contents": items}}}});
    browse(channel, &[json!({"tabRenderer": {"title": "Home"}}), grid], inside.script.shape)
}

/// What asks a visitor for consent.
pub(crate) fn consent() -> String {
    "<!DOCTYPE html><html><head><title>Before you continue to YouTube</title></head><body>\
     <form action=\"https://consent.youtube.com/save\" method=\"POST\"><button>Accept all</button></form></body></html>"
        .to_owned()
}

/// Where a visitor is sent who has not said whether they consent.
pub(crate) const CONSENT: &str =
    "https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2F&gl=DE&m=0&pc=yt&hl=de&src=1";

fn browse(channel: &Channel, tabs: &[Value], shape: Shape) -> String {
    let data = json!({"contents": {"twoColumnBrowseResultsRenderer": {"tabs": tabs}},
        "metadata": {"channelMetadataRenderer": {"externalId": channel.id}}});
    page(&format!("https://www.youtube.com/channel/{}", channel.id), shape, &Value::Null, &data)
}

fn page(canonical: &str, shape: Shape, player: &Value, data: &Value) -> String {
    // As the real one does, so that a title cannot end its script.
    let script = |value: &Value| value.to_string().replace("</", "<\\/");
    let (player, data) = (script(player), script(data));
    let scripts = match shape {
        Shape::Usual | Shape::Moved => {
            format!(
                "<script>var ytInitialPlayerResponse = {player};</script><script>var ytInitialData = {data};</script>"
            )
        }
        Shape::Older => format!(
            "<script>window[\"ytInitialData\"] = {data};\nwindow[\"ytInitialPlayerResponse\"] = {player};</script>"
        ),
        Shape::Unreadable => "<script>window.app = {};</script>".to_owned(),
    };
    format!(
        "<!DOCTYPE html><html><head><link rel=\"canonical\" href=\"{canonical}\"><script>ytcfg.set({{\"HL\":\"en\",\
         \"INNERTUBE_API_KEY\":\"key\",\"INNERTUBE_CONTEXT_CLIENT_NAME\":1,\
         \"INNERTUBE_CONTEXT_CLIENT_VERSION\":\"{CLIENT_VERSION}\",\"VISITOR_DATA\":\"Cgt%3D%3D\"}});\
         ytcfg.set({{later:function(){{}}}});</script></head><body>{scripts}</body></html>"
    )
}

fn player(video: &str, channel: &str, state: State) -> Value {
    let status = match state {
        State::Live | State::Ended | State::NoStream | State::ChatOff => json!({"status": "OK"}),
        State::Upcoming { starts_s } => json!({"status": "LIVE_STREAM_OFFLINE", "liveStreamability": {
            "liveStreamabilityRenderer": {"offlineSlate": {"liveStreamOfflineSlateRenderer": {
                "scheduledStartTime": starts_s.to_string()}}}}}),
        State::MembersOnly => {
            json!({"status": "UNPLAYABLE", "errorScreen": {"playerLegacyDesktopYpcOfferRenderer": {}}})
        }
        State::Private => json!({"status": "LOGIN_REQUIRED", "messages": ["This video is private"]}),
        State::AgeRestricted => json!({"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm your age"}),
        State::BotCheck => json!({"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm you\u{2019}re not a bot"}),
        State::Removed => return json!({"playabilityStatus": {"status": "ERROR", "reason": "Video unavailable"}}),
    };
    let is_on = matches!(state, State::Live | State::ChatOff | State::MembersOnly);
    let mut broadcast = json!({ "isLiveNow": is_on });
    match state {
        State::NoStream => broadcast = Value::Null,
        State::Ended => broadcast["endTimestamp"] = "2026-02-17T13:00:00+00:00".into(),
        State::Upcoming { starts_s: _ }
        | State::Live
        | State::ChatOff
        | State::MembersOnly
        | State::Private
        | State::AgeRestricted
        | State::BotCheck
        | State::Removed => {}
    }
    json!({
        "playabilityStatus": status,
        "videoDetails": {"videoId": video, "title": "A stream", "channelId": channel, "author": "A channel",
            "isLive": is_on, "isUpcoming": matches!(state, State::Upcoming { .. }),
            "isLiveContent": state != State::NoStream},
        "microformat": {"playerMicroformatRenderer": {"liveBroadcastDetails": broadcast}},
    })
}

fn bar(video: &str, channel: &str, script: &Script, made_us: u64) -> Value {
    let (channel, video) = (channel.to_owned(), video.to_owned());
    let token = |top: bool| Token { channel: channel.clone(), video: video.clone(), top, made_us, from: None }.write();
    let reload = |token: &str| json!({"reloadContinuationData": {"continuation": token, "clickTrackingParams": "CA"}});
    let menu = match script.shape {
        Shape::Older => [token(true), token(false)],
        Shape::Usual | Shape::Moved | Shape::Unreadable => STUBS.map(str::to_owned),
    };
    let item = |title: &str, at: usize| json!({"title": title, "selected": at == 0, "continuation": reload(&menu[at])});
    let view = json!({"sortFilterSubMenuRenderer": {"subMenuItems": [item("Top-Chat", 0), item("Livechat", 1)]}});
    match script.state {
        State::Live | State::Upcoming { .. } | State::Ended => json!({"liveChatRenderer": {
            "continuations": [reload(&token(true))],
            "header": {"liveChatHeaderRenderer": {"viewSelector": view}},
            "isReplay": script.state == State::Ended,
        }}),
        // The words come in the visitor's language. Members are told the same.
        State::ChatOff | State::MembersOnly | State::Private | State::AgeRestricted | State::BotCheck => {
            json!({"conversationBarRenderer": {"availabilityMessage": {"messageRenderer": {"text": {
                "runs": [{"text": "Chat ist für diesen Livestream deaktiviert."}]}}}}})
        }
        State::NoStream | State::Removed => Value::Null,
    }
}

fn older(video: &str, state: State) -> Value {
    let style = one_of(state, ["UPCOMING", "LIVE", "DEFAULT"]);
    let mut renderer = json!({"videoId": video,
        "thumbnailOverlays": [{"thumbnailOverlayTimeStatusRenderer": {"style": style}}]});
    if let State::Upcoming { starts_s } = state {
        renderer["upcomingEventData"] = json!({"startTime": starts_s.to_string()});
    }
    json!({ "videoRenderer": renderer })
}

/// What a list says of a stream that is announced, is on, or is neither.
fn one_of(state: State, [announced, on, neither]: [&'static str; 3]) -> &'static str {
    if matches!(state, State::Upcoming { .. }) {
        announced
    } else if state.is_on_or_announced() {
        on
    } else {
        neither
    }
}

fn newer(video: &str, state: State) -> Value {
    let badge = one_of(state, ["Anstehend", "LIVE", "1:23:45"]);
    let badges = json!([{"thumbnailBadgeViewModel": {"text": badge}}]);
    let overlays = json!([{"thumbnailOverlayBadgeViewModel": {"thumbnailBadges": badges}}]);
    json!({"lockupViewModel": {"contentId": video, "contentType": "LOCKUP_CONTENT_TYPE_VIDEO",
        "contentImage": {"thumbnailViewModel": {"overlays": overlays}}}})
}

const CLIENT_VERSION: &str = "2.20260213.01.00";
