//! Rate limits and failures: two budgets (G24, G25, C5).

use std::time::Duration;

use tidegate_chat::event::{ErrorCode, Kind};
use tidegate_chat::room::{Ask, Doing, Ending};
use tidegate_chat::youtube::{PageAnswer, PollAnswer, Throttle, Trouble};

use crate::made::{Stage, batch_of, live_page, messages, names, quiet};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn throttled(stage: &mut Stage) -> Duration {
    stage.ask();
    stage.room.handle_throttle(seconds(30), true, stage.now);
    stage.wait()
}

#[test]
fn c5_a_rate_limit_is_told_and_the_room_goes_on_from_its_token() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..5, 0), 10_000)));
    assert_eq!(throttled(&mut stage), seconds(30));
    let notice = stage.room.take_notice().unwrap();
    assert_eq!((notice.code, notice.retry_after_ms, notice.is_final), (ErrorCode::RateLimited, Some(30_000), false));
    let state = stage.room.state(stage.now);
    assert_eq!((state.doing, state.cooldown_ms, state.interval_ms), (Doing::Waiting, 30_000, 20_000));
    assert!(stage.room.take_events().is_empty(), "it is told to those who are there, and is no event of the chat");
    assert!(matches!(stage.ask(), Ask::Poll(_, token) if token.as_str() == "next"), "the token is as good as before");
    let events = stage.poll(PollAnswer::Batch(batch_of(messages(3..7, 3_000), 10_000)));
    assert_eq!(names(&events), ["m5", "m6"]);
    assert_eq!(stage.room.state(stage.now).doing, Doing::Reading);
}

#[test]
fn g24_throttles_double_the_interval_up_to_60_s_and_each_success_halves_it() {
    let mut stage = Stage::open();
    stage.poll(quiet());
    let widened: Vec<u64> = (0..5).map(|_| throttled(&mut stage).as_secs()).collect();
    assert_eq!(widened, [30, 40, 60, 60, 60], "10 s doubled, and never before the cooldown ends");
    let narrowed: Vec<u64> = (0..4)
        .map(|_| {
            stage.poll(quiet());
            stage.wait().as_secs()
        })
        .collect();
    assert_eq!(narrowed, [30, 15, 10, 10]);
}

#[test]
fn g25_eight_rate_limits_in_a_row_end_a_room_and_a_success_clears_them() {
    let mut stage = Stage::open();
    for _ in 0..7 {
        throttled(&mut stage);
    }
    stage.poll(quiet());
    for _ in 0..7 {
        throttled(&mut stage);
    }
    stage.ask();
    stage.room.handle_throttle(seconds(30), true, stage.now);
    assert!(stage.is_over());
    let events = stage.room.take_events();
    let Kind::Error(failure) = &events[0].kind else { panic!("{events:?}") };
    assert_eq!((failure.code, failure.is_final), (ErrorCode::RateLimited, true));
}

#[test]
fn g25_being_held_back_for_another_room_costs_nothing() {
    let mut stage = Stage::open();
    for _ in 0..20 {
        stage.ask();
        stage.room.handle_throttle(seconds(30), false, stage.now);
        assert!(stage.room.take_notice().is_some(), "the viewers are told all the same");
    }
    assert!(!stage.is_over());
}

#[test]
fn c4_a_rate_limit_before_the_room_opens_is_an_answer() {
    let mut stage = Stage::new();
    stage.ask();
    stage.room.handle_throttle(seconds(17), true, stage.now);
    assert_eq!(stage.ending(), Ending::RateLimited(seconds(17)));
    assert!(stage.room.take_events().is_empty());
}

#[test]
fn g9_a_bot_check_on_a_page_is_a_rate_limit_and_no_error_of_the_stream() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Trouble(Trouble::Expired));
    for _ in 0..5 {
        stage.page(PageAnswer::Trouble(Trouble::Throttled { by: Throttle::BotCheck, retry_after: None }));
        assert!(stage.room.take_notice().is_some());
    }
    stage.page(live_page());
    stage.poll(quiet());
    assert!(!stage.is_over());
}

#[test]
fn g25_three_failures_in_a_row_end_a_room_and_two_do_not() {
    let failure = || PollAnswer::Trouble(Trouble::Unavailable { status: 503 });
    let mut stage = Stage::open();
    stage.poll(quiet());
    for _ in 0..10 {
        stage.poll(failure());
        assert_eq!(stage.wait(), seconds(10), "the same call again, no sooner than a poll");
        stage.poll(PollAnswer::Trouble(Trouble::Garbled));
        stage.poll(quiet());
    }
    stage.poll(failure());
    stage.poll(failure());
    stage.ask();
    stage.room.handle_failure("connection reset", stage.now);
    assert!(matches!(stage.ending(), Ending::Upstream(why) if why.contains("connection reset")));
}

#[test]
fn g25_rate_limits_between_failures_do_not_end_a_room() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Trouble(Trouble::Garbled));
    stage.poll(PollAnswer::Trouble(Trouble::Garbled));
    for _ in 0..7 {
        throttled(&mut stage);
    }
    assert!(!stage.is_over());
}
