//! What is thrown at the port: garbage, and handshakes that never end. Limits against bad input, 60-operations.

use std::net::SocketAddr;
use std::time::Duration;

use tidegate_relay::RelaySettings;
use tokio::net::UdpSocket;
use tokio::time::{sleep, timeout};
use web_transport_moq::noq::Endpoint;

use crate::stage::{LONG, Stage, Way};
use crate::trust::raw_config;

/// Waits until so many connections are left.
async fn left(stage: &Stage, connections: usize) {
    let gone = async {
        while stage.relay.connections() != connections {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, gone).await.unwrap_or_else(|_| panic!("{} connections stay", stage.relay.connections()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_garbage_on_the_port_harms_nobody_and_leaves_nothing() {
    let stage = Stage::new();
    let _live = stage.publish().await;
    let viewer = stage.watch(Way::Web, &stage.viewer("a")).await;
    viewer.frames(1).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut state = 1_u64;
    for size in (1..1400).cycle().take(20_000) {
        // Also what begins as a packet of QUIC does, short, long and of no known version.
        let bytes: Vec<u8> = (0..size)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_be_bytes()[0]
            })
            .collect();
        socket.send_to(&bytes, stage.address).await.unwrap();
    }
    viewer.frames(2).await;
    let second = stage.watch(Way::Raw, &stage.viewer("b")).await;
    second.frames(1).await;
    assert_eq!((stage.relay.connections(), stage.relay.standing().sessions), (3, 3));
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e7_a_thousand_handshakes_that_never_end_are_forgotten() {
    let stage = Stage::with(&RelaySettings { connections_per_address: 2_000, ..RelaySettings::default() });
    let _live = stage.publish().await;
    let viewer = stage.watch(Way::Web, &stage.viewer("a")).await;
    let clients = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let (deaf, to) = one_way(stage.address).await;
    let knocking: Vec<_> = (0..1_000).map(|_| clients.connect_with(raw_config(), to, "localhost").unwrap()).collect();
    // Each one's first packet has passed, and some were sent again.
    deaf.wait_for(1_500).await;
    assert!(stage.relay.connections() > 2 + 20, "{} handshakes began", stage.relay.connections());
    viewer.frames(3).await;
    drop((knocking, clients, deaf));
    left(&stage, 2).await;
    let second = stage.watch(Way::Web, &stage.viewer("b")).await;
    second.frames(1).await;
    stage.stop().await;
}

/// A way to the relay that nothing comes back on.
struct OneWay {
    passed: tokio::sync::watch::Receiver<usize>,
    passing: tokio::task::JoinHandle<()>,
}

async fn one_way(relay: SocketAddr) -> (OneWay, SocketAddr) {
    let entry = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let (exit, address) = (UdpSocket::bind("127.0.0.1:0").await.unwrap(), entry.local_addr().unwrap());
    let (count, passed) = tokio::sync::watch::channel(0);
    let passing = tokio::spawn(async move {
        let mut packet = [0; 2048];
        while let Ok((size, _)) = entry.recv_from(&mut packet).await {
            exit.send_to(&packet[..size], relay).await.ok();
            count.send_modify(|count| *count += 1);
        }
    });
    (OneWay { passed, passing }, address)
}

impl OneWay {
    async fn wait_for(&self, packets: usize) {
        let mut passed = self.passed.clone();
        timeout(LONG, passed.wait_for(|count| *count >= packets)).await.expect("too few packets").unwrap();
    }
}

impl Drop for OneWay {
    fn drop(&mut self) {
        self.passing.abort();
    }
}
