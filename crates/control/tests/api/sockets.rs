//! What a socket may cost: connections by address, half-open ones, slow heads, slow readers.

use std::net::{IpAddr, Ipv4Addr};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::*;

async fn with(settings: ControlSettings) -> House {
    House::with(settings, EmbeddedSettings::default()).await
}

/// Whether the server closed the connection, having sent nothing.
async fn is_closed(socket: &mut TcpStream) -> bool {
    matches!(socket.read(&mut [0; 64]).await, Ok(0) | Err(_))
}

#[tokio::test]
async fn limits_an_address_has_so_many_connections_and_no_more() {
    let settings = ControlSettings { connections_per_address: 3, stop_notice_ms: 0, ..ControlSettings::default() };
    let house = with(settings).await;
    let from = |d| IpAddr::from(Ipv4Addr::new(127, 0, 0, d));
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut socket = connect_from(from(7), house.address).await;
        socket.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        assert!(read_until(&mut socket, |text| text.contains("ok")).await.starts_with("HTTP/1.1 200"));
        open.push(socket);
    }
    assert!(is_closed(&mut connect_from(from(7), house.address).await).await);
    // Others are served, and one that closes makes room.
    assert_eq!(house.get("/healthz").await.status, 200);
    drop(open.pop());
    loop {
        let mut socket = connect_from(from(7), house.address).await;
        socket.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        if read_until(&mut socket, |text| text.contains("ok")).await.starts_with("HTTP/1.1 200") {
            break;
        }
    }
    let text = house.get("/metrics").await.text;
    assert!(text.contains("tidegate_connections_refused_total{limit=\"address\"}"), "{text}");
}

#[tokio::test]
async fn limits_all_addresses_have_so_many_connections() {
    let house = with(ControlSettings { connections_max: 4, ..unlimited() }).await;
    let mut open = Vec::new();
    while open.len() < 4 {
        let mut socket = TcpStream::connect(house.address).await.unwrap();
        socket.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        if read_until(&mut socket, |text| text.contains("ok")).await.is_empty() {
            // The connection that read the description may still be closing.
            continue;
        }
        open.push(socket);
    }
    assert!(is_closed(&mut TcpStream::connect(house.address).await.unwrap()).await);
}

#[tokio::test]
async fn limits_a_head_that_does_not_come_is_closed() {
    let house = with(ControlSettings { header_timeout_ms: 150, ..unlimited() }).await;
    let mut socket = TcpStream::connect(house.address).await.unwrap();
    socket.write_all(b"POST /v1/play/x/admit HTTP/1.1\r\nhost: a\r\nx-slow: ").await.unwrap();
    assert!(is_closed(&mut socket).await);
    let text = house.get("/metrics").await.text;
    assert!(text.contains("tidegate_connections_closed_total{why=\"header_timeout\"} 1"), "{text}");
}

#[tokio::test]
async fn limits_an_idle_connection_is_closed_and_a_used_one_is_not() {
    let house = with(ControlSettings { idle_timeout_ms: 300, ..unlimited() }).await;
    let mut idle = TcpStream::connect(house.address).await.unwrap();
    let mut used = TcpStream::connect(house.address).await.unwrap();
    let closed = tokio::spawn(async move { is_closed(&mut idle).await });
    while !closed.is_finished() {
        used.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        let answer = read_until(&mut used, |text| text.contains("ok")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert!(closed.await.unwrap());
}

#[tokio::test]
async fn limits_a_reader_that_takes_nothing_is_dropped() {
    let house = with(ControlSettings { write_timeout_ms: 200, ..unlimited() }).await;
    let mut socket = TcpStream::connect(house.address).await.unwrap();
    // Answers of 20 KiB each until both sockets' buffers are full and the server can write no more.
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(16);
    while socket.write_all(&request).await.is_ok() {
        if house.prometheus.render().contains("why=\"write_timeout\"} 1") {
            return;
        }
    }
    while !house.prometheus.render().contains("why=\"write_timeout\"} 1") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn known_fault_2000_half_open_sockets_do_not_stop_a_seated_viewers_heartbeat() {
    let settings = ControlSettings { stop_notice_ms: 0, ..ControlSettings::default() };
    let house = with(settings).await;
    let stream = house.stream(5, 0).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    let mut half_open = Vec::new();
    for n in 0..sockets() {
        // 250 from each address: under the limit of one, so that all of them are held.
        let from = IpAddr::from(Ipv4Addr::new(127, 0, 1, u8::try_from(n / 250).unwrap() + 1));
        let mut socket = connect_from(from, house.address).await;
        socket.write_all(b"POST /v1/play/x/hb HTTP/1.1\r\nhost: a\r\ncontent-le").await.unwrap();
        half_open.push(socket);
        if n % 200 == 0 {
            let kept = house.page(&stream, "hb", json!({"seat": seat})).await;
            assert_eq!(kept.status, 200, "with {n} half-open sockets: {kept:?}");
        }
    }
    for _ in 0..5 {
        assert_eq!(house.page(&stream, "hb", json!({"seat": seat})).await.status, 200);
    }
    // 300 more from one address: 256 of them are held, the rest is closed at once.
    let one = IpAddr::from(Ipv4Addr::new(127, 0, 2, 1));
    for _ in 0..300 {
        half_open.push(connect_from(one, house.address).await);
    }
    while !house.prometheus.render().contains("limit=\"address\"} 44") {
        tokio::task::yield_now().await;
    }
    assert_eq!(house.page(&stream, "hb", json!({"seat": seat})).await.status, 200);
}

/// 2,000, or as many as the process may open: each has two ends here.
fn sockets() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let _as_high_as_it_goes = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files.saturating_sub(1000) / 2).unwrap().min(2000)
}
