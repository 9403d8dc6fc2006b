//! The fan-out on paused time, over real sockets.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

use super::*;
use crate::event::{Kind, Message, Words};
use crate::frame::COMMENT;
use crate::room::{Epoch, RingLimits};

fn hub() -> Arc<Hub> {
    Hub::new(Ring::new(Epoch(1), RingLimits::default()))
}

fn messages(from: u64, count: u64) -> Vec<Event> {
    let message = |number| {
        let words = Words::plain(format!("text {number} {}", "and more ".repeat(20)));
        Event { id: Some(format!("m{number}")), ..Event::new(Kind::Message(Message { words, ..Message::default() })) }
    };
    (from..from + count).map(message).collect()
}

fn count(text: &[u8]) -> usize {
    let text = std::str::from_utf8(text).unwrap();
    text.matches("event: message\n").count()
}

/// A viewer on a socket, and its end of it.
async fn connect(hub: &Arc<Hub>, listener: &TcpListener) -> (JoinHandle<Left>, TcpStream) {
    connect_for(hub, Coding::Identity, listener).await
}

async fn connect_for(hub: &Arc<Hub>, coding: Coding, listener: &TcpListener) -> (JoinHandle<Left>, TcpStream) {
    let socket = TcpSocket::new_v4().unwrap();
    // The less the system keeps, the sooner nothing more can be written.
    socket.set_recv_buffer_size(4096).unwrap();
    let end = socket.connect(listener.local_addr().unwrap()).await.unwrap();
    let (socket, _) = listener.accept().await.unwrap();
    let viewer = hub.enter(Start::Newest);
    (tokio::spawn(send(viewer, b"head ".to_vec(), coding, socket)), end)
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// Reads on until so many messages are there.
async fn read_up_to(messages: usize, got: &mut Vec<u8>, end: &mut TcpStream) {
    while !got.ends_with(b"\n\n") || count(got) < messages {
        assert_ne!(end.read_buf(got).await.unwrap(), 0, "closed after {} messages", count(got));
    }
}

#[tokio::test(start_paused = true)]
async fn c9_a_thousand_viewers_get_every_frame_and_the_first_line_says_when_to_come_back() {
    let hub = hub();
    let viewers: Vec<_> = (0..1_000)
        .map(|_| {
            let mut viewer = hub.enter(Start::Newest);
            tokio::spawn(async move {
                let mut got = Vec::new();
                while let Some(frames) = viewer.next().await {
                    got.extend_from_slice(&frames);
                }
                got
            })
        })
        .collect();
    assert_eq!(hub.viewers(), 1_000);
    for from in 0..20 {
        hub.publish(&messages(from * 10, 10), None, None).await;
        tokio::task::yield_now().await;
    }
    hub.close();
    for viewer in viewers {
        let got = viewer.await.unwrap();
        assert!(got.starts_with(b"retry: 3000\n\n"));
        assert_eq!(count(&got), 200);
    }
    assert_eq!(hub.viewers(), 0);
}

/// More than one task writes to, and on several workers, so that a viewer's own task and the news meet.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn c9_every_socket_gets_every_frame_once_and_the_end() {
    let (hub, listener) = (hub(), listen().await);
    let mut viewers = Vec::new();
    for _ in 0..CROWD + 100 {
        let (sending, mut end) = connect(&hub, &listener).await;
        let reading = tokio::spawn(async move {
            let mut got = Vec::new();
            end.read_to_end(&mut got).await.map(|_| got)
        });
        viewers.push((sending, reading));
    }
    for from in 0..20 {
        hub.publish(&messages(from * 10, 10), None, None).await;
    }
    hub.close();
    for (sending, reading) in viewers {
        assert_eq!(sending.await.unwrap(), Left::Over);
        let got = reading.await.unwrap().unwrap();
        assert!(got.starts_with(b"head retry: 3000\n\nid: "));
        let text = String::from_utf8(got).unwrap();
        let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id: 1-")).collect();
        assert_eq!(ids, (1..=200).map(|seq: u64| seq.to_string()).collect::<Vec<_>>());
    }
    assert_eq!(hub.viewers(), 0);
}

#[tokio::test(start_paused = true)]
async fn c9_who_takes_gzip_gets_the_same_in_fewer_bytes_as_one_whole_stream() {
    let (hub, listener) = (hub(), listen().await);
    let (plain, mut plain_end) = connect(&hub, &listener).await;
    let mut packed = Vec::new();
    for _ in 0..3 {
        packed.push(connect_for(&hub, Coding::Gzip, &listener).await);
        // Each comes at another time, and begins with another piece.
        hub.publish(&messages(packed.len() as u64 * 10, 10), None, None).await;
    }
    tokio::time::sleep(COMMENT_EVERY).await;
    hub.publish(&messages(40, 10), None, None).await;
    hub.close();
    let mut expected = Vec::new();
    plain_end.read_to_end(&mut expected).await.unwrap();
    assert_eq!(plain.await.unwrap(), Left::Over);
    for (sending, mut end) in packed {
        let mut got = Vec::new();
        end.read_to_end(&mut got).await.unwrap();
        assert_eq!(sending.await.unwrap(), Left::Over);
        let stream = got.strip_prefix(b"head ").unwrap();
        let mut unpacked = b"head ".to_vec();
        // A wrong checksum or a missing end would be an error here.
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(stream), &mut unpacked).unwrap();
        assert!(unpacked == expected, "{}", String::from_utf8_lossy(&unpacked));
        assert!(stream.len() * 3 < expected.len(), "{} of {}", stream.len(), expected.len());
    }
}

#[tokio::test(start_paused = true)]
async fn c9_a_hundred_who_never_read_are_cut_after_30_s_hold_little_and_harm_nobody() {
    let (hub, listener) = (hub(), listen().await);
    let mut deaf = Vec::new();
    for _ in 0..100 {
        deaf.push(connect(&hub, &listener).await);
    }
    let (good, mut good_end) = connect(&hub, &listener).await;
    let (mut got, mut published) = (Vec::new(), 0);
    for round in 0..200 {
        hub.publish(&messages(round * 50, 50), None, None).await;
        published += 50;
        read_up_to(published, &mut got, &mut good_end).await;
    }
    assert!(!got.windows(11).any(|name| name == b"event: gap\n"));
    let begun = Instant::now();
    for (sending, _) in &mut deaf {
        assert_eq!(sending.await.unwrap(), Left::Stalled);
    }
    assert!(begun.elapsed() <= STALL);
    assert_eq!(hub.viewers(), 1);
    for (_, mut end) in deaf {
        let mut held = Vec::new();
        let _end_or_reset = end.read_to_end(&mut held).await;
        assert!(held.len() < 256 << 10, "{} of {} bytes were held for who reads nothing", held.len(), got.len());
    }
    hub.close();
    assert_eq!(good.await.unwrap(), Left::Over);
}

#[tokio::test(start_paused = true)]
async fn c9_who_reads_again_after_20_s_is_told_of_the_gap_and_goes_on_with_the_newest() {
    let (hub, listener) = (hub(), listen().await);
    let (sending, mut end) = connect(&hub, &listener).await;
    for round in 0..60 {
        hub.publish(&messages(round * 50, 50), None, None).await;
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(20)).await;
    let mut got = Vec::new();
    while !got.ends_with(b"\n\n") || !String::from_utf8_lossy(&got).contains("id: 1-3000\n") {
        assert_ne!(end.read_buf(&mut got).await.unwrap(), 0);
    }
    let text = String::from_utf8(got).unwrap();
    assert_eq!(text.matches("event: gap\n").count(), 1);
    // And is a viewer like any other from then on.
    hub.publish(&messages(3_000, 1), None, None).await;
    let mut got = Vec::new();
    read_up_to(1, &mut got, &mut end).await;
    assert!(String::from_utf8(got).unwrap().contains("id: 1-3001\n"));
    hub.close();
    assert_eq!(sending.await.unwrap(), Left::Over);
}

#[tokio::test(start_paused = true)]
async fn c9_a_quiet_chat_sends_a_comment_every_15_s() {
    let (hub, listener) = (hub(), listen().await);
    let (sending, mut end) = connect(&hub, &listener).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    hub.publish(&messages(0, 1), None, None).await;
    let mut got = Vec::new();
    read_up_to(1, &mut got, &mut end).await;
    got.clear();
    let begun = Instant::now();
    for comments in 1..=3 {
        while got.len() < comments * COMMENT.len() {
            end.read_buf(&mut got).await.unwrap();
        }
    }
    assert_eq!(got, b":\n\n:\n\n:\n\n");
    assert_eq!(begun.elapsed(), 3 * COMMENT_EVERY);
    drop(end);
    assert_eq!(sending.await.unwrap(), Left::Gone);
    assert_eq!(hub.viewers(), 0);
}

#[tokio::test(start_paused = true)]
async fn c9_who_talks_is_heard_out_and_who_closes_is_gone_at_once() {
    let (hub, listener) = (hub(), listen().await);
    let (sending, mut end) = connect(&hub, &listener).await;
    end.write_all(&[b'?'; 10_000]).await.unwrap();
    hub.publish(&messages(0, 1), None, None).await;
    read_up_to(1, &mut Vec::new(), &mut end).await;
    let begun = Instant::now();
    drop(end);
    assert_eq!(sending.await.unwrap(), Left::Gone);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn c4_who_comes_during_a_rate_limit_is_told_the_time_that_is_left() {
    let hub = hub();
    let until = Instant::now() + Duration::from_secs(30);
    hub.publish(&[], Some(limited(Duration::from_secs(30))), Some(until)).await;
    tokio::time::sleep(Duration::from_secs(12)).await;
    let first = hub.enter(Start::Newest).next().await.unwrap();
    let text = std::str::from_utf8(&first).unwrap();
    assert!(text.contains("\"code\":\"RATE_LIMITED\"") && text.contains("\"retry_after_ms\":18000"), "{text}");
    tokio::time::sleep(Duration::from_secs(18)).await;
    assert!(hub.enter(Start::Newest).next().await.unwrap().len() == GREETING.len());
}
