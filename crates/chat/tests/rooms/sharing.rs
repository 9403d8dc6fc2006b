//! One poller for all viewers; coming back to it.

use std::time::Duration;

use tidegate_youtube::Script;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::stage::{Got, Stage, VIDEO};

#[tokio::test(start_paused = true)]
async fn c1_a_thousand_viewers_by_five_names_make_the_traffic_of_one() {
    let stage = Stage::new(Script::default()).await;
    let names = [
        VIDEO.to_owned(),
        format!("https://www.youtube.com/watch?v={VIDEO}"),
        format!("https://youtu.be/{VIDEO}"),
        format!("https://www.youtube.com/live/{VIDEO}"),
        "@somebody".to_owned(),
    ];
    let mut entering = JoinSet::new();
    for nth in 0..1_000 {
        let (rooms, name) = (stage.rooms.clone(), names[nth % 5].clone());
        entering.spawn(async move {
            let name = tidegate_chat::youtube::Name::parse(&name).unwrap();
            let view = tidegate_chat::youtube::View::All;
            let mut viewer = rooms.enter(&name, view, tidegate_chat::room::Start::Newest).await.unwrap();
            let mut got = Got::default();
            got.until(&mut viewer, |got| got.rows.len() >= 20).await;
            got.check();
            viewer
        });
    }
    let viewers = entering.join_all().await;
    assert_eq!(stage.rooms.list().len(), 1);
    assert_eq!(stage.rooms.list()[0].viewers, 1_000);
    assert_eq!(stage.calls("GET /watch"), 1, "one bootstrap");
    assert_eq!(stage.calls("GET /@somebody/live"), 1, "and one look-up of the handle");
    let log = stage.youtube.log();
    let spaced = log.windows(2).all(|pair| pair[1].at - pair[0].at >= Duration::from_millis(249));
    assert!(spaced, "never closer than the gate's spacing: {log:?}");
    let polls: Vec<_> = log.iter().filter(|call| call.what.starts_with("POST")).collect();
    assert!(polls.len() >= 4 && polls[1..].windows(2).all(|pair| pair[1].at - pair[0].at >= Duration::from_secs(4)));
    drop(viewers);
}

#[tokio::test(start_paused = true)]
async fn c2_the_last_viewer_leaving_ends_the_room_after_30_s() {
    let stage = Stage::new(Script::default()).await;
    drop(stage.enter(VIDEO, None).await.unwrap());
    sleep(Duration::from_secs(20)).await;
    drop(stage.enter(VIDEO, None).await.unwrap());
    sleep(Duration::from_secs(29)).await;
    assert_eq!(stage.rooms.list().len(), 1);
    sleep(Duration::from_secs(2)).await;
    assert!(stage.rooms.list().is_empty());
    let calls = stage.youtube.log().len();
    sleep(Duration::from_secs(600)).await;
    assert_eq!(stage.youtube.log().len(), calls, "nothing polls where nobody reads");
    assert_eq!(stage.calls("GET /watch"), 1);
}

#[tokio::test(start_paused = true)]
async fn c8_a_hundred_losses_of_a_fast_chat_lose_nothing_and_repeat_nothing() {
    let script = Script { rate: 200.0, hint_ms: 1_000, reach_rows: 1_000, ..Script::default() };
    let stage = Stage::new(script).await;
    let _stays = stage.enter(VIDEO, None).await.unwrap();
    let mut got = Got::default();
    let mut lots = 7u64;
    for _ in 0..100 {
        let mut viewer = stage.enter(VIDEO, got.last_id.as_deref()).await.unwrap();
        lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let enough = got.rows.len() + 1 + usize::try_from(lots >> 55).unwrap();
        got.until(&mut viewer, |got| got.rows.len() >= enough).await;
        drop(viewer);
        sleep(Duration::from_millis(lots >> 54)).await;
    }
    got.check();
    assert!(got.rows.len() > 10_000, "{} rows", got.rows.len());
    assert_eq!(got.names().iter().filter(|name| **name == "gap").count(), 0);
    let mut late = stage.enter(VIDEO, Some("0-1")).await.unwrap();
    let mut got = Got::default();
    got.until(&mut late, |got| got.rows.len() > 300).await;
    assert_eq!(got.names().iter().filter(|name| **name == "gap").count(), 1, "another life's id");
    got.check();
}
