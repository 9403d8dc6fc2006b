//! Page states, chats and what a page is when it is none.

use serde_json::{Value, json};
use tidegate_chat::event::StreamState;
use tidegate_chat::youtube::{
    Fetched, Name, Over, PageAnswer, Region, Throttle, Trouble, View, page_request, poll_request, read_page,
};

use crate::fixtures;
use crate::made::{CHANNEL, VIDEO, chat_bar, closed_bar, data, live_player, page, player, read, token, watch};

fn capture(name: &str) -> tidegate_chat::youtube::WatchPage {
    match read_page(&Fetched::ok(&fixtures::bytes(name))) {
        PageAnswer::Watch(page) => *page,
        other => panic!("{name}: {other:?}"),
    }
}

fn state(player: &Value, bar: &Value) -> Result<StreamState, Trouble> {
    match read(player, &data(bar)) {
        PageAnswer::Watch(page) => Ok(page.state),
        PageAnswer::Trouble(trouble) => Err(trouble),
        other => panic!("{other:?}"),
    }
}

fn locked(reason: &str) -> Value {
    player(&json!({"status": "LOGIN_REQUIRED", "reason": reason}), &json!({}), &json!(null))
}

#[test]
fn c2_a_live_page_gives_all_that_a_poll_needs() {
    let page = capture("slim-pages/live.html");
    assert_eq!(page.state, StreamState::Live);
    assert_eq!(page.video.as_ref().unwrap().as_str(), "livestream1");
    assert_eq!(page.title.as_deref(), Some("【 みほん 】新しい\"駅\"の装飾をする！！！＃１４【例/Example】"));
    assert_eq!(page.channel.as_ref().unwrap().as_str(), "UCliveliveliveliveliveli");
    assert_eq!(page.channel_title.as_deref(), Some("Example Ch. みほん"));
    assert_eq!(page.starts_s, Some(1_771_329_483));
    assert_eq!(page.client.api_key.as_deref(), Some("AIzaExampleExampleExampleExampleExample"));
    assert_eq!(page.client.version, "2.20260213.01.00");
    assert_eq!(page.client.visitor_data.as_deref(), Some("CgtWSVNJVE9SMDAwMSgBMg%3D%3D"));
    let chat = page.chat.unwrap();
    assert!(!chat.is_replay);
    assert_eq!(chat.menu, [None, None], "stubs without a video id are no tokens");
    let (all, view) = chat.token(View::All);
    assert_eq!((view, all.view()), (View::All, Some(View::All)));
    assert_eq!(chat.token(View::Top), (chat.native.clone(), View::Top));
    assert_ne!(all, chat.native);
}

#[test]
fn c2_an_announced_streams_chat_is_open_already() {
    for (name, starts_s) in [
        ("slim-pages/upcoming.html", 1_771_333_200),
        ("slim-pages/upcoming-in-half-an-hour.html", 1_771_332_300),
        ("slim-pages/upcoming-free-chat.html", 1_798_123_500),
    ] {
        let page = capture(name);
        assert_eq!((page.state, page.starts_s), (StreamState::Upcoming, Some(starts_s)), "{name}");
        assert!(page.chat.unwrap().token(View::All).1 == View::All);
    }
}

#[test]
fn c4_each_state_of_a_video_is_told_apart() {
    let ok = json!({"status": "OK"});
    let live = json!({"isLive": true, "isLiveContent": true});
    let was = json!({"isLiveContent": true});
    let ended = json!({"isLiveNow": false, "endTimestamp": "2026-02-17T13:00:00+00:00"});
    let offer = json!({"playerLegacyDesktopYpcOfferRenderer": {}});
    let offline = |more: &Value| {
        let mut status = json!({"status": "LIVE_STREAM_OFFLINE"});
        status["liveStreamability"]["liveStreamabilityRenderer"]["offlineSlate"] = more.clone();
        status
    };
    let (chat, none, now) = (chat_bar(&json!({})), json!(null), json!({"isLiveNow": true}));
    let replay = chat_bar(&json!({"isReplay": true}));
    for (what, player, bar, expected) in [
        ("live", live_player(), &chat, StreamState::Live),
        ("live by one sign alone", player(&ok, &json!({"isLive": true}), &none), &chat, StreamState::Live),
        ("live by the other", player(&ok, &json!({}), &now), &chat, StreamState::Live),
        ("live without chat", live_player(), &closed_bar(), StreamState::ChatDisabled),
        (
            "upcoming",
            player(&offline(&json!({})), &json!({"isUpcoming": true}), &json!({"isLiveNow": false})),
            &chat,
            StreamState::Upcoming,
        ),
        (
            "upcoming without chat",
            player(&offline(&none), &json!({"isUpcoming": true}), &none),
            &closed_bar(),
            StreamState::ChatDisabled,
        ),
        ("live, encoder gone", player(&offline(&none), &live, &now), &chat, StreamState::Live),
        ("just ended", player(&offline(&none), &was, &ended), &closed_bar(), StreamState::Ended),
        ("ended, with replay", player(&ok, &was, &ended), &replay, StreamState::Ended),
        ("ended, player not up to date", live_player(), &replay, StreamState::Ended),
        ("ended, no replay", player(&ok, &was, &ended), &closed_bar(), StreamState::Ended),
        ("ended, no bar", player(&ok, &was, &ended), &none, StreamState::Ended),
        ("a plain video", player(&ok, &json!({}), &none), &none, StreamState::NotAStream),
        (
            "members only",
            player(&json!({"status": "UNPLAYABLE", "errorScreen": offer}), &live, &now),
            &closed_bar(),
            StreamState::MembersOnly,
        ),
        (
            "blocked here",
            player(&json!({"status": "UNPLAYABLE"}), &live, &now),
            &closed_bar(),
            StreamState::Unavailable,
        ),
        (
            "removed",
            player(&json!({"status": "ERROR", "reason": "Video unavailable"}), &json!({}), &none),
            &none,
            StreamState::Unavailable,
        ),
        (
            "fails for a moment",
            player(
                &json!({"status": "ERROR", "reason": "An error occurred. Please try again later."}),
                &json!({}),
                &none,
            ),
            &none,
            StreamState::Unavailable,
        ),
        ("private", locked("This video is private"), &closed_bar(), StreamState::Private),
        ("age", locked("Sign in to confirm your age"), &closed_bar(), StreamState::AgeRestricted),
        (
            "age, by field",
            player(&json!({"status": "LOGIN_REQUIRED", "desktopLegacyAgeGateReason": 1}), &json!({}), &none),
            &none,
            StreamState::AgeRestricted,
        ),
        ("sign in, for whatever", locked("Bitte melde dich an"), &none, StreamState::SignInRequired),
    ] {
        assert_eq!(state(&player, bar), Ok(expected), "{what}");
    }
}

#[test]
fn g11c_a_page_that_wants_proof_of_no_bot_is_a_throttle() {
    let captcha = json!({"status": "OK", "errorScreen": {"playerCaptchaViewModel": {}}});
    let later = "This content isn’t available, try again later.";
    for (player, by) in [
        (locked("Sign in to confirm you’re not a bot"), Throttle::BotCheck),
        (
            player(
                &json!({"status": "LOGIN_REQUIRED", "messages": ["Sign in to confirm you're not a bot"]}),
                &json!({}),
                &json!(null),
            ),
            Throttle::BotCheck,
        ),
        (player(&captcha, &json!({}), &json!(null)), Throttle::Captcha),
        (player(&json!({"status": "ERROR", "reason": later}), &json!({}), &json!(null)), Throttle::SessionLimit),
        (player(&json!({"status": "UNPLAYABLE", "reason": later}), &json!({}), &json!(null)), Throttle::SessionLimit),
    ] {
        assert_eq!(state(&player, &closed_bar()), Err(Trouble::Throttled { by, retry_after: None }));
    }
}

#[test]
fn g11c_redirects_and_pages_without_data_are_told_apart() {
    let redirect = |location| Fetched { status: 302, location: Some(location), body: b"" };
    let throttled = |by| Trouble::Throttled { by, retry_after: None };
    let changed = |what| Trouble::Changed { what };
    for (fetched, expected) in [
        (
            redirect("https://www.google.com/sorry/index?continue=https://www.youtube.com/"),
            throttled(Throttle::Captcha),
        ),
        (redirect("https://consent.youtube.com/m?continue=x&gl=DE"), Trouble::Consent),
        (redirect("/@somebody/live"), Trouble::Moved { path: "/@somebody/live".to_owned() }),
        (
            redirect("https://www.youtube.com/watch?v=abcdefghij0"),
            Trouble::Moved { path: "/watch?v=abcdefghij0".to_owned() },
        ),
        (redirect("https://evil.example/"), changed("a redirect to another host")),
        (redirect("//evil.example/sorry/"), changed("a redirect to another host")),
        (redirect(""), changed("a redirect to nowhere")),
        (Fetched { status: 429, location: None, body: b"<html>" }, throttled(Throttle::Status(429))),
        (Fetched { status: 403, location: None, body: b"<html>" }, throttled(Throttle::Status(403))),
        (Fetched { status: 404, location: None, body: b"<html>" }, Trouble::Gone),
        (Fetched { status: 502, location: None, body: b"" }, Trouble::Unavailable { status: 502 }),
        (
            Fetched::ok(br#"<html><form action="https://www.google.com/sorry/index"><div class="g-recaptcha">"#),
            throttled(Throttle::Captcha),
        ),
        (Fetched::ok(b"<html>Oops"), changed("a page without data")),
        (Fetched::ok(b""), changed("a page without data")),
        (Fetched::ok(&vec![b' '; (8 << 20) + 1]), Trouble::TooLarge),
    ] {
        let PageAnswer::Trouble(trouble) = read_page(&fetched) else { panic!("{expected:?}") };
        assert_eq!(trouble, expected);
    }
}

#[test]
fn a_page_whose_shape_has_changed_says_so() {
    let unknown = player(&json!({"status": "NEW_STATUS"}), &json!({}), &json!(null));
    let no_chat = data(&json!({"newBarRenderer": {}}));
    for (player, data, what) in [
        (unknown, data(&chat_bar(&json!({}))), "a playability status that is not known"),
        (live_player(), no_chat, "no conversationBar beside a live video"),
        (live_player(), json!({}), "no conversationBar beside a live video"),
        (json!(null), data(&chat_bar(&json!({}))), "no ytInitialPlayerResponse"),
        (json!(null), json!({"contents": {"newResults": {}}}), "no known contents in ytInitialData"),
    ] {
        assert_eq!(read(&player, &data), PageAnswer::Trouble(Trouble::Changed { what }));
    }
    let gone = json!({"alerts": [{"alertRenderer": {"type": "ERROR", "text": {"simpleText": "This channel does not exist."}}}]});
    assert_eq!(read(&json!(null), &gone), PageAnswer::Trouble(Trouble::Gone));
}

#[test]
fn live_now_of_another_video_on_the_page_does_not_count() {
    let mut data = data(&closed_bar());
    data["other"] = json!([{"liveBroadcastDetails": {"isLiveNow": true}, "isLive": true}]);
    let over = player(&json!({"status": "OK"}), &json!({"isLiveContent": true}), &json!({"isLiveNow": null}));
    assert_eq!(watch(&over, &data).state, StreamState::Ended);
}

#[test]
fn c1_the_video_of_a_page_is_found_wherever_it_is_named() {
    let nameless = json!({"playabilityStatus": {"status": "LOGIN_REQUIRED", "reason": "This video is private"}});
    let endpoint = json!({"currentVideoEndpoint": {"watchEndpoint": {"videoId": VIDEO}}});
    assert_eq!(watch(&nameless, &endpoint).video.unwrap().as_str(), VIDEO);
    let html = page(&nameless, &json!({})).replace(
        "<title>",
        &format!(r#"<link rel="canonical" href="https://www.youtube.com/watch?v={VIDEO}"><title>"#),
    );
    let PageAnswer::Watch(page) = read_page(&Fetched::ok(html.as_bytes())) else { panic!("no watch page") };
    assert_eq!((page.video.unwrap().as_str(), page.state), (VIDEO, StreamState::Private));
}

#[test]
fn c13_a_view_that_cannot_be_asked_for_is_not_promised() {
    let menu = |top: &str, all: &str| {
        let item = |token: &str| json!({"continuation": {"reloadContinuationData": {"continuation": token}}});
        json!({"liveChatHeaderRenderer": {"viewSelector": {"sortFilterSubMenuRenderer": {"subMenuItems": [item(top), item(all)]}}}})
    };
    let opaque = json!([{"reloadContinuationData": {"continuation": "opaque"}}]);
    let with_menu = json!({"continuations": opaque, "header": menu("opaque-top", "opaque-all")});
    let chat = watch(&live_player(), &data(&chat_bar(&with_menu))).chat.unwrap();
    assert_eq!(chat.token(View::All).0.as_str(), "opaque-all");
    assert_eq!(chat.token(View::Top).0.as_str(), "opaque-top");
    let stubs = menu("0ofMyAMSGgAwAYIBCAgEGAAgACgBqAEB", "0ofMyAMSGgAwAYIBCAgBGAAgACgBqAEB");
    let chat =
        watch(&live_player(), &data(&chat_bar(&json!({"continuations": opaque, "header": stubs})))).chat.unwrap();
    let (token, view) = chat.token(View::All);
    assert_eq!((token.as_str(), view), ("opaque", View::Top));
}

#[test]
fn a_chat_page_is_a_first_batch() {
    let chat = json!({
        "continuations": [{"invalidationContinuationData": {"timeoutMs": 10_000, "continuation": "next"}}],
        "actions": [crate::made::text("a", &json!([{"text": "hello"}]))],
    });
    let PageAnswer::Chat(page) = read(&json!(null), &json!({"contents": {"liveChatRenderer": chat}})) else { panic!() };
    assert_eq!(crate::made::said(&page.batch.events), ["hello"]);
    assert_eq!(page.batch.next.unwrap().token.as_str(), "next");
    assert_eq!(page.client.visitor_data.as_deref(), Some("Cgt%3D%3D"));
}

#[test]
fn a_chat_page_without_a_chat_says_so() {
    let message = json!({"contents": {"messageRenderer": {"text": {"runs": [{"text": "Chat ist aus."}]}}}});
    assert_eq!(read(&json!(null), &message), PageAnswer::ChatOver(Over::Message("Chat ist aus.".to_owned())));
}

#[test]
fn c2_viewers_are_counted_from_the_page_while_it_is_live() {
    let count = |is_live: bool| {
        let count = json!({"videoPrimaryInfoRenderer": {"viewCount": {"videoViewCountRenderer": {"isLive": is_live, "originalViewCount": "7870"}}}});
        let mut data = data(&chat_bar(&json!({})));
        data["contents"]["twoColumnWatchNextResults"]["results"] = json!({"results": {"contents": [{}, count]}});
        watch(&live_player(), &data).viewers
    };
    assert_eq!((count(true), count(false)), (Some(7_870), None));
}

#[test]
fn c2_requests_pin_language_and_region_and_send_the_token_as_it_came() {
    let video = page_request(&Name::parse(VIDEO).unwrap());
    assert_eq!(video.path, "/watch?v=abcdefghij0&bpctr=9999999999&has_verified=1&hl=en&gl=US");
    assert!(video.headers.contains(&("cookie", "SOCS=CAI; PREF=hl=en&tz=UTC".to_owned())));
    let channel = Name::parse(CHANNEL).unwrap();
    assert_eq!(page_request(&channel).path, format!("/channel/{CHANNEL}/live?hl=en&gl=US"));

    let page = watch(&live_player(), &data(&chat_bar(&json!({}))));
    let poll = poll_request(&page.client, &token(View::All));
    assert_eq!(poll.path, "/youtubei/v1/live_chat/get_live_chat?key=key&prettyPrint=false");
    let body: Value = serde_json::from_slice(&poll.body).unwrap();
    let client = json!({"clientName": "WEB", "clientVersion": "2.20260213.01.00", "hl": "en", "gl": "US", "visitorData": "Cgt%3D%3D"});
    assert_eq!(body, json!({"context": {"client": client}, "continuation": token(View::All).as_str()}));
    assert_eq!(poll, poll_request(&page.client, &token(View::All)), "the same call is the same bytes (G5)");
}

#[test]
fn c14_a_page_decodes_to_what_it_says_of_the_stream() {
    let line = serde_json::to_string(&fixtures::one("slim-pages/upcoming.html")).unwrap();
    assert!(
        line.contains(r#""kind":"status","about":"stream","stream":{"state":"upcoming","video_id":"upcomingsoo""#),
        "{line}"
    );
    assert!(
        tidegate_chat::decode(&fixtures::bytes("slim-pages/nothing-live.html"), Region::Unknown).unwrap().is_empty()
    );
}
