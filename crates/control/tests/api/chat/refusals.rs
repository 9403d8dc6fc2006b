//! What is said before a stream opens (C4, C10, C13).

use std::time::Duration;

use http::Request;
use tidegate_chat::ChatSettings;
use tidegate_control::ControlSettings;
use tidegate_youtube::{Channel, Consent, Fault, Script, Shape, State, YouTube};
use tokio::time::pause;

use super::viewer::Viewer;
use super::{VIDEO, events, house, open};
use crate::support::*;

#[tokio::test]
async fn c4_each_state_of_a_video_has_its_code() {
    let (house, youtube) = open().await;
    for (n, (state, status, code)) in [
        (State::Ended, 409, "ended"),
        (State::NoStream, 409, "not_live"),
        (State::ChatOff, 409, "chat_disabled"),
        (State::MembersOnly, 409, "members_only"),
        (State::Private, 409, "not_public"),
        (State::AgeRestricted, 409, "not_public"),
        (State::Removed, 404, "video_not_found"),
        (State::BotCheck, 429, "rate_limited"),
    ]
    .into_iter()
    .enumerate()
    {
        let video = format!("{n}video00000");
        youtube.change_video(&video, |script| script.state = state);
        assert_eq!(house.get(&events(&video)).await.problem(), (status, code), "{state:?}");
    }
    assert_eq!(youtube.log().len(), 8, "a page each");
}

#[tokio::test]
async fn c4_an_announced_streams_chat_is_open_already() {
    let (house, youtube) = open().await;
    youtube.change_video("announced00", |script| script.state = State::Upcoming { starts_s: 1_800_000_000 });
    let mut viewer = Viewer::enter(&house, "announced00").await;
    viewer.until(|got| got.rows.len() > 1).await;
}

#[tokio::test]
async fn c4_a_channel_that_shows_nothing_is_not_live() {
    let (house, youtube) = open().await;
    youtube.open_channel(
        "@nobody",
        Channel { id: "UCnobodynobodynobodynobo".to_owned(), videos: Vec::new(), ..Channel::default() },
    );
    assert_eq!(house.get(&events("@nobody")).await.problem(), (409, "not_live"));
}

#[tokio::test]
async fn c4_a_page_that_cannot_be_read_is_an_upstream_error() {
    let (house, youtube) = open().await;
    pause();
    type Change = fn(&mut Script);
    let changes: [(&str, Change); 4] = [
        ("no data in the page", |script| script.shape = Shape::Unreadable),
        ("a consent page in spite of the cookie", |script| script.consent = Consent::Insisted),
        ("a redirect elsewhere", |script| script.page = Some(Fault::to("https://example.org/"))),
        ("a 503", |script| script.page = Some(Fault::new(503, "<html>later</html>"))),
    ];
    for (n, (what, change)) in changes.into_iter().enumerate() {
        youtube.change(change);
        let refused = house.get(&events(&format!("{n}video00000"))).await;
        assert_eq!(refused.problem(), (502, "upstream_error"), "{what}");
        youtube.change(|script| *script = Script { rate: 20.0, ..Script::default() });
    }
    // Each was asked again, as it might have passed, and was given up after three (G25).
    assert_eq!(youtube.log().len(), 12);
}

#[tokio::test]
async fn c4_a_403_page_is_a_throttle_for_a_room_that_would_start() {
    let (house, youtube) = open().await;
    youtube.fail([Fault::new(403, "<html>Forbidden</html>")]);
    let refused = house.get(&events(VIDEO)).await;
    assert_eq!(refused.problem(), (429, "rate_limited"));
    assert!((28_000..=30_000).contains(&refused.body["retry_after_ms"].as_u64().unwrap()), "{refused:?}");
    assert_eq!(youtube.log().len(), 1);
}

#[tokio::test]
async fn c4_an_upstream_that_cannot_be_reached_is_one_too() {
    // Nobody listens any more on a port that was just given back.
    let gone = YouTube::start(Script::default()).await.unwrap().url();
    let house = house(unlimited(), gone, ChatSettings::new("youtube")).await;
    pause();
    let refused = house.get(&events(VIDEO)).await;
    assert_eq!(refused.problem(), (502, "upstream_error"));
    assert!(refused.body["detail"].as_str().unwrap().contains("cannot be reached"), "{refused:?}");
}

#[tokio::test]
async fn c10_the_room_after_the_last_one_is_refused() {
    let youtube = YouTube::start(Script::default()).await.unwrap();
    let chat = ChatSettings { max_rooms: 1, ..ChatSettings::new("youtube") };
    let house = house(unlimited(), youtube.url(), chat).await;
    let _viewer = Viewer::enter(&house, VIDEO).await;
    assert_eq!(house.get(&events("abcdefghij1")).await.problem(), (503, "too_many_rooms"));
    let _another = Viewer::enter(&house, VIDEO).await;
    // The other view of the same chat is a room of its own (C13).
    assert_eq!(house.get(&format!("{}?view=top", events(VIDEO))).await.problem(), (503, "too_many_rooms"));
}

#[tokio::test]
async fn c4_what_is_wrong_with_a_request_is_said_without_a_call() {
    let (house, youtube) = open().await;
    assert_eq!(house.get(&events("no-id")).await.problem(), (400, "bad_request"));
    assert_eq!(house.get(&format!("{}?view=best", events(VIDEO))).await.problem(), (400, "bad_request"));
    assert_eq!(house.get(&format!("/v1/chat/{VIDEO}")).await.problem(), (404, "room_not_found"));
    assert_eq!(house.get("/v1/chat/@somebody").await.problem(), (400, "bad_request"));
    let posted = house.send(http::Method::POST, &events(VIDEO), None, "").await;
    assert_eq!(posted.problem(), (405, "method_not_allowed"));
    let origins = ControlSettings { cors_origins: vec!["https://a.example".to_owned()], ..unlimited() };
    house.control.reload(origins);
    let foreign = Request::get(events(VIDEO)).header("host", "a").header("origin", "https://b.example");
    assert_eq!(house.request(foreign.body(String::new()).unwrap()).await.problem(), (403, "origin_not_allowed"));
    assert!(youtube.log().is_empty());
}

#[tokio::test]
async fn c4_a_rate_limit_refuses_a_room_that_does_not_run_yet() {
    let (house, youtube) = open().await;
    youtube.throttle_for(Duration::from_secs(60));
    for _ in 0..2 {
        let refused = house.get(&events(VIDEO)).await;
        assert_eq!(refused.problem(), (429, "rate_limited"));
        assert!(refused.body["retry_after_ms"].as_u64().unwrap() > 1000, "{refused:?}");
    }
    assert_eq!(youtube.log().len(), 1, "the second is known without a call");
}

#[tokio::test]
async fn c4_without_rooms_the_routes_say_so() {
    let house = House::open().await;
    for path in ["/v1/chat", "/v1/chat/abcdefghij0", "/v1/chat/abcdefghij0/events"] {
        assert_eq!(house.get(path).await.problem(), (404, "chat_off"), "{path}");
    }
}
