//! Which stream a channel shows now.

use serde_json::{Value, json};
use tidegate_chat::youtube::{
    ChannelId, ChannelPage, Fetched, Listed, ListedState, PageAnswer, Resolution, Resolver, Throttle, Trouble, VideoId,
    read_page,
};

use crate::fixtures;
use crate::made::{CHANNEL, chat_bar, closed_bar, data, live_player, player, read};

const NOW_S: i64 = 1_771_330_000;
const HOUR_S: i64 = 3_600;

fn id(text: &str) -> VideoId {
    VideoId::parse(text).unwrap()
}

fn found(video: &str) -> Resolution {
    Resolution::Found(id(video))
}

fn ask_streams() -> Resolution {
    Resolution::AskStreams(ChannelId::parse(CHANNEL))
}

fn live(video: &str) -> PageAnswer {
    let mut player = live_player();
    player["videoDetails"]["videoId"] = video.into();
    read(&player, &data(&chat_bar(&json!({}))))
}

fn upcoming(video: &str, starts_s: i64) -> PageAnswer {
    let slate = json!({"liveStreamOfflineSlateRenderer": {"scheduledStartTime": starts_s.to_string()}});
    let status = json!({"status": "LIVE_STREAM_OFFLINE", "liveStreamability": {"liveStreamabilityRenderer": {"offlineSlate": slate}}});
    let details = json!({"videoId": video, "isUpcoming": true, "isLiveContent": true});
    read(&player(&status, &details, &json!({"isLiveNow": false})), &data(&chat_bar(&json!({}))))
}

fn ended(video: &str) -> PageAnswer {
    let details = json!({"videoId": video, "isLiveContent": true});
    read(&player(&json!({"status": "OK"}), &details, &json!(null)), &data(&closed_bar()))
}

/// A streams tab, in the grid that both shapes of videos lie in.
fn tab(videos: &[Value]) -> PageAnswer {
    let items: Vec<Value> = videos.iter().map(|video| json!({"richItemRenderer": {"content": video}})).collect();
    let tabs = json!([{"tabRenderer": {"title": "Home"}}, {"tabRenderer": {"content": {"richGridRenderer": {"contents": items}}}}]);
    let metadata = json!({"channelMetadataRenderer": {"externalId": CHANNEL}});
    read(&json!(null), &json!({"contents": {"twoColumnBrowseResultsRenderer": {"tabs": tabs}}, "metadata": metadata}))
}

fn old(video: &str, style: &str, starts_s: Option<i64>) -> Value {
    let mut renderer = json!({
        "videoId": video,
        "thumbnailOverlays": [{"other": {}}, {"thumbnailOverlayTimeStatusRenderer": {"style": style}}],
    });
    if let Some(starts_s) = starts_s {
        renderer["upcomingEventData"]["startTime"] = starts_s.to_string().into();
    }
    json!({ "videoRenderer": renderer })
}

fn new(video: &str, badge: &str) -> Value {
    let badges = json!([{"thumbnailBadgeViewModel": {"text": badge}}]);
    let overlays = json!([{"thumbnailOverlayBadgeViewModel": {"thumbnailBadges": badges}}]);
    let image = json!({"thumbnailViewModel": {"overlays": overlays}});
    json!({"lockupViewModel": {"contentId": video, "contentType": "LOCKUP_CONTENT_TYPE_VIDEO", "contentImage": image}})
}

/// The pages of a channel, handed in one after the other; what is asked for or found after each.
fn resolve(pages: &[PageAnswer]) -> Vec<Resolution> {
    let mut resolver = Resolver::new();
    pages.iter().map(|page| resolver.handle_page(page, NOW_S)).collect()
}

#[test]
fn c1_a_live_page_is_the_stream() {
    assert_eq!(resolve(&[live("live0000001")]), [found("live0000001")]);
}

#[test]
fn report_43_one_live_and_one_announced_is_the_live_one() {
    let list = tab(&[old("later000001", "UPCOMING", Some(NOW_S + HOUR_S)), old("live0000001", "LIVE", None)]);
    assert_eq!(
        resolve(&[upcoming("later000001", NOW_S + HOUR_S), list.clone()]),
        [ask_streams(), found("live0000001")]
    );
    // With two, `/live` is the list.
    assert_eq!(resolve(&[list]), [found("live0000001")]);
}

#[test]
fn report_44_a_stream_announced_years_ago_is_not_the_current_one() {
    let (years_ago, soon) = (NOW_S - 10 * 365 * 24 * HOUR_S, NOW_S + HOUR_S);
    let only_old = tab(&[old("never000001", "UPCOMING", Some(years_ago)), old("past0000001", "DEFAULT", None)]);
    assert_eq!(resolve(&[upcoming("never000001", years_ago), only_old]), [ask_streams(), Resolution::NothingOn]);
    let with_next = tab(&[old("never000001", "UPCOMING", Some(years_ago)), old("soon0000001", "UPCOMING", Some(soon))]);
    assert_eq!(resolve(&[upcoming("never000001", years_ago), with_next]), [ask_streams(), found("soon0000001")]);
}

#[test]
fn report_46_the_live_room_is_preferred_to_the_waiting_room() {
    let waiting = upcoming("wait0000001", NOW_S + HOUR_S);
    let list = tab(&[new("wait0000001", "Anstehend"), new("live0000001", "LIVE"), new("past0000001", "1:23:45")]);
    let pages = [waiting.clone(), list, waiting, live("live0000001")];
    let asked = resolve(&pages);
    assert_eq!(asked[0], ask_streams());
    assert_eq!(
        asked[1..],
        [Resolution::AskVideo(id("wait0000001")), Resolution::AskVideo(id("live0000001")), found("live0000001"),]
    );
}

#[test]
fn c1_the_newer_list_says_nothing_that_can_be_read_so_a_few_pages_are_asked() {
    let videos: Vec<Value> = (0..9).map(|n| new(&format!("past000000{n}"), "1:23:45")).collect();
    let pages = [tab(&videos), ended("past0000000"), ended("past0000001"), ended("past0000002")];
    let asked = resolve(&pages);
    assert_eq!(asked.last(), Some(&Resolution::NothingOn));
    assert_eq!(asked.iter().filter(|next| matches!(next, Resolution::AskVideo(_))).count(), 3, "each is a call");
}

#[test]
fn c1_of_two_live_streams_it_is_the_first_of_the_list() {
    let list = tab(&[old("live0000002", "LIVE", None), old("live0000001", "LIVE", None)]);
    assert_eq!(resolve(&[list]), [found("live0000002")]);
}

#[test]
fn c1_with_nothing_live_it_is_the_announced_one_that_starts_next() {
    let list = tab(&[
        old("free0000001", "UPCOMING", Some(NOW_S + 310 * 24 * HOUR_S)),
        old("later000001", "UPCOMING", Some(NOW_S + 5 * HOUR_S)),
        old("late0000001", "UPCOMING", Some(NOW_S - HOUR_S)),
    ]);
    assert_eq!(resolve(&[list]), [found("late0000001")]);
}

#[test]
fn c4_a_members_only_stream_is_named_so_that_its_page_says_why() {
    let offer = json!({"status": "UNPLAYABLE", "errorScreen": {"playerLegacyDesktopYpcOfferRenderer": {}}});
    let members = read(&player(&offer, &json!({"isLive": true}), &json!({"isLiveNow": true})), &data(&closed_bar()));
    let list = tab(&[old("past0000001", "DEFAULT", None)]);
    assert_eq!(resolve(&[members.clone(), list]), [ask_streams(), found(crate::made::VIDEO)]);
    let open = tab(&[old("open0000001", "LIVE", None)]);
    assert_eq!(resolve(&[members, open]), [ask_streams(), found("open0000001")]);
}

#[test]
fn c1_a_channel_with_nothing_on_has_its_list_asked_once() {
    let page = read_page(&Fetched::ok(&fixtures::bytes("slim-pages/nothing-live.html")));
    let channel = ChannelId::parse("UCnonenonenonenonenoneno");
    assert_eq!(page, PageAnswer::Channel(ChannelPage { channel: channel.clone(), streams: vec![] }));
    assert_eq!(resolve(&[page.clone(), page]), [Resolution::AskStreams(channel), Resolution::NothingOn]);
}

#[test]
fn g11c_a_throttle_on_the_way_stops_the_search() {
    let throttled = Trouble::Throttled { by: Throttle::Status(429), retry_after: None };
    let page = read_page(&Fetched { status: 429, location: None, body: b"" });
    assert_eq!(resolve(&[page]), [Resolution::Trouble(throttled)]);
}

#[test]
fn c1_both_shapes_of_the_list_are_read_and_each_video_once() {
    let shelf = json!({"shelfRenderer": {"content": {"horizontalListRenderer": {"items": [
        {"gridVideoRenderer": {"videoId": "grid0000001", "upcomingEventData": {"startTime": "5"}}},
    ]}}}});
    let styled = json!({"lockupViewModel": {"contentId": "styl0000001", "contentImage": {"thumbnailViewModel": {"overlays": [
        {"thumbnailOverlayBadgeViewModel": {"thumbnailBadges": [{"thumbnailBadgeViewModel": {"badgeStyle": "THUMBNAIL_OVERLAY_BADGE_STYLE_LIVE"}}]}},
    ]}}}});
    let playlist =
        json!({"lockupViewModel": {"contentId": "list0000001", "contentType": "LOCKUP_CONTENT_TYPE_PLAYLIST"}});
    let broken = json!({"videoRenderer": {"videoId": 7}});
    let PageAnswer::Channel(page) = tab(&[
        old("live0000001", "LIVE", None),
        old("live0000001", "LIVE", None),
        old("past0000001", "DEFAULT", None),
        new("new00000001", "Anstehend"),
        styled,
        playlist,
        broken,
        shelf,
    ]) else {
        panic!("no list")
    };
    let listed = |video: &str, state, starts_s| Listed { video: id(video), state, starts_s };
    assert_eq!(
        page.streams,
        [
            listed("live0000001", ListedState::Live, None),
            listed("past0000001", ListedState::Past, None),
            listed("new00000001", ListedState::Unsaid, None),
            listed("styl0000001", ListedState::Live, None),
            listed("grid0000001", ListedState::Upcoming, Some(5)),
        ]
    );
}
