//! Ends, and what only looks like one (C6, C13).

use tidegate_chat::event::{ErrorCode, Event, Kind, StreamState};
use tidegate_chat::room::{Ask, Ending};
use tidegate_chat::youtube::{Over, PageAnswer, PollAnswer, Trouble};

use crate::made::{Stage, batch_of, live_page, messages, names, page_of, quiet};

fn page(state: StreamState) -> PageAnswer {
    PageAnswer::Watch(Box::new(page_of(state)))
}

fn code(events: &[Event]) -> ErrorCode {
    match &events.last().unwrap().kind {
        Kind::Error(failure) if failure.is_final => failure.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn c6_one_answer_without_a_next_token_is_confirmed_and_its_rows_count() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Batch(batch_of(messages(0..5, 0), 10_000)));
    let mut last = batch_of(messages(5..8, 5_000), 10_000);
    last.next = None;
    assert_eq!(names(&stage.poll(PollAnswer::Batch(last))), ["m5", "m6", "m7"]);
    stage.page(live_page());
    let events = stage.poll(PollAnswer::Batch(batch_of(messages(5..9, 5_000), 10_000)));
    assert_eq!(names(&events), ["m8"], "it was a passing fault after hours");
}

#[test]
fn c6_an_end_that_the_page_confirms_ends_the_room() {
    for answer in [PollAnswer::Over(Over::NoContents), PollAnswer::Over(Over::Message("unavailable".to_owned()))] {
        let mut stage = Stage::open();
        stage.poll(quiet());
        stage.poll(answer);
        assert_eq!(code(&stage.page(page(StreamState::Ended))), ErrorCode::Ended);
        assert_eq!(stage.ending(), Ending::Closed(StreamState::Ended));
    }
}

#[test]
fn c6_a_chat_that_is_over_again_and_again_on_a_live_page_ends() {
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Over(Over::NoContents));
    stage.page(live_page());
    stage.poll(PollAnswer::Over(Over::NoContents));
    stage.page(live_page());
    assert_eq!(code(&stage.poll(PollAnswer::Over(Over::NoContents))), ErrorCode::Ended);
}

#[test]
fn c6_tokens_that_expire_at_once_are_fetched_ever_more_seldom() {
    let mut stage = Stage::open();
    let mut pages = vec![];
    for _ in 0..6 {
        stage.poll(quiet());
        stage.poll(PollAnswer::Trouble(Trouble::Expired));
        stage.page(live_page());
        pages.push(stage.seconds());
    }
    let waits: Vec<f64> = pages.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [10.0, 20.0, 40.0, 60.0, 60.0], "10 s are the time of the two polls");
}

#[test]
fn c6_a_token_that_is_never_taken_ends_the_room() {
    let mut stage = Stage::open();
    for _ in 0..2 {
        stage.poll(PollAnswer::Trouble(Trouble::Expired));
        stage.page(live_page());
    }
    assert_eq!(code(&stage.poll(PollAnswer::Trouble(Trouble::Expired))), ErrorCode::UpstreamError);
}

#[test]
fn c13_a_stream_that_became_a_replay_is_over() {
    let mut stage = Stage::open();
    let mut replay = batch_of(Vec::new(), 0);
    replay.is_replay = true;
    stage.poll(PollAnswer::Batch(replay));
    let mut ended = page_of(StreamState::Ended);
    ended.chat.as_mut().unwrap().is_replay = true;
    assert_eq!(code(&stage.page(PageAnswer::Watch(Box::new(ended)))), ErrorCode::Ended);
}

#[test]
fn c4_each_closed_page_is_an_answer_before_the_room_opens() {
    for state in [StreamState::ChatDisabled, StreamState::MembersOnly, StreamState::Private, StreamState::Unavailable] {
        let mut stage = Stage::new();
        stage.ask();
        stage.room.handle_page(page(state), stage.now);
        assert_eq!(stage.ending(), Ending::Closed(state));
    }
    let mut stage = Stage::new();
    stage.page(page(StreamState::Upcoming));
    assert!(matches!(stage.ask(), Ask::Poll(..)), "an announced stream's chat is open already");
}

#[test]
fn c5_a_video_that_becomes_private_is_gone() {
    let mut stage = Stage::open();
    stage.poll(quiet());
    assert_eq!(code(&stage.poll(PollAnswer::Trouble(Trouble::Denied))), ErrorCode::Gone);
    let mut stage = Stage::open();
    stage.poll(PollAnswer::Over(Over::NoContents));
    assert_eq!(code(&stage.page(page(StreamState::MembersOnly))), ErrorCode::Gone);
}

#[test]
fn c4_one_failed_page_is_not_the_last_word() {
    let mut stage = Stage::new();
    stage.page(PageAnswer::Trouble(Trouble::Unavailable { status: 502 }));
    stage.page(PageAnswer::Trouble(Trouble::Garbled));
    stage.page(live_page());
    assert!(matches!(stage.ask(), Ask::Poll(..)));
}
