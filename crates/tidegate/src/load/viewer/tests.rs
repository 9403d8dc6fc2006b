use std::str::FromStr;

use clap::Parser;

use super::*;
use crate::load::client::Target;
use crate::load::judge::Span;
use crate::load::told::Told;

#[derive(Parser)]
#[command(args_override_self = true)]
struct Flags {
    #[command(flatten)]
    plan: Plan,
}

/// A viewer who has come, at a plan with these further flags, and the moment of its coming.
fn viewer(flags: &[&str]) -> (Viewer, Instant) {
    let usual = ["load", "--server", "http://127.0.0.1:1", "--stream", "x", "--arrive", "0s"];
    let calm = ["--churn", "0%/1s", "--crash", "0%/1s", "--hidden", "0%"];
    let plan = Flags::parse_from([&usual[..], &calm, flags].concat()).plan;
    let (_end, over) = watch::channel(false);
    let shared = Arc::new(Shared { book: Mutex::new(Book::new(plan.viewers, None)), plan, over });
    let line = Line::new(([127, 0, 0, 1], 1).into(), &Target::from_str("http://x").unwrap(), None);
    (Viewer::new(0, shared, line), Instant::now())
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Is told this now, as the answer to an ask.
fn hears(viewer: &mut Viewer, told: Told, now: Instant) {
    let asked = viewer.shared.book().judge.asking(0, now, viewer.hidden);
    let known = viewer.entry.take();
    let span = Span { sent: now, got: now };
    viewer.entry = viewer.shared.book().judge.ask_answered(known, &asked, &told, span);
    viewer.heed(told, now);
}

fn waits(position: u32) -> Told {
    Told::Wait { seat: "s".to_owned(), position, retry: seconds(2) }
}

fn offer() -> Told {
    Told::Offer { seat: "s".to_owned(), left: seconds(10), retry: seconds(2) }
}

fn seated() -> Told {
    Told::In { seat: "s".to_owned(), token: "t".to_owned(), token_life: seconds(120), beat: seconds(5) }
}

#[test]
fn s3_a_page_in_line_asks_again_exactly_when_it_was_told() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, waits(3), now);
    assert_eq!(viewer.next(), Some((now + seconds(2), Deed::Ask)));
    assert_eq!(viewer.phase(), Phase::Waiting);
}

#[test]
fn s3_a_hidden_tabs_timers_fire_once_a_minute() {
    let (mut viewer, now) = viewer(&["--hidden", "100%"]);
    viewer.turns_at = None;
    hears(&mut viewer, waits(3), now);
    assert_eq!(viewer.next(), Some((now + seconds(60), Deed::Ask)));
}

#[test]
fn s18_a_tab_that_turns_says_so_at_once() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, waits(3), now);
    viewer.turn();
    assert!(viewer.hidden);
    let (at, deed) = viewer.next().unwrap();
    assert_eq!(deed, Deed::Ask);
    assert!(at < now + seconds(2), "before the time it was told to come again");
}

#[test]
fn s4_a_page_turned_away_comes_again_with_its_own_spread_and_no_seat() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, Told::Full { retry: seconds(30) }, now);
    let (at, deed) = viewer.next().unwrap();
    assert_eq!((deed, viewer.seat.as_deref(), viewer.phase()), (Deed::Ask, None, Phase::Out));
    assert!((now + seconds(30)..now + Duration::from_millis(37_500)).contains(&at));
}

#[test]
fn s5_who_joins_joins_within_the_offer() {
    let (mut viewer, now) = viewer(&["--lapse", "0%"]);
    hears(&mut viewer, waits(1), now);
    hears(&mut viewer, offer(), now);
    assert!(matches!(viewer.stage, Stage::Offered { joins: true, .. }));
    assert!(viewer.next().unwrap().0 <= now + seconds(4));
    assert_eq!(viewer.shared.book().offers.told, 1);
}

#[test]
fn s5_who_lets_an_offer_lapse_keeps_asking_without_joining() {
    let (mut viewer, now) = viewer(&["--lapse", "100%"]);
    hears(&mut viewer, waits(1), now);
    for _ in 0..2 {
        hears(&mut viewer, offer(), now);
        assert!(matches!(viewer.stage, Stage::Offered { joins: false, .. }));
        assert_eq!(viewer.next(), Some((now + seconds(2), Deed::Ask)));
    }
    let told = viewer.shared.book().offers;
    assert_eq!((told.told, told.let_lapse), (1, 1));
}

#[test]
fn s5_an_offer_brings_a_hidden_page_to_the_front() {
    let (mut viewer, now) = viewer(&["--hidden", "100%"]);
    hears(&mut viewer, waits(1), now);
    hears(&mut viewer, offer(), now);
    assert!(!viewer.hidden);
}

#[test]
fn s18_s20_a_seated_page_beats_as_told_and_renews_before_its_token_ends() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, seated(), now);
    assert_eq!(viewer.next(), Some((now + seconds(5), Deed::Beat)));
    viewer.call_again_at(Call::Beat, now + seconds(500));
    assert_eq!(viewer.next(), Some((now + seconds(80), Deed::Renew)));
}

#[test]
fn s8_a_page_whose_seat_is_gone_asks_at_once_with_the_old_one() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, seated(), now);
    viewer.seat_is_refused(Call::Beat, Told::Gone, Span { sent: now, got: now });
    assert_eq!(viewer.next(), Some((now, Deed::Ask)));
    assert_eq!((viewer.seat.as_deref(), viewer.phase()), (Some("s"), Phase::Out));
}

#[test]
fn a_stream_that_is_over_is_not_asked_again() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, Told::Closed, now);
    assert_eq!((viewer.next(), viewer.phase()), (None, Phase::Closed));
}

#[test]
fn a_refused_call_is_repeated_when_it_was_told_and_no_other_is_moved() {
    let (mut viewer, now) = viewer(&[]);
    hears(&mut viewer, seated(), now);
    let told = Told::Problem { retry: Some(seconds(3)) };
    viewer.seat_is_refused(Call::Renew, told, Span { sent: now, got: now });
    assert_eq!(viewer.next(), Some((now + seconds(3), Deed::Renew)));
    viewer.call_again_at(Call::Renew, now + seconds(500));
    assert_eq!(viewer.next(), Some((now + seconds(5), Deed::Beat)));
}

#[test]
fn the_same_seed_is_the_same_crowd_with_nonces_of_its_own() {
    let flags = ["--churn", "100%/1s", "--seed", "7"];
    let whims = |viewer: &Viewer, now: Instant| viewer.leaves_at.map(|at| at.saturating_duration_since(now).as_secs());
    let ((a, at), (b, bt)) = (viewer(&flags), viewer(&flags));
    assert_eq!(whims(&a, at), whims(&b, bt));
    assert_ne!(a.nonce, b.nonce);
    assert!(a.nonce.len() >= 16);
}
