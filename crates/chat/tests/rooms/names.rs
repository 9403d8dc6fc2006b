//! Channels, shapes of pages and captured chats, as the stand-in serves them over sockets (C1, C2, C7).

use serde_json::Value;
use tidegate_chat::Refused;
use tidegate_chat::event::Kind;
use tidegate_chat::youtube::View;
use tidegate_youtube::{Channel, Consent, Script, Shape, Silent, State, Tab, actions_of};

use crate::stage::{Got, Stage, VIDEO};

const ANNOUNCED: &str = "announced00";
const PAST: &str = "pastpast000";

fn soon_s() -> i64 {
    jiff::Timestamp::now().as_second() + 3_600
}

async fn sees_rows(stage: &Stage, name: &str) {
    let mut viewer = stage.enter(name, None).await.unwrap();
    let mut got = Got::default();
    got.until(&mut viewer, |got| got.rows.len() >= 5).await;
    got.check();
}

/// A channel with one stream on, one announced and one past.
async fn three(tab: Tab) -> Stage {
    let stage = Stage::new(Script::default()).await;
    let videos = [ANNOUNCED, VIDEO, PAST].map(str::to_owned).to_vec();
    stage.youtube.open_channel("@somebody", Channel { videos, tab, ..Channel::default() });
    stage.youtube.change_video(ANNOUNCED, |script| script.state = State::Upcoming { starts_s: soon_s() });
    stage.youtube.change_video(PAST, |script| script.state = State::Ended);
    stage
}

#[tokio::test(start_paused = true)]
async fn c1_every_name_of_a_channel_leads_to_its_one_stream() {
    let stage = Stage::new(Script::default()).await;
    let id = "UCabcdefghijklmnopqrstuv";
    let paths = ["@somebody".to_owned(), "@みほん".to_owned(), id.to_owned()]
        .into_iter()
        .chain(["c/somebody", "user/somebody"].map(|path| format!("https://www.youtube.com/{path}/live")));
    let mut viewers = Vec::new();
    for name in paths {
        viewers.push(stage.enter(&name, None).await.unwrap());
    }
    assert_eq!(stage.rooms.list().len(), 1);
    assert_eq!((stage.rooms.list()[0].video.as_str(), stage.rooms.list()[0].viewers), (VIDEO, 5));
}

#[tokio::test(start_paused = true)]
async fn c1_of_a_list_the_stream_that_is_on_is_found_in_both_shapes() {
    for tab in [Tab::Older, Tab::Newer] {
        let stage = three(tab).await;
        sees_rows(&stage, "@somebody").await;
        assert_eq!(stage.rooms.list()[0].video, VIDEO, "{tab:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn c1_a_waiting_room_at_the_door_is_passed_by() {
    let stage = three(Tab::Older).await;
    let (videos, shows) = ([ANNOUNCED, VIDEO].map(str::to_owned).to_vec(), Some(ANNOUNCED.to_owned()));
    stage.youtube.open_channel("@somebody", Channel { videos, shows, ..Channel::default() });
    sees_rows(&stage, "@somebody").await;
    assert_eq!(stage.rooms.list()[0].video, VIDEO);
}

#[tokio::test(start_paused = true)]
async fn c1_with_nothing_on_it_is_the_next_one_that_is_near() {
    let stage = three(Tab::Older).await;
    stage.youtube.change_video(VIDEO, |script| script.state = State::Ended);
    sees_rows(&stage, "@somebody").await;
    assert_eq!(stage.rooms.list()[0].video, ANNOUNCED);
    stage.youtube.change_video(ANNOUNCED, |script| script.state = State::Upcoming { starts_s: soon_s() + 9_999_999 });
    stage.youtube.open_channel("@other", Channel { videos: vec![ANNOUNCED.to_owned()], ..Channel::default() });
    assert_eq!(stage.enter("@other", None).await.unwrap_err(), Refused::NothingOn);
}

#[tokio::test(start_paused = true)]
async fn c2_pages_and_answers_of_every_shape_are_read() {
    for shape in [Shape::Usual, Shape::Older, Shape::Moved] {
        let stage = Stage::new(Script { shape, ..Script::default() }).await;
        sees_rows(&stage, VIDEO).await;
        assert!(stage.youtube.log().iter().all(|call| call.status == 200), "{shape:?}: {:?}", stage.youtube.log());
    }
}

#[tokio::test(start_paused = true)]
async fn report_17_a_visitor_who_has_answered_is_not_asked_for_consent() {
    let stage = Stage::new(Script { consent: Consent::Asked, ..Script::default() }).await;
    sees_rows(&stage, VIDEO).await;
    sees_rows(&stage, "@somebody").await;
}

#[tokio::test(start_paused = true)]
async fn c7_a_captured_chat_is_told_at_any_rate() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/youtube");
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap() };
    let captured =
        ["linatsukusu-youtube-chat/get_live_chat.super-chat.json", "pytchat/default/textmessage.json"].map(read);
    let recorded: Vec<Value> = captured.iter().flat_map(actions_of).collect();
    let rows = recorded.len();
    let script = Script { rate: 10.0, hint_ms: 1_000, recorded: recorded.into(), ..Script::default() };
    let stage = Stage::new(script).await;
    let mut viewer = stage.enter(VIDEO, None).await.unwrap();
    let mut got = Got::default();
    let count = |got: &Got, name: &str| got.names().iter().filter(|kind| **kind == name).count();
    got.until(&mut viewer, |got| count(got, "paid") >= 3 && count(got, "message") >= 3).await;
    assert!(rows > 0 && !got.others.iter().any(|kind| matches!(kind, Kind::Unknown(_) | Kind::Gap(_))), "{got:?}");
}

#[tokio::test(start_paused = true)]
async fn c6_a_blind_room_tries_another_token() {
    let script = Script { silent: Silent::AllChat, viewers: 7_870, ..Script::default() };
    let stage = Stage::new(script).await;
    let mut viewer = stage.enter(VIDEO, None).await.unwrap();
    let mut got = Got::default();
    got.until(&mut viewer, |got| got.rows.len() >= 20).await;
    got.check();
    assert!(stage.youtube.rows() >= 180, "it was silent for three minutes");
    let room = &stage.rooms.list()[0];
    assert_eq!((room.view, room.state.reads, room.state.bootstraps), ("all", View::Top, 2));
}
