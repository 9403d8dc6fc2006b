//! Limits against bad input: heads, times, connections.

use std::time::Duration;

use tidegate_upstream::ServerSettings;
use tidegate_upstreams::Script;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::stage::Stage;

async fn closed_after(socket: &mut TcpStream) -> Duration {
    let since = Instant::now();
    let mut rest = Vec::new();
    let _reset = socket.read_to_end(&mut rest).await;
    since.elapsed()
}

#[tokio::test(start_paused = true)]
async fn limits_a_head_over_16_kib_is_refused() {
    let stage = Stage::new("min_interval_ms = 0").await;
    let head = |bytes: usize| {
        format!("GET /api/echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-big: {}\r\n\r\n", "x".repeat(bytes))
    };
    assert!(stage.raw(head(15_000).as_bytes()).await.starts_with("HTTP/1.1 200"));
    let refused = stage.raw(head(17_000).as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 431"), "{refused}");
    assert_eq!(stage.upstream.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn limits_a_head_that_drips_and_a_connection_that_waits_are_ended_in_their_times() {
    let stage = Stage::new("").await;
    let mut slow = TcpStream::connect(stage.address).await.unwrap();
    slow.write_all(b"GET /api/echo HTTP/1.1\r\n").await.unwrap();
    let taken = closed_after(&mut slow).await;
    assert!((10.0..11.5).contains(&taken.as_secs_f64()), "{taken:?}");
    let mut idle = TcpStream::connect(stage.address).await.unwrap();
    let taken = closed_after(&mut idle).await;
    assert!((75.0..76.5).contains(&taken.as_secs_f64()), "{taken:?}");
    let mut hesitant = TcpStream::connect(stage.address).await.unwrap();
    hesitant.write_all(b"PR").await.unwrap();
    let taken = closed_after(&mut hesitant).await;
    assert!((10.0..11.5).contains(&taken.as_secs_f64()), "{taken:?}");
}

#[tokio::test(start_paused = true)]
async fn limits_garbage_is_answered_or_closed_and_harms_nobody() {
    let stage = Stage::new("min_interval_ms = 0").await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"GET /api/echo HTTP/9.9\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        b"GET /api/echo HTTP/1.1\r\nhost: x\r\nbad header: 1\r\n\r\n",
        b"POST /api/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    ] {
        let answer = stage.raw(bytes).await;
        let text = String::from_utf8_lossy(bytes);
        assert!(!answer.contains(" 200 ") && !answer.contains(" 500 "), "{text}: {answer}");
    }
    assert_eq!(stage.ask(stage.get("/api/echo")).await.status, 200);
    stage.until(|gate| gate.running == 0).await;
}

#[tokio::test(start_paused = true)]
async fn limits_connections_over_the_limit_are_closed_when_they_come() {
    let limits = ServerSettings { connections_max: 3, ..ServerSettings::default() };
    let stage = Stage::limited(Script::menu(), "", limits).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(TcpStream::connect(stage.address).await.unwrap());
    }
    sleep(Duration::from_millis(50)).await;
    let mut over = TcpStream::connect(stage.address).await.unwrap();
    assert!(closed_after(&mut over).await < Duration::from_secs(1));
    open.clear();
    sleep(Duration::from_millis(50)).await;
    assert_eq!(stage.ask(stage.get("/api/echo")).await.status, 200);
}
