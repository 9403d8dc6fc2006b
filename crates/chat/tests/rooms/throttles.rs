//! Each way of saying stop (G9 to G11c, C4, C5), and ends.

use std::time::Duration;

use tidegate_chat::Refused;
use tidegate_chat::event::{ErrorCode, Kind};
use tidegate_chat::room::Ending;
use tidegate_youtube::{Fault, Script, State};

use crate::stage::{Got, Stage, VIDEO};

const QUOTA: &str = r#"{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}"#;
const QUOTA_TEXT: &str = r#"{"error":{"code":400,"message":"Quota exceeded for this client"}}"#;

fn is_limited(got: &Got) -> bool {
    got.others.iter().any(|kind| matches!(kind, Kind::Error(failure) if failure.code == ErrorCode::RateLimited))
}

#[tokio::test(start_paused = true)]
async fn g9_each_throttle_is_told_and_the_room_goes_on_without_loss() {
    let sorry = "https://www.google.com/sorry/index?continue=x";
    let after = |seconds: &str| Some(seconds.to_owned());
    for (fault, cooldown_s) in [
        (Fault { retry_after: after("40"), ..Fault::new(429, "<html></html>") }, 40),
        (Fault::new(429, "<html></html>"), 30),
        (Fault::new(200, QUOTA), 30),
        (Fault::new(200, QUOTA_TEXT), 30),
        (Fault::to(sorry), 30),
    ] {
        let stage = Stage::new(Script::default()).await;
        let mut viewer = stage.enter(VIDEO, None).await.unwrap();
        let mut got = Got::default();
        got.until(&mut viewer, |got| got.rows.len() >= 10).await;
        stage.youtube.fail([fault.clone()]);
        got.until(&mut viewer, is_limited).await;
        let stopped = stage.youtube.log().last().unwrap().at;
        let Err(Refused::Room(Ending::RateLimited(left))) = stage.enter("otherotherx", None).await else {
            panic!("{fault:?}: a room that does not run is not started")
        };
        assert!(left <= Duration::from_secs(cooldown_s) && left > Duration::from_secs(cooldown_s - 2), "{left:?}");
        let mut late = stage.enter(VIDEO, None).await.unwrap();
        let mut told = Got::default();
        told.until(&mut late, is_limited).await;
        got.until(&mut viewer, |got| got.rows.len() >= 60).await;
        got.check();
        let again = stage.youtube.log().iter().map(|call| call.at).find(|at| *at > stopped).unwrap();
        assert!(again - stopped >= Duration::from_secs(cooldown_s), "{fault:?}: {:?}", again - stopped);
    }
}

#[tokio::test(start_paused = true)]
async fn g25_an_upstream_that_stays_closed_ends_the_room_after_eight() {
    let stage = Stage::new(Script::default()).await;
    let mut viewer = stage.enter(VIDEO, None).await.unwrap();
    let mut got = Got::default();
    got.until(&mut viewer, |got| !got.rows.is_empty()).await;
    stage.youtube.throttle_for(Duration::from_secs(99_999));
    while let Some(frames) = viewer.next().await {
        got.take(&frames);
    }
    let Some(Kind::Error(last)) = got.others.last() else { panic!("{got:?}") };
    assert!(last.is_final && last.code == ErrorCode::RateLimited);
    assert_eq!(stage.youtube.log().iter().filter(|call| call.status == 429).count(), 8);
    assert!(stage.rooms.list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn g11_an_expired_token_starts_again_from_the_page_without_loss() {
    let stage = Stage::new(Script::default()).await;
    let mut viewer = stage.enter(VIDEO, None).await.unwrap();
    let mut got = Got::default();
    got.until(&mut viewer, |got| got.rows.len() >= 10).await;
    stage.youtube.expire_tokens();
    got.until(&mut viewer, |got| got.rows.len() >= 40).await;
    got.check();
    assert_eq!(stage.calls("GET /watch"), 2);
    assert!(!is_limited(&got));
}

#[tokio::test(start_paused = true)]
async fn g11b_one_private_video_freezes_nobody_else() {
    let stage = Stage::new(Script::default()).await;
    let mut good = stage.enter(VIDEO, None).await.unwrap();
    let mut private = stage.enter("otherotherx", None).await.unwrap();
    let mut got = Got::default();
    got.until(&mut good, |got| got.rows.len() >= 10).await;
    // The next call is that of whichever room is first: both have succeeded within ten seconds.
    stage.youtube.fail([Fault::new(403, r#"{"error":{"code":403,"status":"PERMISSION_DENIED"}}"#)]);
    let ends = async {
        let mut got = Got::default();
        while let Some(frames) = private.next().await {
            got.take(&frames);
        }
        got
    };
    let goes_on = async {
        let mut got = Got::default();
        while let Some(frames) = good.next().await {
            got.take(&frames);
        }
        got
    };
    let ended = tokio::select! { got = ends => got, got = goes_on => got };
    assert!(matches!(ended.others.last(), Some(Kind::Error(last)) if last.code == ErrorCode::Gone && last.is_final));
    assert_eq!(stage.rooms.list().len(), 1);
    assert_eq!(stage.rooms.list()[0].state.cooldown_ms, 0);
}

#[tokio::test(start_paused = true)]
async fn c4_a_finished_stream_is_refused_and_a_stream_that_ends_says_so() {
    let stage = Stage::new(Script::default()).await;
    let mut viewer = stage.enter(VIDEO, None).await.unwrap();
    let mut got = Got::default();
    got.until(&mut viewer, |got| got.rows.len() >= 10).await;
    stage.youtube.change(|script| script.state = State::Ended);
    while let Some(frames) = viewer.next().await {
        got.take(&frames);
    }
    assert!(matches!(got.others.last(), Some(Kind::Error(last)) if last.code == ErrorCode::Ended && last.is_final));
    let refused = stage.enter(VIDEO, None).await.unwrap_err();
    assert!(matches!(refused, Refused::Room(Ending::Closed(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn g1_fifty_rooms_at_once_are_spaced() {
    let stage = Stage::new(Script::default()).await;
    let names: Vec<String> = (0..50).map(|nth| format!("video{nth:06}")).collect();
    let mut viewers = Vec::new();
    let mut entering = tokio::task::JoinSet::new();
    for name in names {
        let rooms = stage.rooms.clone();
        entering.spawn(async move {
            let name = tidegate_chat::youtube::Name::parse(&name).unwrap();
            rooms.enter(&name, tidegate_chat::youtube::View::All, tidegate_chat::room::Start::Newest).await
        });
    }
    while let Some(viewer) = entering.join_next().await {
        viewers.push(viewer.unwrap().unwrap());
    }
    let log = stage.youtube.log();
    assert!(log.windows(2).all(|pair| pair[1].at - pair[0].at >= Duration::from_millis(249)), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn c4_rooms_wait_half_a_minute_to_open_and_more_are_told_when_to_come_back() {
    let stage = Stage::new(Script::default()).await;
    let mut entering = tokio::task::JoinSet::new();
    for nth in 0..300 {
        let rooms = stage.rooms.clone();
        entering.spawn(async move {
            let name = tidegate_chat::youtube::Name::parse(&format!("video{nth:06}")).unwrap();
            let asked = tokio::time::Instant::now();
            let entered =
                rooms.enter(&name, tidegate_chat::youtube::View::All, tidegate_chat::room::Start::Newest).await;
            (entered, asked.elapsed())
        });
    }
    let (open, refused): (Vec<_>, Vec<_>) =
        entering.join_all().await.into_iter().partition(|(entered, _)| entered.is_ok());
    // Polls of the rooms that are open take every eighth turn.
    assert!((100..=121).contains(&open.len()), "{} rooms opened", open.len());
    assert!(open.iter().all(|(_, took)| *took < Duration::from_secs(32)));
    for (entered, took) in refused {
        let Err(Refused::Busy(wait)) = entered else { panic!("{entered:?}") };
        assert!(wait >= Duration::from_secs(1) && took < Duration::from_secs(32), "{wait:?} after {took:?}");
    }
}
