//! What reading one message costs, from the poll's bytes to the event's JSON. `cargo bench -p tidegate-chat`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tidegate_chat::youtube::{Fetched, PollAnswer, read_page, read_poll};

fn main() {
    let replay = capture("pytchat/duplicates/dp0-0.json");
    let mixed = capture("pytchat/calculator/superchat_0.json");
    for (name, body) in [("100 messages", &replay), ("52 rows, paid ones among them", &mixed)] {
        let events = events(body);
        let count = u32::try_from(events.len()).expect("a batch is small");
        report(name, "bytes to events", count, || drop(black_box(read_poll(&Fetched::ok(black_box(body))))));
        report(name, "events to JSON", count, || {
            for event in &events {
                black_box(serde_json::to_string(black_box(event)).expect("events are JSON"));
            }
        });
    }
    let page = capture("slim-pages/live.html");
    report("a page without its videos", "bytes to state", 1, || {
        drop(black_box(read_page(&Fetched::ok(black_box(&page)))))
    });
}

fn events(body: &[u8]) -> Vec<tidegate_chat::event::Event> {
    let PollAnswer::Batch(batch) = read_poll(&Fetched::ok(body)) else { panic!("a capture of a chat") };
    batch.events
}

/// The fastest of several rounds: the others were disturbed.
fn report(name: &str, what: &str, per_round: u32, mut work: impl FnMut()) {
    let mut best = Duration::MAX;
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        let started = Instant::now();
        work();
        best = best.min(started.elapsed());
    }
    println!("{name}, {what}: {} ns each", (best / per_round).as_nanos());
}

fn capture(name: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/youtube/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
