//! E5 to E13 under load that the relay's own threads do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tidegate_relay::{Admission, RelaySettings};
use tidegate_token::Role;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use crate::stage::{Client, FRESH, LONG, Says, Stage, Way};

/// Keeps both work threads busy until it is dropped, in pieces that let others in between.
struct Work {
    ends: Arc<AtomicBool>,
    _tasks: JoinSet<()>,
}

impl Work {
    fn begin() -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for _ in 0..4 {
            let ends = Arc::clone(&ends);
            tasks.spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    let until = Instant::now() + Duration::from_millis(2);
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    yield_now().await;
                }
            });
        }
        Self { ends, _tasks: tasks }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

/// A relay with a viewer, that was found saturated a moment ago.
async fn saturated(settings: &RelaySettings) -> (Stage, Client, Client) {
    let stage = Stage::with(settings);
    let live = stage.publish().await;
    let viewer = stage.watch(Way::Web, &stage.viewer("a")).await;
    viewer.frames(1).await;
    let work = Work::begin();
    let busy = async {
        while stage.relay.standing().state != tidegate_relay::State::Saturated {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, busy).await.expect("the load was not seen");
    drop(work);
    (stage, live, viewer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e8_e9_e10_e11_a_saturated_relay_refuses_newcomers_and_nobody_else() {
    let (stage, live, viewer) = saturated(&RelaySettings::default()).await;
    for way in [Way::Web, Way::Raw] {
        let told = stage.refusal(way, "/launch", &stage.viewer("newcomer")).await;
        assert_eq!(told, (0x5746, "EDGE_FULL retry_ms=2000".to_owned()));
    }
    // E9: who is in goes on, with a new subscription, too.
    viewer.frames(3).await;
    assert!(live.session.close_reason().is_none());
    // E11: a renewal, and a seat that was at another relay.
    let renewed = stage.token(Role::Viewer, "launch", "a", Says { token: 2, ..FRESH });
    stage.watch(Way::Web, &renewed).await.frames(1).await;
    let back = stage.token(Role::Viewer, "launch", "moved", Says { back: true, ..FRESH });
    stage.watch(Way::Web, &back).await.frames(1).await;
    // E10: a publisher and a peer.
    let second = stage.token(Role::Publisher, "launch", "encoder-2", FRESH);
    let _second = stage.connect(Way::Web, "/launch", &second).await.publish("second").await;
    let peer = stage.token(Role::Peer, "", "relay-2", FRESH);
    let peer = stage.connect(Way::Web, "/", &peer).await.subscribe().await;
    timeout(LONG, peer.origin.consume().routed_broadcast("launch/second")).await.unwrap().unwrap();
    // E13: the settings change while it runs.
    assert!(stage.relay.standing().full);
    stage.relay.set(&RelaySettings { admission_retry_ms: 700, ..RelaySettings::default() });
    assert_eq!(stage.refusal(Way::Web, "/launch", &stage.viewer("b")).await.1, "EDGE_FULL retry_ms=700");
    stage.relay.set(&RelaySettings { admission: Admission::Off, ..RelaySettings::default() });
    stage.watch(Way::Web, &stage.viewer("b")).await.frames(1).await;
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_observe_refuses_nobody() {
    let observe = RelaySettings { admission: Admission::Observe, ..RelaySettings::default() };
    let (stage, _live, _viewer) = saturated(&observe).await;
    assert!(!stage.relay.standing().full);
    stage.watch(Way::Web, &stage.viewer("newcomer")).await.frames(1).await;
    stage.stop().await;
}
