//! A stream of days, fast-forward.

use std::time::Duration;

use tidegate_chat::room::{Read, Ring, RingLimits, Start};
use tidegate_chat::youtube::{PollAnswer, Trouble};

use crate::made::{Stage, batch_of, live_page, messages};
use crate::ring::EPOCH;

/// Resident memory of this process, in KiB.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn c8_five_million_messages_leave_memory_flat() {
    let mut stage = Stage::open();
    let mut ring = Ring::new(EPOCH, RingLimits::default());
    let mut cursor = ring.enter(Start::Newest, stage.now);
    let (mut made, mut sent, mut warm) = (0u64, 0u64, 0);
    let begun = stage.now;
    while made < MESSAGES {
        let from_us = i64::try_from((stage.now - begun).as_micros()).unwrap();
        // Every tenth batch the token expires, and the backlog repeats a hundred rows.
        let repeated = if made > 0 && made.is_multiple_of(10 * BATCH) {
            stage.poll(PollAnswer::Trouble(Trouble::Expired));
            stage.page(live_page());
            100
        } else {
            0
        };
        let rows = messages(made - repeated..made + BATCH, from_us);
        let events = stage.poll(PollAnswer::Batch(batch_of(rows, 2_000)));
        made += BATCH;
        sent += events.len() as u64;
        ring.push(&events, stage.now);
        while let Read::Frames(_) = ring.read(&mut cursor) {}
        assert!(ring.bytes() < 1 << 20, "2,000 short messages");
        if made == MESSAGES / 10 {
            warm = resident();
        }
    }
    assert_eq!(sent, MESSAGES, "each once");
    let grown = resident() - warm;
    assert!(grown < 8 << 10, "memory grew by {grown} KiB over the last nine tenths");
    assert!(stage.now - begun > Duration::from_secs(86_400), "a day has passed: {} s", stage.seconds());
}

const MESSAGES: u64 = 5_000_000;
/// Rows of one poll.
const BATCH: u64 = 100;
