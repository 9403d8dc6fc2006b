//! O9: a stop lets what is under way end, and cuts the rest when its time is over. O3: new settings.

use std::time::Duration;

use futures_util::StreamExt;
use tidegate_upstream::{ServerSettings, Stopped};
use tidegate_upstreams::{Answer, Rule, Script};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::stage::{Stage, settings};

fn held() -> Script {
    let answer = Answer::default().with_hold("door");
    Script { rules: vec![Rule::new("GET /held", [answer]).unwrap()], ..Script::menu() }
}

#[tokio::test(start_paused = true)]
async fn o9_a_request_under_way_ends_and_idle_connections_close_at_once() {
    let mut stage = Stage::with(held(), "min_interval_ms = 0").await;
    let idle = stage.ask(stage.get("/api/echo")).await;
    assert_eq!(idle.status, 200);
    let _silent = TcpStream::connect(stage.address).await.unwrap();
    let running = stage.asking(stage.get("/api/held"), "");
    stage.upstream.wait_for_arrivals(2).await;
    drop(stage.stop.take());
    assert_eq!(stage.ask(stage.get("/api/echo")).await.status, 200, "balancers are given time to notice");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(TcpStream::connect(stage.address).await.is_err(), "nobody new");
    assert!(!stage.server.is_finished());
    stage.upstream.release("door");
    assert_eq!(running.await.unwrap().status, 200);
    assert_eq!(stage.server.await.unwrap(), Stopped { cut: 0 });
}

#[tokio::test(start_paused = true)]
async fn o9_what_does_not_end_is_cut_after_the_grace_time() {
    let limits = ServerSettings { stop_notice_ms: 0, stop_grace_ms: 3000, ..Default::default() };
    let mut stage = Stage::limited(held(), "", limits).await;
    let running = stage.asking(stage.get("/api/held"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let since = Instant::now();
    drop(stage.stop.take());
    let stopped = (&mut stage.server).await.unwrap();
    assert_eq!(stopped, Stopped { cut: 1 });
    assert!((3000..3100).contains(&since.elapsed().as_millis()));
    assert!(running.await.is_err());
    stage.until(|gate| gate.running == 0).await;
}

#[tokio::test(start_paused = true)]
async fn o9_a_tunnel_ends_with_the_proxy() {
    let mut stage = Stage::new("min_interval_ms = 0").await;
    let socket = TcpStream::connect(stage.address).await.unwrap();
    let url = format!("ws://{}/api/ws", stage.address);
    let (mut socket, _) = tokio_tungstenite::client_async(url, socket).await.unwrap();
    drop(stage.stop.take());
    (&mut stage.server).await.unwrap();
    assert!(socket.next().await.is_none_or(|message| message.is_err()), "it is closed");
}

#[tokio::test(start_paused = true)]
async fn o3_new_settings_keep_who_waits_and_what_holds() {
    let stage = Stage::with(held(), "min_interval_ms = 0\nmax_concurrency = 1\ndedupe = []").await;
    let running = stage.asking(stage.get("/api/held"), "");
    stage.upstream.wait_for_arrivals(1).await;
    let waiting = stage.asking(stage.get("/api/echo"), "");
    stage.until(|gate| gate.waiting == 1).await;
    let base = format!("base_url = \"{}\"", stage.upstream.url(""));
    let more = settings(&format!("{base}\nmin_interval_ms = 0\nmax_concurrency = 2\ndedupe = []"));
    stage.gate.reload([("api", more), ("new", settings(&base))]).unwrap();
    assert_eq!(waiting.await.unwrap().status, 200, "there is a second slot now");
    assert_eq!(stage.ask(stage.get("/new/echo")).await.status, 200);
    assert_eq!(stage.ask(stage.get("/absent/x")).await.problem(), "unknown_upstream");
    stage.upstream.release("door");
    assert_eq!(running.await.unwrap().status, 200);
}
