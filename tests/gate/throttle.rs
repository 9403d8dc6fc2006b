//! An address throttle in the middle of 50 rooms' traffic (G9, G18).

use std::time::Duration;

use tidegate_upstreams::{Answer, Rule, Script, Then, Throttle};

use crate::stage::Stage;

const ROOMS: usize = 50;
/// Polls that are answered before the address is closed; the last three still run at that instant.
const BEFORE: usize = 33;
const HOLD: Duration = Duration::from_secs(3);
const POLL: &str = "/api/youtubei/v1/live_chat/get_live_chat";

#[tokio::test]
async fn g9_g18_one_throttle_holds_every_room_and_the_queue_drains_at_the_paced_rate() {
    let running = vec![Answer::default().with_hold("door"); 3];
    let answers = vec![Answer::default(); BEFORE - 3].into_iter().chain(running);
    let polls = Rule { then: Then::PassOn, ..Rule::new("POST /youtubei/*", answers).unwrap() };
    let throttle = Throttle::new(BEFORE, 60_000, HOLD.as_millis() as u64);
    let script = Script { throttle: Some(throttle), rules: vec![polls], ..Script::default() };
    // With three polls running the refused one has the last slot, so none can be on its way when it is told.
    let stage = Stage::with(script, "preset = \"youtube\"\nmin_interval_ms = 20\nmax_concurrency = 4").await;
    let rooms: Vec<_> = (0..ROOMS)
        .map(|room| {
            let room = format!("room-{room}");
            let request = stage.request("POST", POLL).header("tidegate-key", &room).header("x-key", &room);
            stage.asking(request, format!("{{\"continuation\":\"{room}\"}}"))
        })
        .collect();
    stage.upstream.wait_until(|log| log.aftermath().is_some()).await;
    stage.until("tidegate_gate_cooldown_seconds{upstream=\"api\"", |left| left > 0.0).await;
    stage.upstream.release("door");
    for room in rooms {
        assert_eq!(room.await.unwrap().status, 200, "the refused poll was made again");
    }

    let log = stage.upstream.log();
    let after = log.aftermath().unwrap();
    assert_eq!((after.in_flight, after.throttled), (3, 0), "{after:?}");
    assert_eq!(log.len(), ROOMS + 1);
    let during = log.between(after.told_ns, after.told_ns + HOLD.as_nanos() as u64);
    assert!(during.is_empty(), "{} calls came during the cooldown", during.len());
    let later = log.filter(|entry| entry.at_ns > after.told_ns);
    assert_eq!(later.len(), ROOMS - BEFORE);
    // No herd: whatever the machine does, only as many come close together as there are slots.
    let span = later.gaps().iter().sum::<Duration>();
    assert!(span >= Duration::from_millis(20) * (later.len() as u32 - 5), "{span:?}");
    assert!(later.max_in_flight() <= 4);
    assert_eq!(stage.counted("tidegate_gate_throttles_total{upstream=\"api\"").await, 1.0);
}
