//! The stand-in itself: whom it throttles, and what it takes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tidegate_youtube::{Script, YouTube};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

/// The status of a page that is asked for from this address, with these headers.
async fn status(youtube: &YouTube, from: &str, headers: &str) -> u16 {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
    let mut stream = socket.connect(youtube.address()).await.unwrap();
    let request = format!("GET /watch?v=abcdefghij0 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_throttle_is_an_addresss_own() {
    let youtube = YouTube::start(Script::default()).await.unwrap();
    let (hour, second): (_, IpAddr) = (Duration::from_secs(3_600), "127.0.0.2".parse().unwrap());
    youtube.throttle_address(second, hour);
    assert_eq!(status(&youtube, "127.0.0.1", "").await, 200);
    assert_eq!(status(&youtube, "127.0.0.2", "").await, 429);
    youtube.throttle_address("192.0.2.7".parse().unwrap(), hour);
    assert_eq!(status(&youtube, "127.0.0.1", "x-forwarded-for: 192.0.2.7, 127.0.0.1\r\n").await, 429);
    assert_eq!(status(&youtube, "127.0.0.1", "x-forwarded-for: 192.0.2.8\r\n").await, 200);
    let from: Vec<String> = youtube.log().iter().map(|call| call.from.to_string()).collect();
    assert_eq!(from, ["127.0.0.1", "127.0.0.2", "192.0.2.7", "192.0.2.8"]);
    youtube.throttle_for(hour);
    assert_eq!(status(&youtube, "127.0.0.1", "").await, 429, "everybody");
}
