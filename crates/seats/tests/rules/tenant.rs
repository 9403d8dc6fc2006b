//! S13: seats over all of a tenant's streams.

use tidegate_seats::{Answer, Refusal};

use crate::stage::{ASK, Stage, s};

#[test]
fn s13_the_one_too_many_over_all_streams_is_refused() {
    let mut stage = Stage::tenant(2).stream("one", 2, 1).stream("two", 2, 1);
    assert_eq!(stage.ask_each("A two/B C two/D"), ["in", "in", "tenant full", "tenant full"]);
    let Answer::Refused(Refusal::TenantViewerCap(retry)) = stage.answer("C", ASK) else { panic!("refused") };
    assert!(!retry.0.is_zero(), "a refusal says when to come back");
    assert_eq!(stage.house.seats_used(), 2);
    assert_eq!(stage.counts(), "seats 1, queued 0, turns 0", "nothing was stored for C");
}

#[test]
fn s13_offers_and_holds_count_against_the_tenant() {
    let mut stage = Stage::tenant(2).stream("one", 1, 1).stream("two", 2, 1);
    assert_eq!(stage.ask_each("A B two/C"), ["in", "wait 1", "in"]);
    stage.leave("A");
    assert_eq!(stage.ask("two/D"), "tenant full", "B's untold offer holds the seat");
    assert_eq!(stage.ask("B"), "offer 10 s");
    assert_eq!(stage.ask("two/D"), "tenant full", "and so does the told one");
    assert_eq!(stage.house.seats_used(), 2);
}

#[test]
fn s13_a_full_stream_at_the_tenants_cap_still_has_a_line() {
    let mut stage = Stage::tenant(2).stream("one", 1, 1).stream("two", 1, 0);
    assert_eq!(stage.ask_each("A two/B C D two/E"), ["in", "in", "wait 1", "full 30 s", "full 30 s"]);
}

#[test]
fn s13_those_in_line_keep_their_places_and_get_no_offer_meanwhile() {
    let mut stage = Stage::tenant(3).stream("one", 2, 2).stream("two", 1, 1);
    assert_eq!(stage.ask_each("A B two/X C"), ["in", "in", "in", "wait 1"]);
    stage.limit(2);
    stage.leave("B");
    assert_eq!(stage.ask_each("C N"), ["wait 1", "wait 2"], "a free seat of the stream, none of the tenant");
    stage.leave("two/X");
    assert_eq!(stage.ask_each("C N"), ["offer 10 s", "wait 1"]);
}

#[test]
fn s13_a_seat_freed_at_the_tenants_cap_goes_to_the_longest_waiting_head_of_any_stream() {
    let mut stage = two_lines_at_the_cap();
    stage.leave("A");
    assert_eq!(stage.ask_each("C two/D"), ["wait 1", "offer 10 s"], "D came before C");
    assert_eq!(stage.ask("three/N"), "tenant full", "and before any newcomer");
}

#[test]
fn s13_only_a_head_whose_stream_has_a_free_seat_counts() {
    let mut stage = Stage::tenant(2).stream("one", 1, 2).stream("two", 1, 2);
    assert_eq!(stage.ask_each("A two/B two/C D"), ["in", "in", "wait 1", "wait 1"]);
    stage.leave("A");
    assert_eq!(stage.ask_each("two/C D"), ["wait 1", "offer 10 s"], "C came first, but its stream is full");
}

#[test]
fn s13_a_lapsed_offer_at_the_tenants_cap_goes_to_the_longest_waiting_head() {
    let mut stage = two_lines_at_the_cap();
    stage.leave("A");
    assert_eq!(stage.ask_each("two/D"), ["offer 10 s"]);
    stage.pass(s(10));
    assert_eq!(stage.ask_each("two/E C"), ["wait 1", "offer 10 s"], "C came before E");
}

#[test]
fn s13_a_raised_tenant_cap_holds_seats_for_the_longest_waiting() {
    let mut stage = two_lines_at_the_cap();
    stage.limit(3);
    assert_eq!(stage.ask_each("C two/D"), ["wait 1", "in"], "the tenant had one seat over");
    stage.limit(4);
    assert_eq!(stage.ask_each("two/E C"), ["wait 1", "in"]);
}

#[test]
fn s13_a_lowered_tenant_cap_withdraws_untold_turns_and_honours_told_ones() {
    let mut stage = Stage::tenant(4).stream("one", 2, 2).stream("two", 2, 2);
    assert_eq!(stage.ask_each("A B C two/X two/Y two/Z"), ["in", "in", "wait 1", "in", "in", "wait 1"]);
    stage.leave("A");
    stage.leave("two/X");
    assert_eq!(stage.ask("C"), "offer 10 s");
    stage.limit(2);
    assert_eq!(stage.counts_of("two"), "seats 1, queued 1, turns 0");
    assert_eq!(stage.ask("two/Z"), "wait 1");
    assert_eq!(stage.join("C"), "in");
    assert_eq!(stage.house.seats_used(), 3, "over the lowered cap, as promised to C");
}

#[test]
fn s13_an_ended_stream_frees_seats_for_the_others() {
    let mut stage = two_lines_at_the_cap();
    stage.end("three");
    assert_eq!(stage.ask_each("C two/D"), ["wait 1", "offer 10 s"]);
}

/// The tenant is full with A of `one` and B of `three`. In line, in order of coming: D of `two`, C of `one`, E of
/// `two`; each stream has a seat over, which the tenant has not.
fn two_lines_at_the_cap() -> Stage {
    let mut stage = Stage::tenant(5).stream("one", 2, 3).stream("two", 2, 3).stream("three", 2, 3);
    assert_eq!(stage.ask_each("A F two/X two/Y three/B"), ["in", "in", "in", "in", "in"]);
    assert_eq!(stage.ask_each("two/D C two/E"), ["wait 1", "wait 1", "wait 2"]);
    stage.limit(2);
    for page in ["F", "two/X", "two/Y"] {
        stage.leave(page);
    }
    assert_eq!(stage.house.seats_used(), 2);
    assert_eq!(stage.ask_each("two/D C two/E"), ["wait 1", "wait 1", "wait 2"]);
    stage
}
