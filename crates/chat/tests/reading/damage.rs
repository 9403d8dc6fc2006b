//! Whatever is cut off, changed or thrown in: nothing panics, and one broken item costs only itself (C7).

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use tidegate_chat::event::Kind;
use tidegate_chat::youtube::{
    Fetched, Name, PageAnswer, Region, Resolver, Token, View, read_action, read_amount, read_page, read_poll,
};

use crate::fixtures;
use crate::made::{batch, poll, said, text};

static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(fixtures::all);
static ACTIONS: LazyLock<Vec<Value>> = LazyLock::new(actions);

/// A few actions of each capture.
fn actions() -> Vec<Value> {
    let mut actions = Vec::new();
    for (name, bytes) in FILES.iter() {
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else { continue };
        let chat = value.pointer("/continuationContents/liveChatContinuation/actions").and_then(Value::as_array);
        match chat {
            Some(list) => actions.extend(list.iter().take(3).cloned()),
            None if name.contains("Action") && value.get("response").is_none() => actions.push(value),
            None => {}
        }
    }
    assert!(actions.len() > 30);
    actions
}

/// Changes one value somewhere inside: takes it away, or puts something of another type in its place.
fn damage(value: &mut Value, path: &[Index], with: &Value) {
    let step = |length: usize| path.first().map(|index| index.index(length));
    match value {
        Value::Object(map) if !map.is_empty() && !path.is_empty() => {
            let key = map.keys().nth(step(map.len()).unwrap()).unwrap().clone();
            if path.len() == 1 && with.is_null() {
                map.remove(&key);
            } else {
                damage(&mut map[&key], &path[1..], with);
            }
        }
        Value::Array(list) if !list.is_empty() && !path.is_empty() => {
            let index = step(list.len()).unwrap();
            damage(&mut list[index], &path[1..], with);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            *value = with.clone();
        }
    }
}

fn something() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!(u64::MAX)),
        Just(json!("")),
        Just(json!("\u{202e}½٣")),
        Just(json!([null, [], {"text": {"runs": {}}}, "x"])),
        Just(json!({"runs": [{"emoji": {"image": []}}, {"text": {}}]})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn c7_one_damaged_action_costs_no_other(
        which: Index,
        path in proptest::collection::vec(any::<Index>(), 1..12),
        with in something(),
    ) {
        let mut action = which.get(&ACTIONS).clone();
        damage(&mut action, &path, &with);
        let batch = batch(&poll(&[text("a", &json!([{"text": "before"}])), action.clone(), text("c", &json!([{"text": "after"}]))]));
        let found = said(&batch.events);
        prop_assert_eq!(found.first().map(String::as_str), Some("before"));
        prop_assert_eq!(found.last().map(String::as_str), Some("after"));
        for event in &batch.events {
            let line = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<tidegate_chat::event::Event>(&line).unwrap(), event);
        }
        prop_assert_eq!(batch.events.len(), 2 + read_action(&action, Region::default()).len());
    }

    #[test]
    fn any_json_is_decoded_or_refused(which: Index, path in proptest::collection::vec(any::<Index>(), 1..12), with in something()) {
        let (_, bytes) = which.get(&FILES);
        if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
            damage(&mut value, &path, &with);
            prop_assert!(tidegate_chat::decode(value.to_string().as_bytes(), Region::Unknown).is_ok());
        }
    }

    #[test]
    fn captures_cut_off_or_with_bytes_changed_never_panic(
        which: Index,
        cut: Index,
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..4),
        status in prop_oneof![Just(200_u16), Just(302), Just(400), Just(403), Just(404), Just(429), Just(503)],
    ) {
        let (_, bytes) = which.get(&FILES);
        let mut bytes = bytes[..=cut.index(bytes.len())].to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let fetched = Fetched { status, location: None, body: &bytes };
        let _ = (read_poll(&fetched), tidegate_chat::decode(&bytes, Region::Unknown));
        let page = read_page(&fetched);
        let _ = Resolver::new().handle_page(&page, 0);
        if let PageAnswer::Watch(page) = page {
            let _ = page.chat.map(|chat| chat.token(View::All));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let fetched = Fetched::ok(&bytes);
        let _ = (read_page(&fetched), read_poll(&fetched), tidegate_chat::decode(&bytes, Region::Unknown));
    }

    #[test]
    fn any_text_is_an_amount_a_name_and_a_token_or_none(words in "\\PC{0,40}", digits in "[$€¥٣1-9.,' ]{0,12}") {
        let _ = Name::parse(&words);
        let _ = Token::new(&words).and_then(|token| token.with_view(View::Top));
        for amount in [words, digits] {
            prop_assert_eq!(read_amount(&amount, Region::UnitedStates).text, amount);
        }
    }

    #[test]
    fn c7_whole_amounts_come_back_in_every_grouping(minor in 0_i64..100_000_000_000, style in 0_usize..4) {
        let (group, point) = [(",", "."), (".", ","), ("\u{a0}", ","), ("’", ".")][style];
        let (whole, cents) = (minor / 100, minor % 100);
        let digits = whole.to_string();
        let first = match digits.len() % 3 { 0 => 3, rest => rest };
        let mut shown = digits[..first].to_owned();
        for start in (first..digits.len()).step_by(3) {
            shown = format!("{shown}{group}{}", &digits[start..start + 3]);
        }
        let amount = read_amount(&format!("€{shown}{point}{cents:02}"), Region::Unknown);
        prop_assert_eq!(amount.money.map(|money| (money.currency, money.minor)), Some(("EUR".to_owned(), minor)));
    }
}

#[test]
fn a_page_made_to_be_slow_costs_no_more_than_its_length() {
    // Each would cost its length for every start in it, which is minutes, were starts not bounded or passed over.
    let list = r#"<script>ytInitialData={"contents":{"twoColumnBrowseResultsRenderer":{}}}</script>"#;
    for unit in ["<script>ytInitialData={\"a\":\"", "<script>ytcfg.set({'a", "ytytytyt", "<link ", "\\ud83d"] {
        let page = format!("{list}{}", unit.repeat((1 << 20) / unit.len()));
        assert!(matches!(read_page(&Fetched::ok(page.as_bytes())), PageAnswer::Channel(_)), "{unit}");
    }
}

#[test]
fn c7_nothing_at_all_in_a_replays_moment_is_one_unreadable_event() {
    let events =
        batch(&poll(&[json!({"replayChatItemAction": {"actions": [null], "videoOffsetTimeMsec": "10000"}})])).events;
    let line = serde_json::to_string(&events).unwrap();
    assert_eq!(line, r#"[{"schema":1,"kind":"unknown","raw_kind":"action","reason":"unreadable","offset_ms":10000}]"#);
}

#[test]
fn c7_a_batch_of_one_kind_of_damage_keeps_its_length() {
    let actions: Vec<Value> = (0..200)
        .map(|n| if n % 2 == 0 { json!({"addChatItemAction": null}) } else { text("x", &json!([{"text": "y"}])) })
        .collect();
    let events = batch(&poll(&actions)).events;
    assert_eq!(events.len(), 200);
    assert_eq!(events.iter().filter(|event| matches!(event.kind, Kind::Message(_))).count(), 100);
}
