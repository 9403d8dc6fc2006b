//! O9: a stop that nobody seated notices.

use serde_json::json;
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::*;

const ASK: &[u8] = b"GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n";

#[tokio::test]
async fn o9_readiness_falls_first_then_accepting_ends() {
    let settings = ControlSettings { stop_notice_ms: 600_000, ..unlimited() };
    let mut house = House::with(settings, EmbeddedSettings::default()).await;
    let stream = house.stream(1, 0).await;
    let stopping = house.stop();
    loop {
        let ready = house.get("/readyz").await;
        if ready.status == 503 {
            assert_eq!(ready.problem(), (503, "not_ready"));
            break;
        }
    }
    // Still served, for as long as balancers take to notice.
    assert_eq!(house.admit(&stream, json!({})).await.state(), (201, "in"));
    assert!(!stopping.is_finished());
    stopping.abort();
}

#[tokio::test]
async fn o9_a_request_under_way_is_finished_and_idle_connections_close() {
    let mut house = House::open().await;
    let stream = house.stream(1, 0).await;
    let mut idle = TcpStream::connect(house.address).await.unwrap();
    idle.write_all(ASK).await.unwrap();
    read_until(&mut idle, |text| text.contains("ok")).await;

    let mut under_way = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /v1/play/{stream}/admit HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n"
    );
    under_way.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body, so it is reading this request.
    let asked = read_until(&mut under_way, |text| text.contains("100 Continue")).await;
    assert!(asked.starts_with("HTTP/1.1 100 "), "{asked}");

    let stopping = house.stop();
    assert_eq!(read_until(&mut idle, |_| false).await, "", "the idle one is closed");
    while TcpStream::connect(house.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!stopping.is_finished());
    under_way.write_all(b"{}").await.unwrap();
    let answer = read_until(&mut under_way, |_| false).await;
    assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains("connection: close"), "{answer}");
    stopping.await.unwrap();
}

#[tokio::test]
async fn o9_what_does_not_finish_in_the_grace_time_is_cut() {
    let settings = ControlSettings { stop_grace_ms: 50, ..unlimited() };
    let mut house = House::with(settings, EmbeddedSettings::default()).await;
    let mut slow = TcpStream::connect(house.address).await.unwrap();
    slow.write_all(b"POST /v1/play/x/admit HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
        .await
        .unwrap();
    read_until(&mut slow, |text| text.contains("100 Continue")).await;
    house.stop().await.unwrap();
    assert_eq!(read_until(&mut slow, |_| false).await, "");
}
