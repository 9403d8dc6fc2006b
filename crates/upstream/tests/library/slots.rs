//! G3, G19: the slot ends with the body; bodies are looked into without changing a byte.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use tidegate_upstream::{Outcome, Stalled};
use tokio::time::{Instant, sleep};
use tower::Service;

use crate::client::{Client, Senders, ask, driven, get, post, service, whole};
use crate::stage::{gate, settle};

/// A client whose bodies the test sends.
fn by_hand(senders: &Senders, head: fn() -> http::response::Builder) -> Client {
    let keep = senders.clone();
    Client::new(move |n, _| {
        let (sender, response) = driven(head());
        keep.lock().unwrap().insert(n, sender);
        std::future::ready(Ok(response))
    })
}

#[tokio::test(start_paused = true)]
async fn g3_the_slot_ends_with_the_body_or_with_its_drop() {
    let gate = gate("min_interval_ms = 0\ndedupe = []");
    let senders = Senders::default();
    let client = by_hand(&senders, Response::builder);
    let mut paced = service(&gate, &client);
    let running = || gate.snapshot("api").unwrap().running;

    let mut read = paced.call(get("/1")).await.unwrap();
    let dropped = paced.call(get("/2")).await.unwrap();
    assert_eq!(running(), 2);
    drop(dropped);
    assert_eq!(running(), 1);
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    sender.send_data(Bytes::from_static(b"x")).await.unwrap();
    read.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(running(), 1);
    drop(sender);
    assert!(read.body_mut().frame().await.is_none());
    assert_eq!(running(), 0, "before the body itself is dropped");
}

#[tokio::test(start_paused = true)]
async fn g3_a_reader_that_stops_gives_the_slot_back_at_its_deadline() {
    let gate = gate("min_interval_ms = 0\ndedupe = []\nstall_ms = 10000");
    let senders = Senders::default();
    let client = by_hand(&senders, Response::builder);
    let mut unread = service(&gate, &client).call(get("/1")).await.unwrap();
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    sender.send_data(Bytes::from_static(b"x")).await.unwrap();
    sleep(Duration::from_secs(9)).await;
    assert_eq!(gate.snapshot("api").unwrap().running, 1);
    sleep(Duration::from_secs(4)).await;
    assert_eq!(gate.snapshot("api").unwrap().running, 0, "nobody polls it, and still it ends");
    let error = unread.body_mut().frame().await.unwrap().unwrap_err();
    assert!(error.find::<Stalled>().is_some(), "{error}");
    assert!(unread.body_mut().frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn g3_a_body_that_its_upstream_leaves_half_ends_at_its_deadline_and_a_slow_one_does_not() {
    let gate = gate("min_interval_ms = 0\ndedupe = []\nstall_ms = 10000");
    let senders = Senders::default();
    let client = by_hand(&senders, Response::builder);
    let since = Instant::now();
    let mut body = service(&gate, &client).call(get("/1")).await.unwrap().into_body();
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    let slow = tokio::spawn(async move {
        for _ in 0..5 {
            sleep(Duration::from_secs(9)).await;
            sender.send_data(Bytes::from_static(b"x")).await.unwrap();
        }
        sender
    });
    for _ in 0..5 {
        body.frame().await.unwrap().unwrap();
    }
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(error.find::<Stalled>().is_some());
    let ended = since.elapsed().as_secs_f64();
    assert!((55.0..=58.0).contains(&ended), "{ended}");
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    drop(slow);
}

#[tokio::test(start_paused = true)]
async fn g3_a_long_polls_slot_ends_with_its_head() {
    let gate = gate("preset = \"stream-chat\"\ndedupe = []");
    let senders = Senders::default();
    let client = by_hand(&senders, Response::builder);
    let _open = service(&gate, &client).call(get("/longpoll?json=1")).await.unwrap();
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    let _held = service(&gate, &client).call(get("/app")).await.unwrap();
    assert_eq!(gate.snapshot("api").unwrap().running, 1);
}

#[tokio::test(start_paused = true)]
async fn g19_a_compressed_throttle_is_read_and_handed_on_byte_for_byte() {
    for (coding, body) in throttles() {
        let gate = gate("preset = \"youtube\"\nmax_attempts = 1");
        let bytes = body.clone();
        let client = Client::new(move |_, _| {
            let head = Response::builder()
                .header("content-type", "application/json; charset=UTF-8")
                .header("content-encoding", coding);
            whole(head, bytes.clone())
        });
        let seen = ask(&service(&gate, &client), post("/youtubei/v1/live_chat/get_live_chat", "{}")).await.unwrap();
        assert_eq!(seen.report.outcome, Outcome::Throttled, "{coding}");
        assert_eq!(seen.report.limited.unwrap().retry_after_s(), 30);
        assert_eq!((seen.status, seen.body), (200, body), "{coding}");
        assert_eq!(gate.snapshot("api").unwrap().holds.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn g19_a_long_body_is_looked_at_for_64_kib_and_streams_on() {
    let gate = gate("preset = \"youtube\"\ndedupe = []");
    let senders = Senders::default();
    let client = by_hand(&senders, || Response::builder().header("content-type", "application/json"));
    let mut paced = service(&gate, &client);
    let call = tokio::spawn(async move { paced.call(post("/youtubei/v1/next", "{}")).await });
    settle().await;
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    for _ in 0..3 {
        sender.send_data(vec![b' '; 30_000].into()).await.unwrap();
        settle().await;
    }
    assert!(call.is_finished(), "the head comes before the rest of the body");
    let body = call.await.unwrap().unwrap().into_body();
    sender.send_data(Bytes::from_static(b"{}")).await.unwrap();
    drop(sender);
    assert_eq!(body.collect().await.unwrap().to_bytes().len(), 90_002);
}

#[tokio::test(start_paused = true)]
async fn g19_a_body_that_drips_reaches_its_reader_after_5_s_and_a_stalled_one_still_ends() {
    let gate = gate("preset = \"youtube\"\ndedupe = []\nstall_ms = 10000");
    let senders = Senders::default();
    let client = by_hand(&senders, || Response::builder().header("content-type", "application/json"));
    let mut paced = service(&gate, &client);
    let since = Instant::now();
    let call = tokio::spawn(async move { paced.call(post("/youtubei/v1/next", "{}")).await });
    settle().await;
    let mut sender = senders.lock().unwrap().remove(&0).unwrap();
    let drip = tokio::spawn(async move {
        for _ in 0..8 {
            sender.send_data(Bytes::from_static(b" ")).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        }
        sender
    });
    let mut body = call.await.unwrap().unwrap().into_body();
    assert_eq!(since.elapsed().as_secs(), 5);
    for _ in 0..8 {
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), " ");
    }
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(error.find::<Stalled>().is_some(), "{error}");
    assert_eq!(gate.snapshot("api").unwrap().running, 0);
    drop(drip);
}

#[tokio::test(start_paused = true)]
async fn g19_a_bomb_of_a_body_costs_64_kib() {
    let gate = gate("preset = \"youtube\"\nmax_attempts = 1");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..64).for_each(|_| encoder.write_all(&vec![b'['; 1 << 20]).unwrap());
    let bomb = Bytes::from(encoder.finish().unwrap());
    let bytes = bomb.clone();
    let client = Client::new(move |_, _| {
        let head = Response::builder().header("content-type", "application/json").header("content-encoding", "gzip");
        whole(head, bytes.clone())
    });
    let seen = ask(&service(&gate, &client), post("/youtubei/v1/next", "{}")).await.unwrap();
    assert_eq!(seen.body, bomb);
}

/// YouTube's throttle inside a 200, in every coding that a browser asks for.
fn throttles() -> Vec<(&'static str, Bytes)> {
    const THROTTLE: &str = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted (e.g. check quota)."}}"#;
    // Made by Node's brotliCompressSync and by zstd 1.5.
    const BROTLI: &str = "1b6f00802c8b7788cf2c53515114996dc8e2602a7f2db2479332fbca8a92c52527745a06eb0b4f0521a548189a4e0ed8ff83b5f45098b580721b3b5775851474a288a604b8ce30e688e3297bc76f6236ade35f07f75f6c55218e3108df6a01";
    const ZSTD: &str = "28b52ffd04583503000287181c506d7558d0aaf8c8f87fbc093234bd20b15fa3034cb43a496666f61393895140a18b9174b03796c841076473b8519be409f91bb9daf2ec45b75f4ebea3bb7f58f1412916a680582886322c26b1a8e5e48d50e15a210806c96f1cf393fcdc7bf713007229454d";
    let level = flate2::Compression::default();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), level);
    for encoder in [&mut gzip as &mut dyn Write, &mut zlib, &mut deflate] {
        encoder.write_all(THROTTLE.as_bytes()).unwrap();
    }
    vec![
        ("identity", THROTTLE.into()),
        ("gzip", gzip.finish().unwrap().into()),
        ("deflate", zlib.finish().unwrap().into()),
        ("deflate", deflate.finish().unwrap().into()),
        ("br", unhex(BROTLI)),
        ("zstd", unhex(ZSTD)),
    ]
}

fn unhex(text: &str) -> Bytes {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
