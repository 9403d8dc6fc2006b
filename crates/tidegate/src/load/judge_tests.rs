use super::*;

const SEAT: &str = "seat-a";

/// A judge and a clock moved by hand.
struct Court {
    judge: Judge,
    start: Instant,
}

impl Court {
    fn new() -> Self {
        Self { judge: Judge::new(), start: Instant::now() }
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    fn asked(&self, viewer: u32, first: u64) -> Asked {
        self.judge.asking(viewer, self.at(first), false)
    }

    /// One ask sent at `sent` and answered 10 ms later.
    fn ask(&mut self, viewer: u32, known: Option<Entry>, sent: u64, told: &Told) -> Option<Entry> {
        let asked = self.asked(viewer, sent);
        let span = Span { sent: self.at(sent), got: self.at(sent + 10) };
        self.judge.ask_answered(known, &asked, told, span)
    }

    /// A leave that is answered.
    fn leave(&mut self, known: Option<Entry>, at: Instant) {
        if self.judge.left(known, at).is_some() {
            self.judge.freed(at);
        }
    }

    fn broken(&self) -> Vec<(&'static str, u64)> {
        let all = Promise::ALL.into_iter().map(|promise| (promise.key(), self.judge.times_broken(promise)));
        all.filter(|(_, times)| *times > 0).collect()
    }
}

fn seated(seat: &str) -> Told {
    let (token_life, beat) = (Duration::from_secs(120), Duration::from_secs(5));
    Told::In { seat: seat.to_owned(), token: "t".to_owned(), token_life, beat }
}

fn wait(seat: &str, position: u32) -> Told {
    Told::Wait { seat: seat.to_owned(), position, retry: Duration::from_secs(2) }
}

fn offer(seat: &str) -> Told {
    Told::Offer { seat: seat.to_owned(), left: Duration::from_secs(10), retry: Duration::from_secs(2) }
}

#[test]
fn s3_a_position_that_grows_is_seen() {
    let mut court = Court::new();
    let known = court.ask(0, None, 0, &wait(SEAT, 5));
    let known = court.ask(0, known, 2_000, &wait(SEAT, 4));
    assert_eq!(court.broken(), []);
    court.ask(0, known, 4_000, &wait(SEAT, 6));
    assert_eq!(court.broken(), [("positions_risen", 1)]);
    assert_eq!(court.judge.examples().collect::<Vec<_>>(), ["viewer 0: position 4 became 6"]);
}

#[test]
fn s3_a_place_lost_while_asked_for_is_seen_and_a_silent_one_is_not() {
    let mut court = Court::new();
    let known = court.ask(0, None, 0, &wait(SEAT, 1));
    // 15 s after the last ask was sent it may be gone; the answer came 10 ms before.
    court.ask(0, known, 14_980, &wait("seat-b", 9));
    assert_eq!(court.broken(), [("places_lost", 1)]);

    let mut court = Court::new();
    let known = court.ask(0, None, 0, &wait(SEAT, 1));
    court.ask(0, known, 15_000, &Told::Full { retry: Duration::from_secs(30) });
    assert_eq!(court.broken(), []);
}

#[test]
fn s1_a_kept_seat_that_is_gone_is_seen() {
    let mut court = Court::new();
    let mut entry = court.ask(0, None, 0, &seated(SEAT)).expect("seated");
    let beat = Span { sent: court.at(5_000), got: court.at(5_010) };
    court.judge.beat_kept(&mut entry, false, beat);
    let late = Span { sent: court.at(24_900), got: court.at(24_990) };
    court.judge.gone(Some(entry), 0, late);
    assert_eq!(court.broken(), [("seats_lost", 1)]);
}

#[test]
fn s18_an_unanswered_visible_heartbeat_may_have_ended_the_hidden_minute() {
    let mut court = Court::new();
    let mut entry = court.ask(0, None, 0, &seated(SEAT)).expect("seated");
    let beat = Span { sent: court.at(1_000), got: court.at(1_010) };
    court.judge.beat_kept(&mut entry, true, beat);
    court.judge.unanswered(&mut entry, false, court.at(10_000));
    let gone = Span { sent: court.at(30_000), got: court.at(30_010) };
    court.judge.gone(Some(entry), 0, gone);
    assert_eq!(court.broken(), []);
}

#[test]
fn s5_an_offer_withdrawn_before_its_time_is_seen() {
    let mut court = Court::new();
    let known = court.ask(0, None, 0, &wait(SEAT, 1));
    let known = court.ask(0, known, 2_000, &offer(SEAT));
    court.ask(0, known, 11_900, &wait("seat-b", 1));
    assert_eq!(court.broken(), [("offers_lost", 1)]);

    let mut court = Court::new();
    let known = court.ask(0, None, 0, &wait(SEAT, 1));
    let known = court.ask(0, known, 2_000, &offer(SEAT));
    court.ask(0, known, 12_000, &wait("seat-b", 1));
    assert_eq!(court.broken(), []);
}

#[test]
fn s7_a_later_one_seated_while_an_earlier_one_waits_is_seen() {
    let mut court = Court::new();
    let early = court.ask(0, None, 0, &wait(SEAT, 1));
    court.ask(1, None, 100, &seated("seat-b"));
    court.ask(0, early, 2_000, &wait(SEAT, 1));
    assert_eq!(court.broken(), [("order_broken", 1)]);
}

#[test]
fn s7_asks_under_way_at_once_prove_no_order() {
    let mut court = Court::new();
    // Both asks were under way together: either may have come first.
    let early = court.ask(0, None, 0, &wait(SEAT, 1));
    court.ask(1, None, 5, &seated("seat-b"));
    court.ask(0, early, 2_000, &wait(SEAT, 1));
    assert_eq!(court.broken(), []);

    // The grant was told only after the earlier one had asked again.
    let mut court = Court::new();
    let early = court.ask(0, None, 0, &wait(SEAT, 1));
    let again = court.asked(0, 0);
    court.ask(1, None, 1_995, &seated("seat-b"));
    let span = Span { sent: court.at(2_000), got: court.at(2_010) };
    court.judge.ask_answered(early, &again, &wait(SEAT, 1), span);
    assert_eq!(court.broken(), []);
}

#[test]
fn s6_the_most_in_at_once_counts_only_what_is_proved() {
    let mut court = Court::new();
    let a = court.ask(0, None, 0, &seated("a"));
    let b = court.ask(1, None, 100, &seated("b"));
    // A leaves before C is seated; B crashes and counts until its 20 s are over.
    let leaves = court.at(1_000);
    court.leave(a, leaves);
    let c = court.ask(2, None, 1_000, &seated("c"));
    court.judge.crashed(b);
    let d = court.ask(3, None, 20_099, &seated("d"));
    let end = court.at(20_200);
    for open in [c, d] {
        court.leave(open, end);
    }
    assert_eq!(court.judge.most_in(), 2);
}

#[test]
fn s6_a_crashed_seat_given_away_too_early_shows() {
    let mut court = Court::new();
    let a = court.ask(0, None, 0, &seated("a"));
    court.judge.crashed(a);
    let b = court.ask(1, None, 19_000, &seated("b"));
    let end = court.at(30_000);
    court.leave(b, end);
    assert_eq!(court.judge.most_in(), 2);
}

#[test]
fn s5_the_time_to_an_offer_runs_from_the_seat_that_was_freed_first() {
    let mut court = Court::new();
    let a = court.ask(0, None, 0, &seated("a"));
    let waiting = court.ask(1, None, 100, &wait("b", 1));
    let leaves = court.at(1_000);
    court.leave(a, leaves);
    court.ask(1, waiting, 9_990, &offer("b"));
    assert_eq!((court.judge.offer_told.len(), court.judge.offer_told.count_at(9_000)), (1, 1));
    assert_eq!(court.broken(), []);
}

#[test]
fn s5_a_seat_whose_leave_was_lost_is_free_when_its_silence_is_over() {
    let mut court = Court::new();
    let a = court.ask(0, None, 0, &seated("a"));
    let waiting = court.ask(1, None, 100, &wait("b", 1));
    let leaves = court.at(1_000);
    let free_at = court.judge.left(a, leaves);
    assert_eq!(free_at, Some(court.at(20_000)));
    court.judge.freed(court.at(20_000));
    court.ask(1, waiting, 21_990, &offer("b"));
    assert_eq!((court.judge.offer_told.len(), court.judge.offer_told.count_at(2_000)), (1, 1));
}
