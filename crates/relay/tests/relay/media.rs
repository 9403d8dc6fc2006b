//! E1, E16: what a token grants, seen from the media.

use tidegate_token::Role;

use crate::stage::{FRESH, Stage, Way};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_a_viewer_sees_the_frames_of_its_stream() {
    for way in [Way::Web, Way::Raw] {
        let stage = Stage::new();
        let _live = stage.publish().await;
        let viewer = stage.watch(way, &stage.viewer("a")).await;
        let frames = viewer.frames(5).await;
        let numbers: Vec<u64> = frames.iter().map(|frame| u64::from_be_bytes(frame[..].try_into().unwrap())).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{way:?}: {numbers:?}");
        stage.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_a_viewer_sees_no_other_stream_and_publishes_nothing() {
    let stage = Stage::new();
    let other = stage.token(Role::Publisher, "other", "encoder-2", FRESH);
    let _other = stage.connect(Way::Web, "/other", &other).await.publish("secret").await;
    let _intruder = stage.connect(Way::Web, "/launch", &stage.viewer("b")).await.publish("forged").await;
    let _live = stage.publish().await;
    let viewer = stage.watch(Way::Web, &stage.viewer("a")).await;
    let mut announced = viewer.origin.consume().announced();
    viewer.frames(1).await;
    // What it would have been told of was there before `live`.
    let first = announced.next().await.unwrap();
    assert_eq!(first.prefix.as_str(), "live");
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_a_peer_carries_every_stream_both_ways() {
    let stage = Stage::new();
    let _live = stage.publish().await;
    let peer = stage.token(Role::Peer, "", "relay-2", FRESH);
    let peer = stage.connect(Way::Web, "/", &peer).await.subscribe().await;
    let broadcast = peer.origin.consume().routed_broadcast("launch/live").await.unwrap();
    assert!(broadcast.track("data").is_ok());
    stage.stop().await;
}
