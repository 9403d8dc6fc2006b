//! Each way of saying stop, as viewers see it (G9 to G11c, C4 to C6, G25).

use std::time::Duration;

use tidegate_chat::event::ErrorCode;
use tidegate_youtube::{Call, Fault, Script, State, YouTube};
use tokio::time::{pause, resume, sleep};

use super::viewer::Viewer;
use super::{VIDEO, events, with};
use crate::support::*;

const OTHER: &str = "otherotherx";
const DENIED: &str =
    r#"{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}"#;

fn throttles() -> Vec<(&'static str, Fault, u64)> {
    let quota = r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#;
    let words = r#"{"error":{"code":400,"message":"Quota exceeded for this client"}}"#;
    let captcha = "<html><body>unusual traffic <div class=\"g-recaptcha\"></div></body></html>";
    let after = |seconds: &str, fault: Fault| Fault { retry_after: Some(seconds.to_owned()), ..fault };
    vec![
        ("429 with Retry-After", after("40", Fault::new(429, "<html></html>")), 40),
        ("429 with a shorter one", after("7", Fault::new(429, "<html></html>")), 7),
        ("429 without", Fault::new(429, "<html></html>"), 30),
        ("RESOURCE_EXHAUSTED in a 200", Fault::new(200, quota), 30),
        ("quota words in a 200", Fault::new(200, words), 30),
        ("a redirect to the sorry page", Fault::to("https://www.google.com/sorry/index?continue=x"), 30),
        ("the sorry page itself", Fault::new(429, captcha), 30),
        ("a 403 page", Fault::new(403, "<html>Forbidden</html>"), 30),
    ]
}

/// A viewer of the stand-in's chat who has seen something, with time standing still but where somebody waits.
async fn watching(script: Script) -> (House, YouTube, Viewer) {
    let (house, youtube) = with(script).await;
    pause();
    let mut viewer = Viewer::enter(&house, VIDEO).await;
    viewer.until(|got| got.rows.len() >= 10).await;
    (house, youtube, viewer)
}

#[tokio::test]
async fn g9_g10_g11c_each_throttle_is_told_to_viewers_and_waited_out_without_loss() {
    for (what, fault, cooldown_s) in throttles() {
        let (house, youtube, mut viewer) = watching(Script::default()).await;
        youtube.fail([fault]);
        viewer.until(|got| got.is_limited()).await;
        let stopped = youtube.log().last().unwrap().at;
        let told = viewer.got.error().unwrap();
        // Its own interval has doubled to 10 s, and may be the longer wait (G24).
        let wait_ms = cooldown_s.max(10) * 1000;
        assert!((wait_ms - 500..=wait_ms).contains(&told.retry_after_ms.unwrap()), "{what}: {told:?}");
        assert!(!told.is_final, "{what}");

        // A room that does not run is not started, and says for how long not.
        let refused = house.get(&events(OTHER)).await;
        assert_eq!(refused.problem(), (429, "rate_limited"), "{what}");
        let left = refused.body["retry_after_ms"].as_u64().unwrap();
        assert!((cooldown_s * 1000 - 2000..=cooldown_s * 1000).contains(&left), "{what}: {left}");
        // One that runs lets viewers in and tells them.
        let mut late = Viewer::enter(&house, VIDEO).await;
        late.until(|got| got.is_limited()).await;
        let left = late.got.error().unwrap().retry_after_ms.unwrap();
        assert!((wait_ms - 2000..=wait_ms).contains(&left), "{what}: {left}");
        let room = house.get(&format!("/v1/chat/{VIDEO}")).await.body;
        assert_eq!(room["doing"], "waiting", "{what}: {room}");

        let rows = viewer.got.rows.len() + 40;
        viewer.until(|got| got.rows.len() >= rows).await;
        viewer.got.check();
        assert_eq!(viewer.got.count("gap"), 0, "{what}");
        let after: Vec<Call> = youtube.log().into_iter().filter(|call| call.at > stopped).collect();
        assert!(after[0].at - stopped >= Duration::from_secs(cooldown_s), "{what}: {:?}", after[0].at - stopped);
        assert!(after.iter().all(|call| call.what.starts_with("POST")), "{what}: it went on where it was: {after:?}");
        resume();
    }
}

#[tokio::test]
async fn g9_the_remaining_time_is_told_as_it_runs_out() {
    let (house, youtube, mut viewer) = watching(Script::default()).await;
    youtube.fail([Fault::new(429, "")]);
    viewer.until(|got| got.is_limited()).await;
    let mut before = u64::MAX;
    for passed in [0, 10, 15] {
        sleep(Duration::from_secs(passed)).await;
        let refused = house.get(&events(OTHER)).await;
        let left = refused.body["retry_after_ms"].as_u64().unwrap();
        assert!(left + passed * 900 < before, "{left} ms after {before} ms and {passed} s");
        before = left;
    }
    sleep(Duration::from_millis(before + 1000)).await;
    let mut other = Viewer::enter(&house, OTHER).await;
    other.until(|got| !got.rows.is_empty()).await;
}

#[tokio::test]
async fn g25_an_upstream_that_stays_closed_ends_the_room_after_eight() {
    let (house, youtube, viewer) = watching(Script::default()).await;
    youtube.throttle_for(Duration::from_secs(99_999));
    let got = viewer.until_its_end().await;
    let last = got.error().unwrap();
    assert!(last.is_final && last.code == ErrorCode::RateLimited, "{last:?}");
    assert_eq!(got.count("error"), 8, "seven times it went on");
    assert_eq!(youtube.log().iter().filter(|call| call.status == 429).count(), 8);
    assert_eq!(house.get("/v1/chat").await.body["rooms"], serde_json::json!([]));
}

#[tokio::test]
async fn g25_eight_is_in_a_row() {
    let (_house, youtube, mut viewer) = watching(Script::default()).await;
    for _ in 0..12 {
        let errors = viewer.got.count("error");
        youtube.fail([Fault::new(429, "")]);
        viewer.until(|got| got.count("error") > errors).await;
        let rows = viewer.got.rows.len();
        viewer.until(|got| got.rows.len() > rows).await;
    }
    assert!(viewer.got.others.iter().all(|kind| kind.name() != "error" || !viewer.got.error().unwrap().is_final));
    viewer.got.check();
}

#[tokio::test]
async fn g11_an_expired_token_starts_again_from_the_page_and_stops_nobody() {
    let (house, youtube, mut viewer) = watching(Script::default()).await;
    let mut other = Viewer::enter(&house, OTHER).await;
    youtube.expire_tokens();
    let rows = viewer.got.rows.len() + 40;
    viewer.until(|got| got.rows.len() >= rows).await;
    other.until(|got| got.rows.len() >= 80).await;
    for viewer in [&viewer, &other] {
        viewer.got.check();
        assert_eq!((viewer.got.count("error"), viewer.got.count("gap")), (0, 0));
    }
    let pages = |video: &str| {
        let is_page = |call: &&Call| call.what == "GET /watch" && call.video.as_deref() == Some(video);
        youtube.log().iter().filter(is_page).count()
    };
    assert_eq!((pages(VIDEO), pages(OTHER)), (2, 2));
    let refused = youtube.log().iter().filter(|call| call.status == 400).count();
    assert_eq!(refused, 2, "each room once");
}

#[tokio::test]
async fn g11b_one_private_video_freezes_nobody_else() {
    let (house, youtube, mut viewer) = watching(Script::default()).await;
    let mut private = Viewer::enter(&house, OTHER).await;
    private.until(|got| !got.rows.is_empty()).await;
    youtube.change_video(OTHER, |script| {
        script.state = State::Private;
        script.poll = Some(Fault::new(403, DENIED));
    });
    let got = private.until_its_end().await;
    let last = got.error().unwrap();
    assert!(last.is_final && last.code == ErrorCode::Gone, "{last:?}");
    let rows = viewer.got.rows.len() + 20;
    viewer.until(|got| got.rows.len() >= rows).await;
    viewer.got.check();
    assert_eq!(viewer.got.count("error"), 0);
    // Nor does it keep anybody out.
    let mut third = Viewer::enter(&house, "thirdthirdx").await;
    third.until(|got| !got.rows.is_empty()).await;
    assert_eq!(house.get(&events(OTHER)).await.problem(), (409, "not_public"));
    assert!(youtube.log().iter().all(|call| call.status != 429));
}

#[tokio::test]
async fn c6_a_stream_that_ends_is_confirmed_and_told() {
    let (house, youtube, viewer) = watching(Script::default()).await;
    youtube.change(|script| script.state = State::Ended);
    let got = viewer.until_its_end().await;
    got.check();
    let last = got.error().unwrap();
    assert!(last.is_final && last.code == ErrorCode::Ended, "{last:?}");
    let pages = youtube.log().iter().filter(|call| call.what == "GET /watch").count();
    assert_eq!(pages, 2, "the page confirmed it");
    assert_eq!(house.get(&events(VIDEO)).await.problem(), (409, "ended"));
}
