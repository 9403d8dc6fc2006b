//! The fan-out on paused time, over pipes that hold a few bytes.

use tokio::io::{AsyncReadExt, duplex};

use super::*;
use crate::event::{Kind, Message, Words};
use crate::room::{Epoch, RingLimits};

fn hub() -> Arc<Hub> {
    Hub::new(Ring::new(Epoch(1), RingLimits::default()))
}

fn messages(from: u64, count: u64) -> Vec<Event> {
    let message = |number| {
        let words = Words::plain(format!("text {number}"));
        Event { id: Some(format!("m{number}")), ..Event::new(Kind::Message(Message { words, ..Message::default() })) }
    };
    (from..from + count).map(message).collect()
}

fn count(text: &str) -> usize {
    text.matches("event: message\n").count()
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
                String::from_utf8(got).unwrap()
            })
        })
        .collect();
    assert_eq!(hub.viewers(), 1_000);
    for from in 0..20 {
        hub.publish(&messages(from * 10, 10), None, None);
        tokio::task::yield_now().await;
    }
    hub.close();
    for viewer in viewers {
        let got = viewer.await.unwrap();
        assert!(got.starts_with("retry: 3000\n\n"));
        assert_eq!(count(&got), 200);
    }
    assert_eq!(hub.viewers(), 0);
}

#[tokio::test(start_paused = true)]
async fn c9_who_never_reads_is_cut_after_30_s_and_harms_nobody() {
    let hub = hub();
    let (mut deaf, _deaf_end) = duplex(64);
    let (mut good, mut good_end) = duplex(64);
    let (first, second) = (hub.enter(Start::Newest), hub.enter(Start::Newest));
    let begun = Instant::now();
    let deaf = tokio::spawn(async move { (send(first, &mut deaf).await, begun.elapsed()) });
    let good = tokio::spawn(async move { send(second, &mut good).await });
    let reader = tokio::spawn(async move {
        let mut text = String::new();
        good_end.read_to_string(&mut text).await.unwrap();
        text
    });
    for from in 0..100 {
        hub.publish(&messages(from * 10, 10), None, None);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(deaf.await.unwrap(), (Left::Stalled, STALL));
    assert_eq!(hub.viewers(), 1);
    hub.close();
    assert_eq!(good.await.unwrap(), Left::Over);
    assert_eq!(count(&reader.await.unwrap()), 1_000);
}

#[tokio::test(start_paused = true)]
async fn c9_a_quiet_chat_sends_a_comment_every_15_s() {
    let hub = hub();
    let (mut socket, mut end) = duplex(1024);
    let viewer = hub.enter(Start::Newest);
    let sending = tokio::spawn(async move { send(viewer, &mut socket).await });
    tokio::time::sleep(Duration::from_secs(46)).await;
    let mut got = [0; 1024];
    let length = end.read(&mut got).await.unwrap();
    assert_eq!(std::str::from_utf8(&got[..length]).unwrap(), "retry: 3000\n\n:\n\n:\n\n:\n\n");
    drop(end);
    assert_eq!(sending.await.unwrap(), Left::Gone);
    assert_eq!(hub.viewers(), 0);
}

#[tokio::test(start_paused = true)]
async fn c4_who_comes_during_a_rate_limit_is_told_the_time_that_is_left() {
    let hub = hub();
    hub.publish(&[], Some(limited(Duration::from_secs(30))), Some(Instant::now() + Duration::from_secs(30)));
    tokio::time::sleep(Duration::from_secs(12)).await;
    let first = hub.enter(Start::Newest).next().await.unwrap();
    let text = std::str::from_utf8(&first).unwrap();
    assert!(text.contains("\"code\":\"RATE_LIMITED\"") && text.contains("\"retry_after_ms\":18000"), "{text}");
    tokio::time::sleep(Duration::from_secs(18)).await;
    assert!(hub.enter(Start::Newest).next().await.unwrap().len() == GREETING.len());
}
