//! Public reports of chat readers, each with the smallest input that shows the fault, by its number in `REPORTS.md`.
//! What a report says of the room rather than of reading is tested with the room.

use serde_json::{Value, json};
use tidegate_chat::event::{Emoji, Event, GiftKind, Kind, Run, Step, StreamState, UnknownReason};
use tidegate_chat::youtube::{
    ContinuationKind, Fetched, Over, PageAnswer, PollAnswer, Region, Throttle, Trouble, View, read_page, read_poll_json,
};

use crate::fixtures;
use crate::made::{
    CHANNEL, add, answer, batch, chat_bar, closed_bar, data, events, live_player, player, poll, read, said, text,
    token, watch,
};

/// One message whose only run is this emoji, with one before and one after.
fn around(emoji: &Value) -> Vec<Event> {
    let runs = json!([{ "emoji": emoji }]);
    events(&[text("a", &json!([{"text": "before"}])), text("b", &runs), text("c", &json!([{"text": "after"}]))])
}

fn emoji_of(event: &Event) -> Emoji {
    let Kind::Message(message) = &event.kind else { panic!("{event:?}") };
    let [Run::Emoji(emoji)] = message.words.runs.as_slice() else { panic!("{message:?}") };
    emoji.clone()
}

fn paid(id: &str, message: Option<&str>) -> Value {
    let mut renderer =
        json!({"id": id, "authorName": {"simpleText": "@ann"}, "purchaseAmountText": {"simpleText": "$5.00"}});
    if let Some(message) = message {
        renderer["message"] = json!({"runs": [{"text": message}]});
    }
    json!({ "liveChatPaidMessageRenderer": renderer })
}

fn gift(id: Option<&str>) -> Value {
    let header = json!({"authorName": {"simpleText": "@ann"}, "primaryText": {"runs": [{"text": "Sent "}, {"text": "5"}, {"text": " gift memberships"}]}});
    let mut renderer =
        json!({"header": {"liveChatSponsorshipsHeaderRenderer": header}, "authorExternalChannelId": CHANNEL});
    if let Some(id) = id {
        renderer["id"] = id.into();
    }
    json!({ "liveChatSponsorshipsGiftPurchaseAnnouncementRenderer": renderer })
}

fn ticker(id: &str, chip: &str, item: &Value) -> Value {
    let chip = json!({chip: {"id": id, "durationSec": 60, "showItemEndpoint": {"showLiveChatItemEndpoint": {"renderer": item}}}});
    json!({"addLiveChatTickerItemAction": {"item": chip, "durationSec": "60"}})
}

#[test]
fn report_1_a_skin_tone_emoji_loses_no_batch() {
    let events = around(&json!({"emojiId": "🙌🏾", "image": {"thumbnails": [{"url": "u"}]}}));
    assert_eq!(said(&events), ["before", "🙌🏾", "after"]);
    let expected = Emoji { id: "🙌🏾".to_owned(), url: Some("u".to_owned()), ..Emoji::default() };
    assert_eq!(emoji_of(&events[1]), expected);
}

#[test]
fn report_2_a_normal_message_after_such_an_emoji_comes_in_the_same_batch() {
    let runs = json!([{"text": "so "}, {"emoji": {"emojiId": "🙌🏾", "image": {"thumbnails": [{"url": "u"}]}}}]);
    assert_eq!(said(&events(&[text("a", &runs), text("b", &json!([{"text": "normal"}]))])), ["so 🙌🏾", "normal"]);
}

#[test]
fn report_4_chat_goes_on_after_an_emoji_without_size_and_shortcuts() {
    let emoji = json!({"emojiId": "🆘", "image": {"thumbnails": [{"url": "https://www.youtube.com/s/gaming/emoji/1/emoji_u1f198.svg"}]}});
    assert_eq!(said(&around(&emoji)), ["before", "🆘", "after"]);
}

#[test]
fn report_5_an_emoji_without_the_custom_flag_is_told_by_its_id() {
    let standard = around(&json!({"emojiId": "🥳", "shortcuts": [":p:"], "image": {"thumbnails": [{"url": "u"}]}}));
    assert!(!emoji_of(&standard[1]).custom);
    assert_eq!(said(&standard)[1], "🥳");
    let custom =
        around(&json!({"emojiId": "UCabc/KsIf", "shortcuts": [":_wave:"], "image": {"thumbnails": [{"url": "u"}]}}));
    assert!(emoji_of(&custom[1]).custom);
    assert_eq!(said(&custom)[1], ":_wave:");
}

#[test]
fn report_7_a_custom_emoji_is_its_shortcut_in_text_never_its_id() {
    let emoji = json!({"emojiId": "UCabc/KsIf", "shortcuts": [":_wave:", ":wave:"], "isCustomEmoji": true, "image": {"thumbnails": [{"url": "//x/small"}, {"url": "//x/large"}], "accessibility": {"accessibilityData": {"label": "wave"}}}});
    let events = around(&emoji);
    assert_eq!(said(&events)[1], ":_wave:");
    let expected = Emoji {
        id: "UCabc/KsIf".to_owned(),
        custom: true,
        shortcut: Some(":_wave:".to_owned()),
        url: Some("https://x/large".to_owned()),
        alt: Some("wave".to_owned()),
    };
    assert_eq!(emoji_of(&events[1]), expected);
}

#[test]
fn report_8_an_emoji_whose_image_is_withheld_keeps_its_text() {
    for image in [json!({}), json!({"thumbnails": []}), json!(null)] {
        let events = around(&json!({"emojiId": "🏳️‍🌈", "shortcuts": [":f:"], "image": image}));
        assert_eq!(said(&events), ["before", "🏳️‍🌈", "after"]);
        assert_eq!(emoji_of(&events[1]).url, None);
    }
    let custom = around(&json!({"emojiId": "UCabc/x", "shortcuts": [":_f:"], "isCustomEmoji": true, "image": {}}));
    assert_eq!(said(&custom)[1], ":_f:");
}

#[test]
fn report_10_an_unknown_renderer_kills_nothing() {
    for name in ["liveChatPurchasedProductMessageRenderer", "liveChatProductItemRenderer", "liveChatRendererOfNextYear"]
    {
        let events = events(&[
            text("a", &json!([{"text": "before"}])),
            add(&json!({name: {"id": "p", "timestampUsec": "1776004576422639"}})),
            text("c", &json!([{"text": "after"}])),
        ]);
        assert_eq!(said(&events), ["before", "<unknown>", "after"]);
        let Kind::Unknown(unknown) = &events[1].kind else { panic!() };
        assert_eq!((unknown.raw_kind.as_str(), unknown.reason), (name, UnknownReason::UnknownKind));
        assert_eq!(events[1].id.as_deref(), Some("p"));
    }
}

#[test]
fn report_11_gifts_are_seen_and_their_tickers_are_copies() {
    let events = events(&[
        add(&gift(Some("g"))),
        ticker("g", "liveChatTickerSponsorItemRenderer", &gift(None)),
        add(&paid("p", None)),
        ticker("p", "liveChatTickerPaidMessageItemRenderer", &paid("p", None)),
    ]);
    assert_eq!(said(&events), ["<gift>", "<ticker>", "<paid>", "<ticker>"]);
    let Kind::Gift(gift) = &events[0].kind else { panic!() };
    assert_eq!((gift.gift, gift.count, gift.author.name.as_deref()), (GiftKind::Memberships, Some(5), Some("@ann")));
    assert_eq!(gift.author.channel_id.as_deref(), Some(CHANNEL));
    for (row, chip) in [(0, 1), (2, 3)] {
        assert_eq!(events[chip].id, events[row].id);
        let Kind::Ticker(ticker) = &events[chip].kind else { panic!() };
        let copy = ticker.item.as_deref().unwrap();
        assert_eq!((copy.id.as_deref(), &copy.kind), (events[row].id.as_deref(), &events[row].kind));
        assert_eq!((ticker.duration_s, &ticker.amount), (Some(60), &None), "nothing that could be counted twice");
    }
}

#[test]
fn report_13_a_paid_message_without_words_has_none() {
    let events = events(&[add(&paid("p", None))]);
    let Kind::Paid(paid) = &events[0].kind else { panic!() };
    assert!(paid.words.is_empty());
    assert_eq!(paid.amount.money.as_ref().map(|money| (money.currency.as_str(), money.minor)), Some(("USD", 500)));
    assert!(!serde_json::to_string(&events[0]).unwrap().contains(r#""runs""#));
}

#[test]
fn report_14_paid_rows_in_the_middle_cost_no_row_behind_them() {
    let mut actions = vec![text("a", &json!([{"text": "1"}]))];
    for n in 0..5 {
        actions.push(add(&paid(&format!("p{n}"), Some("paid"))));
        actions.push(ticker(&format!("p{n}"), "liveChatTickerPaidMessageItemRenderer", &paid(&format!("p{n}"), None)));
    }
    actions.push(text("b", &json!([{"text": "2"}])));
    let found = said(&events(&actions));
    assert_eq!((found.len(), found[0].as_str(), found[11].as_str()), (12, "1", "2"));
    assert_eq!(found.iter().filter(|what| *what == "<paid>").count(), 5);
}

#[test]
fn report_16_a_page_without_a_chat_is_a_state_not_a_crash() {
    let over = player(&json!({"status": "OK"}), &json!({"isLiveContent": true}), &json!(null));
    for bar in [json!(null), json!({}), closed_bar()] {
        let page = watch(&over, &data(&bar));
        assert_eq!((page.state, page.chat), (StreamState::Ended, None));
    }
}

#[test]
fn report_17_the_consent_page_is_seen_by_its_redirect() {
    let location = "https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3Dx&gl=DE&m=0&pc=yt&hl=de&src=1";
    for status in [302, 303] {
        let page = read_page(&Fetched { status, location: Some(location), body: b"<html>moved" });
        assert_eq!(page, PageAnswer::Trouble(Trouble::Consent));
    }
}

#[test]
fn report_19_the_consent_page_is_seen_in_either_layout_of_its_form() {
    for html in [
        r#"<html><body><form action="https://consent.youtube.com/s" method="POST"><input name="v" value="1"><button>Ich stimme zu</button></form></body></html>"#,
        r#"<html><script>var d={};</script><div><form action="https://consent.youtube.com/save"><input type="hidden" name="set_eom" value="true"></form><form action="https://consent.youtube.com/save"></form></div></html>"#,
    ] {
        assert_eq!(read_page(&Fetched::ok(html.as_bytes())), PageAnswer::Trouble(Trouble::Consent));
    }
}

#[test]
fn report_20_one_answer_without_continuations_is_no_end_yet() {
    let mut answer = poll(&[text("a", &json!([{"text": "still here"}]))]);
    answer["continuationContents"]["liveChatContinuation"].as_object_mut().unwrap().remove("continuations");
    let batch = batch(&answer);
    assert_eq!((said(&batch.events), batch.next), (vec!["still here".to_owned()], None));
}

#[test]
fn report_22_stub_tokens_of_the_menu_are_not_used() {
    let PageAnswer::Watch(page) = read_page(&Fetched::ok(&fixtures::bytes("slim-pages/live.html"))) else { panic!() };
    let chat = page.chat.unwrap();
    for view in [View::Top, View::All] {
        let (token, _) = chat.token(view);
        assert!(token.names_video() && token.as_str().len() > 100, "{token}");
    }
}

#[test]
fn report_23_all_chat_is_the_native_token_with_its_type_rewritten_not_one_made_up() {
    let page = watch(&live_player(), &data(&chat_bar(&json!({}))));
    assert_eq!(page.chat.unwrap().token(View::All), (token(View::All), View::All));
    let blind = json!({"continuationContents": {"liveChatContinuation": {"continuations": [{"timedContinuationData": {"timeoutMs": 5_000, "continuation": "t"}}]}}});
    assert!(batch(&blind).events.is_empty(), "and one without rows is seen to be one");
}

#[test]
fn report_25_a_milestone_without_a_message_is_a_milestone() {
    let renderer = json!({"id": "m", "empty": true, "headerPrimaryText": {"runs": [{"text": "Member for "}, {"text": "27"}, {"text": " months"}]}, "headerSubtext": {"simpleText": "The Club"}});
    let events = events(&[add(&json!({"liveChatMembershipItemRenderer": renderer}))]);
    let Kind::Membership(membership) = &events[0].kind else { panic!() };
    assert_eq!((membership.step, membership.months, membership.words.is_empty()), (Step::Milestone, Some(27), true));
}

#[test]
fn report_26_the_chat_of_a_finished_stream_is_a_replay() {
    let over = player(
        &json!({"status": "OK"}),
        &json!({"isLiveContent": true}),
        &json!({"endTimestamp": "2026-01-01T00:00:00+00:00"}),
    );
    let page = watch(&over, &data(&chat_bar(&json!({"isReplay": true}))));
    assert_eq!((page.state, page.chat.unwrap().is_replay), (StreamState::Ended, true));
    assert!(batch(&json!({"contents": {"liveChatRenderer": {"isReplay": true}}})).is_replay);
}

#[test]
fn report_28_a_bar_without_a_chat_is_a_chat_that_is_off() {
    let page = watch(&live_player(), &data(&closed_bar()));
    assert_eq!((page.state, page.chat), (StreamState::ChatDisabled, None));
}

#[test]
fn report_29_a_live_video_whose_bar_is_missing_is_not_called_chatless() {
    let PageAnswer::Trouble(trouble) = read(&live_player(), &json!({"contents": {}})) else { panic!() };
    assert_eq!(trouble, Trouble::Changed { what: "no conversationBar beside a live video" });
}

#[test]
fn report_31_a_refused_token_is_no_empty_list() {
    let body = r#"{"error":{"code":400,"message":"Request contains an invalid argument.","errors":[{"message":"Request contains an invalid argument.","domain":"global","reason":"badRequest"}],"status":"INVALID_ARGUMENT"}}"#;
    assert_eq!(answer(400, body), PollAnswer::Trouble(Trouble::Expired));
}

#[test]
fn report_32_an_empty_first_answer_of_a_live_stream_is_live() {
    let empty = json!({"continuationContents": {"liveChatContinuation": {"continuations": [{"invalidationContinuationData": {"timeoutMs": 10_000, "continuation": "next"}}]}}});
    let batch = batch(&empty);
    assert_eq!((batch.events.len(), batch.is_replay), (0, false));
    assert_eq!(batch.next.unwrap().kind, ContinuationKind::Invalidation);
}

#[test]
fn report_34_a_page_in_place_of_the_endpoint_means_that_it_changed_not_that_the_video_is_gone() {
    let html = "<html><title>Error 404 (Not Found)!!1</title>";
    assert_eq!(answer(404, html), PollAnswer::Trouble(Trouble::Changed { what: "get_live_chat is gone" }));
}

#[test]
fn report_35_one_failure_is_told_as_a_passing_one() {
    for status in [500, 502, 503, 504] {
        assert_eq!(answer(status, "<html>error"), PollAnswer::Trouble(Trouble::Unavailable { status }));
    }
}

#[test]
fn report_37_a_429_with_a_page_for_a_body_is_a_throttle() {
    let throttled = Trouble::Throttled { by: Throttle::Status(429), retry_after: None };
    let html = "<html><head><title>429</title></head><body>Our systems have detected unusual traffic</body></html>";
    assert_eq!(answer(429, html), PollAnswer::Trouble(throttled.clone()));
    let page = read_page(&Fetched { status: 429, location: None, body: html.as_bytes() });
    assert_eq!(page, PageAnswer::Trouble(throttled));
}

#[test]
fn report_38_a_403_says_whether_it_is_this_video_or_all() {
    let denied =
        r#"{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}"#;
    assert_eq!(answer(403, denied), PollAnswer::Trouble(Trouble::Denied));
    let PollAnswer::Trouble(blocked) = answer(403, "<html>403") else { panic!() };
    assert!(blocked.is_throttle());
}

#[test]
fn report_40_a_deletion_names_the_row_that_came_before() {
    let rows = events(&[
        text("a", &json!([{"text": "x"}])),
        json!({"clickTrackingParams": "CA", "removeChatItemAction": {"targetItemId": "a"}}),
    ]);
    let Kind::Removed(removed) = &rows[1].kind else { panic!() };
    assert_eq!(rows[0].id.as_ref(), Some(&removed.target_id));
}

#[test]
fn report_41_an_author_is_the_channel_whatever_the_name_says() {
    let mut renamed = text("b", &json!([{"text": "2"}]));
    renamed["addChatItemAction"]["item"]["liveChatTextMessageRenderer"]["authorName"]["simpleText"] = "Ann Bee".into();
    let mut nameless = text("c", &json!([{"text": "3"}]));
    nameless["addChatItemAction"]["item"]["liveChatTextMessageRenderer"].as_object_mut().unwrap().remove("authorName");
    let authors: Vec<_> = events(&[text("a", &json!([{"text": "1"}])), renamed, nameless])
        .into_iter()
        .map(|event| match event.kind {
            Kind::Message(message) => (message.author.channel_id.unwrap(), message.author.name),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(authors.iter().all(|(channel, _)| channel == CHANNEL));
    let names: Vec<_> = authors.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, [Some("@ann".to_owned()), Some("Ann Bee".to_owned()), None]);
}

#[test]
fn report_47_a_backlog_that_is_repeated_has_the_ids_it_had() {
    let first = poll(&[text("a", &json!([{"text": "1"}])), text("b", &json!([{"text": "2"}]))]);
    let ids = |answer: &Value| batch(answer).events.into_iter().map(|event| event.id.unwrap()).collect::<Vec<_>>();
    let reload = json!({"contents": {"liveChatRenderer": first["continuationContents"]["liveChatContinuation"]}});
    assert_eq!(ids(&first), ids(&reload));
}

#[test]
fn report_52_right_to_left_text_is_not_touched() {
    for words in
        ["شباب!", "\u{202b}שלום (world)!\u{202c}", "\u{2067}مرحبا\u{2069} @Ann", "👩‍👩‍👧‍👦\u{fe0f}", "a\u{200b}b\u{2028}c"]
    {
        let events = events(&[text("a", &json!([{ "text": words }]))]);
        assert_eq!(said(&events), [words]);
        let json = serde_json::to_string(&events[0]).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), events[0]);
    }
}

#[test]
fn report_53_a_private_stream_is_not_called_chatless() {
    let private =
        player(&json!({"status": "LOGIN_REQUIRED", "reason": "This video is private"}), &json!({}), &json!(null));
    assert_eq!(watch(&private, &data(&closed_bar())).state, StreamState::Private);
    let message = json!({"responseContext": {}, "contents": {"messageRenderer": {"text": {"runs": [{"text": "Chat is disabled for this live stream."}]}}}});
    let words = Over::Message("Chat is disabled for this live stream.".to_owned());
    assert_eq!(
        read_poll_json(&message, Region::default()),
        PollAnswer::Over(words),
        "asked again before it is told (C6)"
    );
}

#[test]
fn report_55_the_chat_is_found_in_either_place() {
    let chat = poll(&[text("a", &json!([{"text": "hello"}]))])["continuationContents"]["liveChatContinuation"].clone();
    for answer in [
        json!({"continuationContents": {"liveChatContinuation": chat}}),
        json!({"contents": {"liveChatRenderer": chat}}),
        json!({"contents": {"liveChatContinuation": chat}}),
        json!({"response": {"continuationContents": {"liveChatContinuation": chat}}}),
    ] {
        let batch = batch(&answer);
        assert_eq!((said(&batch.events), batch.next.is_some()), (vec!["hello".to_owned()], true));
    }
}
