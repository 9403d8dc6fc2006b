//! What a viewer is sent from the ring (C8, C9).

use std::time::{Duration, Instant};

use tidegate_chat::event::{AuthorRemoved, ErrorCode, Event, Failure, Kind, Message, Words};
use tidegate_chat::room::{Cursor, Epoch, EventId, Read, Ring, RingLimits, Start};

use crate::made::{messages, removed};

pub(crate) const EPOCH: Epoch = Epoch(0xe);

pub(crate) fn after(seq: u64) -> Start {
    Start::After(EventId { epoch: EPOCH, seq })
}

pub(crate) fn ring() -> Ring {
    Ring::new(EPOCH, RingLimits::default())
}

/// Everything there is for a viewer: the ids of rows, and the names of what has none.
pub(crate) fn read_all(ring: &Ring, cursor: &mut Cursor) -> Vec<String> {
    let mut sent = Vec::new();
    while let Read::Frames(frames) = ring.read(cursor) {
        sent.extend_from_slice(&frames);
    }
    let text = String::from_utf8(sent).unwrap();
    text.split_terminator("\n\n").map(name_of).collect()
}

fn sent_from(ring: &mut Ring, start: Start, now: Instant) -> Vec<String> {
    let mut cursor = ring.enter(start, now);
    read_all(ring, &mut cursor)
}

fn name_of(frame: &str) -> String {
    let data = frame.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let event: Event = serde_json::from_str(data).unwrap();
    let missed = match &event.kind {
        Kind::Gap(gap) => gap.missed.map_or_else(String::new, |missed| format!(" {missed}")),
        _ => String::new(),
    };
    event.id.unwrap_or_else(|| format!("<{}{missed}>", event.kind.name()))
}

fn ids(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("m{number}")).collect()
}

#[test]
fn c8_a_new_viewer_starts_with_the_last_50_without_what_was_deleted() {
    let (mut ring, now) = (ring(), Instant::now());
    ring.push(&messages(0..100, 0), now);
    let spammer = Message {
        author: tidegate_chat::event::Author { channel_id: Some("UCspam".to_owned()), ..Default::default() },
        ..Message::default()
    };
    let spam = Event { id: Some("spam".to_owned()), ..Event::new(Kind::Message(spammer)) };
    ring.push(&[spam.clone(), spam], now);
    let ban = AuthorRemoved { channel_id: "UCspam".to_owned(), words: Words::default() };
    ring.push(&[removed("m98"), Event::new(Kind::AuthorRemoved(ban))], now);
    let sent = sent_from(&mut ring, Start::Newest, now);
    let mut expected = ids((51..98).chain([99]));
    expected.extend(["<removed>".to_owned(), "<author_removed>".to_owned()]);
    assert_eq!(sent, expected);
    assert_eq!(sent.len(), 50);
}

#[test]
fn c8_who_comes_back_gets_what_it_missed_deleted_or_not() {
    let (mut ring, now) = (ring(), Instant::now());
    ring.push(&messages(0..100, 0), now);
    ring.push(&[removed("m98")], now);
    let sent = sent_from(&mut ring, after(98), now);
    assert_eq!(sent, ["m98", "m99", "<removed>"]);
}

#[test]
fn c8_behind_the_rings_end_there_is_one_gap_and_then_all_that_is_kept() {
    let (mut ring, now) = (ring(), Instant::now());
    for from in (0..3_000).step_by(100) {
        ring.push(&messages(from..from + 100, 0), now);
    }
    let mut expected = vec!["<gap 990>".to_owned()];
    expected.extend(ids(1_000..3_000));
    assert_eq!(sent_from(&mut ring, after(10), now), expected);
    assert_eq!(sent_from(&mut ring, after(1_000), now), ids(1_000..3_000), "just not missed");
    assert_eq!(sent_from(&mut ring, after(3_000), now).len(), 0);
}

#[test]
fn c8_events_over_five_minutes_old_are_not_kept() {
    let (mut ring, now) = (ring(), Instant::now());
    ring.push(&messages(0..10, 0), now);
    let later = now + Duration::from_secs(200);
    ring.push(&messages(10..20, 0), later);
    let sent = sent_from(&mut ring, after(1), now + Duration::from_secs(301));
    assert_eq!(sent[..2], ["<gap 9>", "m10"]);
    let long_after = now + Duration::from_secs(9_999);
    assert!(sent_from(&mut ring, after(20), long_after).is_empty(), "nothing was missed");
    assert_eq!(sent_from(&mut ring, after(19), long_after), ["<gap 1>"]);
    assert_eq!(ring.bytes(), 0);
}

#[test]
fn c8_another_epoch_or_an_id_that_never_was_gives_a_gap_and_the_newest() {
    let (mut ring, now) = (ring(), Instant::now());
    ring.push(&messages(0..100, 0), now);
    let other = Start::After(EventId { epoch: Epoch(1), seq: 99 });
    for start in [other, Start::Lost, after(101)] {
        let mut expected = vec!["<gap>".to_owned()];
        expected.extend(ids(50..100));
        assert_eq!(sent_from(&mut ring, start, now), expected, "{start:?}");
    }
}

#[test]
fn c8_a_gaps_id_is_the_place_before_what_follows() {
    let (mut ring, now) = (ring(), Instant::now());
    for from in (0..3_000).step_by(100) {
        ring.push(&messages(from..from + 100, 0), now);
    }
    let mut cursor = ring.enter(after(10), now);
    let Read::Frames(gap) = ring.read(&mut cursor) else { panic!("no gap") };
    let text = String::from_utf8(gap.to_vec()).unwrap();
    assert!(text.starts_with("id: e-1000\nevent: gap\n"), "{text}");
    let sent = sent_from(&mut ring, after(1_000), now);
    assert_eq!(sent, ids(1_000..3_000), "who left right behind the gap is not told again");
}

#[test]
fn c9_a_viewer_over_500_frames_behind_gets_a_gap_and_the_newest() {
    let (mut ring, now) = (ring(), Instant::now());
    ring.push(&messages(0..10, 0), now);
    let mut cursor = ring.enter(after(10), now);
    for from in (10..710).step_by(100) {
        ring.push(&messages(from..from + 100, 0), now);
    }
    let mut expected = vec!["<gap 650>".to_owned()];
    expected.extend(ids(660..710));
    assert_eq!(read_all(&ring, &mut cursor), expected);
}

#[test]
fn c9_what_comes_at_once_is_nobodys_lag() {
    let (mut ring, now) = (ring(), Instant::now());
    let mut cursor = ring.enter(Start::Newest, now);
    ring.push(&messages(0..900, 0), now);
    assert_eq!(read_all(&ring, &mut cursor), ids(0..900));
}

#[test]
fn c9_frames_are_encoded_once_and_shared() {
    let (mut ring, now) = (ring(), Instant::now());
    let (mut ann, mut bob) = (ring.enter(Start::Newest, now), ring.enter(Start::Newest, now));
    ring.push(&messages(0..10, 0), now);
    let (Read::Frames(one), Read::Frames(two)) = (ring.read(&mut ann), ring.read(&mut bob)) else { panic!("nothing") };
    assert_eq!(one.as_ptr(), two.as_ptr(), "the same bytes in memory");
    assert_eq!(ring.read(&mut ann), Read::Nothing, "a batch is one piece");
}

#[test]
fn c5_a_rate_limit_is_told_to_those_who_are_there_and_not_to_who_comes_back() {
    let (mut ring, now) = (ring(), Instant::now());
    ring.push(&messages(0..1, 0), now);
    let mut there = ring.enter(Start::Newest, now);
    let failure =
        Failure { code: ErrorCode::RateLimited, message: String::new(), retry_after_ms: Some(1), is_final: false };
    ring.notify(failure.clone());
    ring.notify(failure);
    assert_eq!(read_all(&ring, &mut there), ["m0", "<error>"], "the newest word is enough");
    assert!(sent_from(&mut ring, after(1), now).is_empty());
}

#[test]
fn c5_after_the_end_everything_is_still_read() {
    let (mut ring, now) = (ring(), Instant::now());
    let mut cursor = ring.enter(Start::Newest, now);
    ring.push(&messages(0..2, 0), now);
    ring.close();
    assert_eq!(read_all(&ring, &mut cursor), ["m0", "m1"]);
    assert_eq!(ring.read(&mut cursor), Read::Over);
}
