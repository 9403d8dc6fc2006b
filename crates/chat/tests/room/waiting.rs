//! Intervals, holes and backlogs.

use std::time::Duration;

use tidegate_chat::event::{Kind, StreamState};
use tidegate_chat::room::{Ask, Doing};
use tidegate_chat::youtube::{ContinuationKind, PollAnswer, Trouble};

use crate::made::{Stage, batch_of, busy_page, live_page, message, messages, names, quiet, removed};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn c2_a_room_begins_with_the_page_and_polls_at_once() {
    let mut stage = Stage::new();
    let events = stage.page(live_page());
    let Kind::Status(status) = &events[0].kind else { panic!("{events:?}") };
    assert_eq!(status.stream.as_ref().unwrap().state, StreamState::Live);
    assert!(matches!(stage.ask(), Ask::Poll(_, token) if token.as_str() == "reload"));
    assert_eq!(stage.seconds(), 0.0);
    let events = stage.poll(PollAnswer::Batch(batch_of(messages(0..3, 0), 5_035)));
    assert_eq!(names(&events), ["m0", "m1", "m2"], "the first answer has rows, and they count");
    assert!(matches!(stage.ask(), Ask::Poll(_, token) if token.as_str() == "next"));
    assert_eq!(stage.seconds(), 5.035);
}

#[test]
fn c3_the_hint_is_held_between_1_s_and_15_s_and_5_s_stand_in_for_none() {
    let mut stage = Stage::open();
    for (hint_ms, waited_ms) in [(0, 1_000), (10_000, 10_000), (60_000, 15_000)] {
        stage.poll(PollAnswer::Batch(batch_of(Vec::new(), hint_ms)));
        assert_eq!(stage.wait(), Duration::from_millis(waited_ms));
    }
    let mut without = batch_of(Vec::new(), 0);
    without.next.as_mut().unwrap().hint = None;
    stage.poll(PollAnswer::Batch(without));
    assert_eq!(stage.wait(), seconds(5));
}

#[test]
fn c3_a_full_batch_shortens_the_next_wait() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..10, 0), 10_000)));
    assert_eq!(stage.wait(), seconds(10));
    stage.poll(PollAnswer::Batch(batch_of(messages(10..160, 20_000), 10_000)));
    assert_eq!(stage.wait(), seconds(1), "150 rows are a full batch");
    stage.poll(PollAnswer::Batch(batch_of(messages(160..185, 170_000), 10_000)));
    assert_eq!(stage.wait(), seconds(3), "25 rows a second: 75 in 3 s");
    stage.poll(PollAnswer::Batch(batch_of(messages(185..186, 200_000), 10_000)));
    assert_eq!(stage.wait(), seconds(10), "a calm chat is polled as the upstream says");
}

#[test]
fn c3_a_full_batch_shortens_no_wait_during_a_throttle() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..10, 0), 10_000)));
    stage.ask();
    stage.room.handle_throttle(seconds(1), true, stage.now);
    stage.ask();
    stage.room.handle_throttle(seconds(1), true, stage.now);
    assert_eq!(stage.wait(), seconds(40));
    stage.poll(PollAnswer::Batch(batch_of(messages(10..200, 20_000), 10_000)));
    assert_eq!(stage.wait(), seconds(20), "halved, not reset");
}

#[test]
fn c3_a_hole_between_batches_is_told_as_a_gap() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..150, 0), 10_000)));
    let joined = stage.poll(PollAnswer::Batch(batch_of(messages(150..300, 150_000), 10_000)));
    assert_eq!(names(&joined)[0], "m150", "it goes on where the last one ended");
    let torn = stage.poll(PollAnswer::Batch(batch_of(messages(300..450, 9_000_000), 10_000)));
    assert_eq!(names(&torn)[..2], ["<gap>", "m300"]);
    let calm = stage.poll(PollAnswer::Batch(batch_of(messages(450..460, 90_000_000), 10_000)));
    assert_eq!(names(&calm)[0], "m450", "a batch that is not full has lost nothing");
}

#[test]
fn c8_what_a_reboot_repeats_is_sent_once() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..20, 0), 10_000)));
    let mut more = messages(20..30, 30_000);
    more.push(removed("m3"));
    stage.poll(PollAnswer::Batch(batch_of(more, 10_000)));
    assert!(stage.poll(PollAnswer::Trouble(Trouble::Expired)).is_empty());
    assert!(stage.page(live_page()).is_empty(), "the stream is as it was: there is nothing to tell");
    let mut backlog = messages(10..35, 10_000);
    backlog.push(removed("m3"));
    let events = stage.poll(PollAnswer::Batch(batch_of(backlog, 10_000)));
    assert_eq!(names(&events), ["m30", "m31", "m32", "m33", "m34"]);
}

#[test]
fn c3_a_backlog_that_does_not_reach_back_is_a_gap() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..20, 0), 10_000)));
    stage.poll(PollAnswer::Trouble(Trouble::Expired));
    stage.page(live_page());
    let events = stage.poll(PollAnswer::Batch(batch_of(messages(100..120, 90_000_000), 10_000)));
    assert_eq!(names(&events)[..2], ["<gap>", "m100"]);
}

#[test]
fn c8_a_reload_token_in_an_answer_brings_a_backlog_too() {
    let mut stage = Stage::open();
    let mut reload = batch_of(messages(0..20, 0), 10_000);
    reload.next.as_mut().unwrap().kind = ContinuationKind::Reload;
    stage.poll(PollAnswer::Batch(reload));
    let events = stage.poll(PollAnswer::Batch(batch_of(messages(0..22, 0), 10_000)));
    assert_eq!(names(&events), ["m20", "m21"]);
}

#[test]
fn c6_a_blind_room_starts_again_and_says_so() {
    let mut stage = Stage::new();
    stage.page(busy_page());
    stage.poll(PollAnswer::Batch(batch_of(messages(0..20, 0), 10_000)));
    let reboots = |stage: &mut Stage| loop {
        match stage.ask() {
            Ask::Page => break stage.seconds(),
            Ask::Poll(..) => drop(stage.poll(quiet())),
        }
    };
    assert_eq!(reboots(&mut stage), 180.0, "3 minutes without an action");
    assert_eq!(stage.room.state(stage.now).doing, Doing::Blind);
    stage.page(busy_page());
    assert!(stage.poll(PollAnswer::Batch(batch_of(messages(0..20, 0), 10_000))).is_empty());
    assert_eq!(stage.room.state(stage.now).doing, Doing::Blind, "what is known already is no sign of life");
    assert_eq!(reboots(&mut stage), 540.0, "then twice as long");
    stage.page(busy_page());
    stage.poll(PollAnswer::Batch(batch_of(vec![message("new", 600_000_000)], 10_000)));
    assert_eq!(stage.room.state(stage.now).doing, Doing::Reading);
}

#[test]
fn c6_a_silent_stream_that_hardly_anybody_watches_is_not_blind() {
    let mut stage = Stage::open();
    for _ in 0..1_000 {
        stage.poll(quiet());
    }
    assert_eq!(stage.room.state(stage.now).bootstraps, 1);
}
