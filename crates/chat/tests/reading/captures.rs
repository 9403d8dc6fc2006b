//! Issue: all captures parse, with kinds and counts as listed, and nothing that the facts name is `unknown`.

use std::collections::BTreeMap;
use std::fmt::Write;

use tidegate_chat::event::{Event, Kind, SCHEMA};
use tidegate_chat::youtube::{PollAnswer, Region, read_poll_json};

use crate::fixtures;

#[test]
fn c7_every_capture_has_the_kinds_and_counts_that_are_listed() {
    let mut table = String::new();
    for (name, bytes) in fixtures::all() {
        let events =
            tidegate_chat::decode(&bytes, Region::UnitedStates).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for event in &events {
            assert_eq!(event.schema, SCHEMA);
            assert!(!matches!(event.kind, Kind::Unknown(_)), "{name}: {event:?}");
            *counts.entry(event.kind.name()).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        writeln!(table, "{name}: {}", counts.join(", ")).unwrap();
    }
    insta::assert_snapshot!("kinds", table);
}

#[test]
fn c14_a_capture_becomes_one_json_event_a_line() {
    let mut lines = String::new();
    for (name, bytes) in fixtures::all() {
        // Long replays of one and the same message say nothing that the short ones do not.
        if bytes.len() > 30_000 {
            continue;
        }
        writeln!(lines, "# {name}").unwrap();
        for event in tidegate_chat::decode(&bytes, Region::UnitedStates).unwrap() {
            let line = serde_json::to_string(&event).unwrap();
            assert!(!line.contains(['\n', '\r']), "one line, for SSE too");
            let back: Event = serde_json::from_str(&line).unwrap();
            assert_eq!(back, event, "the schema reads what it writes");
            writeln!(lines, "{line}").unwrap();
        }
    }
    insta::assert_snapshot!("lines", lines);
}

#[test]
fn c7_ids_and_times_are_the_upstreams_own() {
    let sticker = fixtures::one("agash-ytlivechat/SuperChatTestData.PaidStickerWithMemberBadge.json");
    assert_eq!(sticker.id.as_deref(), Some("ChwKGkNPeVE2X19SNkpNREZRWER3Z1FkWlNJYUVR"));
    assert_eq!(sticker.at_us, Some(1_776_008_178_412_469));
    let mut mode = fixtures::one("agash-ytlivechat/ActionTestData.ModeChangeMessageRenderer.json");
    assert_eq!(mode.at_us, None, "its time is no number");
    mode.fill_time(7);
    assert_eq!(mode.at_us, Some(7));
    mode.fill_time(8);
    assert_eq!(mode.at_us, Some(7));
}

#[test]
fn c13_a_finished_streams_answer_is_a_replay_and_a_live_ones_is_not() {
    for (name, is_replay) in [
        ("pytchat/default/replay_member_text.json", true),
        ("pytchat/calculator/superchat_0.json", true),
        ("pytchat/default/superchat.json", false),
        ("linatsukusu-youtube-chat/get_live_chat.normal.json", false),
    ] {
        let PollAnswer::Batch(batch) = read_poll_json(&fixtures::json(name), Region::default()) else {
            panic!("{name}")
        };
        assert_eq!(batch.is_replay, is_replay, "{name}");
    }
    let offset = fixtures::one("pytchat/default/replay_member_text.json").offset_ms;
    assert_eq!(offset, Some(5_025_120));
}
