//! One poller for all viewers, and the gate between all pollers and the upstream (C1, C2, G1).

use std::sync::Arc;
use std::time::Duration;

use tidegate_youtube::{Call, Script};
use tokio::task::JoinSet;
use tokio::time::pause;

use super::viewer::Viewer;
use super::{VIDEO, with};

const POLL: &str = "POST /youtubei/v1/live_chat/get_live_chat";

/// The gate's distance, less the millisecond that the clock's steps may take from it.
const APART: Duration = Duration::from_millis(249);

fn are_apart(log: &[Call], by: Duration) {
    let close = log.windows(2).find(|pair| pair[1].at - pair[0].at < by);
    assert_eq!(close, None);
}

#[tokio::test]
async fn c1_a_thousand_viewers_by_five_names_make_the_traffic_of_one() {
    let (house, youtube) = with(Script { rate: 10.0, ..Script::default() }).await;
    let house = Arc::new(house);
    let names = [
        VIDEO.to_owned(),
        format!("https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{VIDEO}"),
        format!("https%3A%2F%2Fyoutu.be%2F{VIDEO}"),
        format!("https%3A%2F%2Fwww.youtube.com%2Flive%2F{VIDEO}"),
        "@somebody".to_owned(),
    ];
    // All come in one moment: time stands still only once they are there, as it would run away over so many sockets.
    let mut entering = JoinSet::new();
    for nth in 0..1_000 {
        let (house, name) = (Arc::clone(&house), names[nth % 5].clone());
        entering.spawn(async move { Viewer::enter(&house, &name).await });
    }
    let viewers = entering.join_all().await;
    let list = house.get("/v1/chat").await.body;
    assert_eq!(list["rooms"].as_array().unwrap().len(), 1);
    assert_eq!(list["rooms"][0]["viewers"], 1_000);
    let calls = |what: &str| youtube.log().into_iter().filter(|call| call.what == what).collect::<Vec<_>>();
    assert_eq!(calls("GET /watch").len(), 1, "one bootstrap");
    assert_eq!(calls("GET /@somebody/live").len(), 1, "and one look-up of the handle");

    pause();
    let begun = youtube.log().len();
    let mut reading = JoinSet::new();
    for mut viewer in viewers {
        reading.spawn(async move {
            let rows = viewer.got.rows.len() + 200;
            viewer.until(|got| got.rows.len() >= rows).await;
            viewer.got.check();
            assert_eq!(viewer.got.others.iter().filter(|kind| kind.name() != "status").count(), 0);
            viewer
        });
    }
    let _viewers = reading.join_all().await;
    let log = youtube.log();
    assert_eq!(calls(POLL).len() + 2, log.len(), "one poll sequence, and nothing else");
    assert!(log.len() > begun + 3, "{log:?}");
    are_apart(&log[begun..], Duration::from_millis(4_999));
}

#[tokio::test]
async fn g1_fifty_rooms_at_once_are_spaced() {
    let (house, youtube) = with(Script::default()).await;
    let house = Arc::new(house);
    pause();
    let mut reading = JoinSet::new();
    for nth in 0..50 {
        let house = Arc::clone(&house);
        reading.spawn(async move {
            let mut viewer = Viewer::enter(&house, &format!("video{nth:06}")).await;
            viewer.until(|got| got.rows.len() >= 5).await;
            viewer
        });
    }
    let viewers = reading.join_all().await;
    assert_eq!(viewers.len(), 50);
    let log = youtube.log();
    assert_eq!(log.iter().filter(|call| call.what == "GET /watch").count(), 50);
    are_apart(&log, APART);
}
