//! Polls: what an answer is, by the gate's rules, and what is in it.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_chat::event::{About, BannerChange, BannerKind, Event, Kind, ModeKind, Step, UnknownReason};
use tidegate_chat::youtube::{
    Fetched, Over, PollAnswer, Region, Throttle, Trouble, read_action, read_poll, read_poll_json,
};

use crate::fixtures;
use crate::made::{add, answer, batch, events, poll, said, text};

fn trouble(status: u16, body: &str) -> Trouble {
    match answer(status, body) {
        PollAnswer::Trouble(trouble) => trouble,
        other => panic!("{status} {body}: {other:?}"),
    }
}

fn error(code: u16, status: &str, message: &str) -> String {
    let errors = json!([{"message": message, "domain": "global", "reason": "badRequest"}]);
    json!({"error": {"code": code, "message": message, "errors": errors, "status": status}}).to_string()
}

fn throttled(by: Throttle) -> Trouble {
    Trouble::Throttled { by, retry_after: None }
}

fn event(action: &Value) -> Event {
    let mut events = read_action(action, Region::UnitedStates);
    assert_eq!(events.len(), 1, "{action}");
    events.remove(0)
}

#[test]
fn g9_429_and_403_are_throttles_whatever_the_body() {
    for body in ["", "<html><body>Too many</body></html>", "{}", r#"{"error":"x"}"#] {
        assert_eq!(trouble(429, body), throttled(Throttle::Status(429)));
        assert_eq!(trouble(403, body), throttled(Throttle::Status(403)));
    }
    assert_eq!(trouble(429, &error(429, "UNKNOWN", "x")), throttled(Throttle::Quota));
    assert_eq!(trouble(403, &error(403, "FORBIDDEN", "x")), throttled(Throttle::Status(403)));
}

#[test]
fn g10_a_quota_error_is_a_throttle_under_any_status_below_500() {
    for status in [200, 400, 403, 404, 429] {
        for body in [
            error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
            error(429, "", ""),
            error(400, "INVALID_ARGUMENT", "Quota exceeded for quota metric"),
            error(400, "X", "Too Many Requests"),
            json!({"error": {"code": 403, "errors": [{"reason": "rateLimitExceeded"}]}}).to_string(),
            json!([{"error": {"status": "RESOURCE_EXHAUSTED"}}]).to_string(),
        ] {
            assert_eq!(trouble(status, &body), throttled(Throttle::Quota), "{status} {body}");
        }
    }
    assert_eq!(trouble(500, &error(429, "RESOURCE_EXHAUSTED", "quota")), Trouble::Unavailable { status: 500 });
}

#[test]
fn g10_the_bodys_own_delay_is_kept_as_a_fallback() {
    for (delay, expected) in
        [("30s", Some(30_000)), ("1.5s", Some(1_500)), ("0s", None), ("-1s", None), ("soon", None), ("1e999s", None)]
    {
        let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
        let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}).to_string();
        let retry_after = expected.map(Duration::from_millis);
        assert_eq!(trouble(200, &body), Trouble::Throttled { by: Throttle::Quota, retry_after }, "{delay}");
    }
}

#[test]
fn g11_any_other_error_object_means_a_token_that_is_no_longer_good() {
    for (status, body) in [
        (400, error(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")),
        (400, error(400, "FAILED_PRECONDITION", "Precondition check failed.")),
        (200, error(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")),
        (200, error(500, "INTERNAL", "x")),
        (200, r#"{"error":{}}"#.to_owned()),
        (200, json!({"responseContext": {"errors": {"error": [{"domain": "gdata.CoreErrorDomain", "code": "INVALID_VALUE", "location": "continuation"}]}}}).to_string()),
    ] {
        assert_eq!(trouble(status, &body), Trouble::Expired, "{status} {body}");
    }
}

#[test]
fn g11b_one_video_may_be_gone_without_a_throttle() {
    assert_eq!(trouble(403, &error(403, "PERMISSION_DENIED", "The caller does not have permission")), Trouble::Denied);
    assert_eq!(trouble(404, &error(404, "NOT_FOUND", "Requested entity was not found.")), Trouble::Gone);
    assert_eq!(trouble(401, &error(401, "UNAUTHENTICATED", "x")), Trouble::SignIn);
    assert!(!Trouble::Denied.is_throttle() && throttled(Throttle::Captcha).is_throttle());
}

#[test]
fn what_breaks_on_the_way_is_told_from_what_the_upstream_says() {
    assert_eq!(trouble(503, &error(503, "UNAVAILABLE", "x")), Trouble::Unavailable { status: 503 });
    assert_eq!(trouble(502, "<html>"), Trouble::Unavailable { status: 502 });
    let whole = poll(&[text("a", &json!([{"text": "a"}]))]).to_string();
    assert_eq!(trouble(200, &whole[..whole.len() - 1]), Trouble::Garbled, "the same token gives the same window again");
    assert_eq!(trouble(200, ""), Trouble::Garbled);
    assert_eq!(trouble(200, "<html>hello"), Trouble::Changed { what: "a page without data" });
    assert_eq!(trouble(200, "{}"), Trouble::Changed { what: "no chat in the answer" });
    assert_eq!(trouble(200, "[1]"), Trouble::Changed { what: "no chat in the answer" });
    assert_eq!(trouble(418, ""), Trouble::Changed { what: "an unexpected HTTP status" });
    let sorry = Fetched { status: 302, location: Some("https://www.google.com/sorry/index"), body: b"" };
    assert_eq!(read_poll(&sorry), PollAnswer::Trouble(throttled(Throttle::Captcha)));
}

#[test]
fn c6_the_ways_of_saying_that_a_chat_is_over() {
    let over = |name: &str| match read_poll_json(&fixtures::json(name), Region::default()) {
        PollAnswer::Over(over) => over,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(over("pytchat/finished_live.json"), Over::NoContents);
    assert_eq!(over("pytchat/calculator/replay_end.json"), Over::ReplayEnd);
    let words = json!({"responseContext": {}, "contents": {"messageRenderer": {"text": {"runs": [{"text": "Chat ist aus."}]}}}});
    assert_eq!(read_poll_json(&words, Region::default()), PollAnswer::Over(Over::Message("Chat ist aus.".to_owned())));
}

#[test]
fn every_kind_of_continuation_in_the_captures_is_read() {
    for (name, token, hint) in [
        ("linatsukusu-youtube-chat/get_live_chat.normal.json", "test-continuation:01", Some(10_000)),
        ("pytchat/chat.json", "continuation", Some(10_000)),
        ("pytchat/default/replay_member_text.json", "___continuation___", None),
    ] {
        let next = batch(&fixtures::json(name)).next.unwrap();
        assert_eq!((next.token.as_str(), next.hint), (token, hint.map(Duration::from_millis)), "{name}");
    }
}

#[test]
fn c7_an_action_without_its_only_needed_field_is_unreadable_and_the_rest_goes_on() {
    let needs = [
        json!({"addChatItemAction": {}}),
        json!({"addChatItemAction": {"item": {"liveChatTextMessageRenderer": null}}}),
        json!({"addChatItemAction": {"item": {"liveChatPaidMessageRenderer": {"id": "p"}}}}),
        json!({"addLiveChatTickerItemAction": {"durationSec": "5"}}),
        json!({"removeChatItemAction": {}}),
        json!({"removeChatItemByAuthorAction": {"externalChannelId": 5}}),
        json!({"replaceChatItemAction": {"targetItemId": "a"}}),
        json!({"addBannerToLiveChatCommand": {"bannerRenderer": {}}}),
        json!({"removeBannerForLiveChatCommand": {}}),
        json!({"showLiveChatActionPanelAction": {}}),
        json!({"updateLiveChatPollAction": {"pollToUpdate": {"pollRenderer": {"choices": []}}}}),
        json!({"closeLiveChatActionPanelAction": null}),
        json!({"removeChatItemAction": "text"}),
        json!({}),
        json!(null),
        json!([1]),
        json!("text"),
    ];
    let mut actions = vec![text("a", &json!([{"text": "before"}]))];
    actions.extend(needs.clone());
    actions.push(text("b", &json!([{"text": "after"}])));
    let events = events(&actions);
    assert_eq!(events.len(), needs.len() + 2);
    for (event, action) in events[1..events.len() - 1].iter().zip(&needs) {
        let Kind::Unknown(unknown) = &event.kind else { panic!("{action}: {event:?}") };
        assert_eq!(unknown.reason, UnknownReason::Unreadable, "{action}");
    }
    assert_eq!(
        (said(&events[..1]), said(&events[events.len() - 1..])),
        (vec!["before".to_owned()], vec!["after".to_owned()])
    );
}

#[test]
fn c7_what_is_not_known_passes_with_its_name_and_no_more_than_it_should() {
    let event =
        event(&json!({"clickTrackingParams": "x", "brandNewAction": {"id": "n", "timestampUsec": "5", "a": 1}}));
    let Kind::Unknown(unknown) = &event.kind else { panic!("{event:?}") };
    assert_eq!((unknown.raw_kind.as_str(), unknown.reason), ("brandNewAction", UnknownReason::UnknownKind));
    assert_eq!((event.id.as_deref(), event.at_us), (Some("n"), Some(5)));
    assert_eq!(unknown.raw.as_ref().unwrap()["a"], 1);
    let large = add(&json!({"liveChatNewRenderer": {"id": "n", "x": "y".repeat(10_000)}}));
    let Kind::Unknown(unknown) = crate::polls::event(&large).kind else { panic!() };
    assert_eq!((unknown.raw_kind.as_str(), unknown.raw), ("liveChatNewRenderer", None));
}

#[test]
fn c7_what_only_moves_the_upstreams_page_is_no_event_but_is_counted() {
    let actions = [
        json!({"showLiveChatTooltipCommand": {"tooltip": {}}}),
        json!({"liveChatReportModerationStateCommand": {}}),
        json!({"changeEngagementPanelVisibilityAction": {}}),
        json!({"signalAction": {"signal": "OTHER"}}),
        fixtures::json("agash-ytlivechat/ActionTestData.CreatorGoalTickerChipWithTrackingParams.json"),
    ];
    let batch = batch(&poll(&actions));
    assert_eq!((batch.events.len(), batch.ignored), (0, 5));
    let closing = event(&json!({"signalAction": {"signal": "HIDE_LIVE_CHAT"}}));
    assert!(matches!(closing.kind, Kind::Status(status) if status.about == About::Closing));
}

#[test]
fn c7_removals_name_what_goes() {
    for action in ["removeChatItemAction", "markChatItemAsDeletedAction"] {
        let words = json!({"runs": [{"text": "[message retracted]", "italics": true}]});
        let Kind::Removed(removed) = event(&json!({action: {"targetItemId": "a", "deletedStateMessage": words}})).kind
        else {
            panic!()
        };
        assert_eq!((removed.target_id.as_str(), removed.words.text.as_str()), ("a", "[message retracted]"));
    }
    for action in ["removeChatItemByAuthorAction", "markChatItemsByAuthorAsDeletedAction"] {
        let Kind::AuthorRemoved(removed) = event(&json!({action: {"externalChannelId": "UC1"}})).kind else { panic!() };
        assert_eq!(removed.channel_id, "UC1");
    }
}

#[test]
fn c7_a_held_message_keeps_its_place_and_is_replaced_there() {
    let held = event(&add(&json!({"liveChatPlaceholderItemRenderer": {"id": "h", "timestampUsec": "9"}})));
    assert_eq!((held.id.as_deref(), held.at_us), (Some("h"), Some(9)));
    assert!(matches!(&held.kind, Kind::Status(status) if status.about == About::Held));
    let Kind::Replaced(replaced) = fixtures::one("agash-ytlivechat/ActionTestData.ReplaceChatItemWithText.json").kind
    else {
        panic!()
    };
    assert_eq!(Some(&replaced.target_id), replaced.item.id.as_ref());
    assert!(matches!(replaced.item.kind, Kind::Message(_)));
}

#[test]
fn c7_banners_are_shown_and_taken_down_by_the_same_id() {
    let Kind::Banner(shown) = fixtures::one("agash-ytlivechat/ActionTestData.AddBannerPinnedMessage.json").kind else {
        panic!()
    };
    let Kind::Banner(removed) = fixtures::one("agash-ytlivechat/ActionTestData.RemoveBanner.json").kind else {
        panic!()
    };
    assert_eq!((shown.change, removed.change), (BannerChange::Shown, BannerChange::Removed));
    assert_eq!((&shown.banner_id, shown.banner), (&removed.banner_id, Some(BannerKind::Pinned)));
    assert_eq!(said(&[*shown.item.unwrap()]), ["Anrshd tridrns arrd"]);
    let Kind::Banner(raid) = fixtures::one("agash-ytlivechat/ActionTestData.AddBannerRedirectGoNow.json").kind else {
        panic!()
    };
    assert_eq!(
        (raid.banner, raid.video_id.as_deref(), raid.link),
        (Some(BannerKind::Redirect), Some("redirect002"), None)
    );
    let Kind::Banner(arrived) = fixtures::one("agash-ytlivechat/ActionTestData.AddBannerRedirectLearnMore.json").kind
    else {
        panic!()
    };
    assert_eq!((arrived.video_id, arrived.timeout_ms), (None, Some(20_000)));
    let poll = json!({"pollRenderer": {"liveChatPollId": "v", "choices": [{"text": {"simpleText": "yes"}}]}});
    let banner = json!({"actionId": "b", "contents": poll});
    let Kind::Banner(vote) =
        event(&json!({"addBannerToLiveChatCommand": {"bannerRenderer": {"liveChatBannerRenderer": banner}}})).kind
    else {
        panic!()
    };
    assert!(matches!(vote.item.unwrap().kind, Kind::Poll(_)));
}

#[test]
fn c7_a_vote_is_opened_counted_and_closed_under_one_id() {
    let vote = |name: &str| match fixtures::one(&format!("agash-ytlivechat/{name}")).kind {
        Kind::Poll(poll) => poll,
        other => panic!("{name}: {other:?}"),
    };
    let opened = vote("ActionTestData.ShowPollAction_WallVsFloor.json");
    let counted = vote("ActionTestData.UpdatePollAction_FinalResult_Wall47_Floor53.json");
    assert_eq!(opened.poll_id, counted.poll_id);
    assert_eq!((opened.question.as_deref(), opened.votes, counted.votes), (Some("for the wood"), Some(0), Some(1_972)));
    assert_eq!(opened.choices.iter().map(|choice| choice.share).collect::<Vec<_>>(), [None, None]);
    let shares: Vec<f64> = counted.choices.iter().filter_map(|choice| choice.share).collect();
    assert!((shares[0] - 0.468).abs() < 0.001 && (shares[1] - 0.532).abs() < 0.001, "{shares:?}");
    assert_eq!(vote("ActionTestData.CloseLiveChatActionPanel.json").poll_id, "POLL_ID_SHOW_01");
    let unasked = vote("ActionTestData.UpdatePollActionZeroVotes.json");
    assert_eq!((unasked.question, unasked.choices[0].share), (None, Some(0.0)));
}

#[test]
fn c7_memberships_are_told_apart_by_their_fields() {
    let member = |name: &str| match fixtures::one(name).kind {
        Kind::Membership(membership) => membership,
        other => panic!("{name}: {other:?}"),
    };
    let milestone = member("agash-ytlivechat/MembershipTestData.MembershipMilestone27Months.json");
    assert_eq!(
        (milestone.step, milestone.months, milestone.level.as_deref()),
        (Step::Milestone, Some(27), Some("The Club"))
    );
    assert_eq!(milestone.words.text, "STEUENR nnir aur et e teus lt nrd");
    let joined = member("agash-ytlivechat/MembershipTestData.NewMemberFromLatestLogWithNewMemberBadge.json");
    assert_eq!((joined.step, joined.months, joined.level.as_deref()), (Step::Joined, None, Some("the Example Club")));
    assert_eq!(joined.header, "Welcome to the Example Club!");
    let upgraded = member("agash-ytlivechat/MembershipTestData.RealUpgrade_Runs.json");
    assert_eq!((upgraded.step, upgraded.level.as_deref()), (Step::Upgraded, Some("Gold Tier")));
    let elsewhere = member("linatsukusu-youtube-chat/get_live_chat.subscribe-member.json");
    assert_eq!((elsewhere.step, elsewhere.level), (Step::Joined, None));
}

#[test]
fn c7_modes_are_told_by_their_icon() {
    for (icon, mode) in [
        ("SLOW_MODE", ModeKind::Slow),
        ("MEMBERS_ONLY_MODE", ModeKind::MembersOnly),
        ("TAB_SUBSCRIPTIONS", ModeKind::SubscribersOnly),
        ("QUESTION_ANSWER", ModeKind::Open),
        ("NEW_MODE", ModeKind::Other),
    ] {
        let renderer = json!({"id": "m", "icon": {"iconType": icon}, "text": {"runs": [{"text": "Slow mode is on"}]}});
        let Kind::Mode(found) = event(&add(&json!({"liveChatModeChangeMessageRenderer": renderer}))).kind else {
            panic!()
        };
        assert_eq!((found.mode, found.words.text.as_str()), (mode, "Slow mode is on"));
    }
}

#[test]
fn c7_the_upstreams_own_words_have_their_topics() {
    let text = json!({"runs": [{"text": "words"}]});
    let held = json!({"liveChatTextMessageRenderer": {"id": "x", "message": text}});
    for (item, about) in [
        (
            json!({"liveChatViewerEngagementMessageRenderer": {"id": "a", "message": text, "icon": {"iconType": "YOUTUBE_ROUND"}}}),
            About::Notice,
        ),
        (
            json!({"liveChatViewerEngagementMessageRenderer": {"id": "a", "message": {"simpleText": "words"}, "icon": {"iconType": "POLL"}}}),
            About::PollResult,
        ),
        (json!({"liveChatModerationMessageRenderer": {"id": "a", "message": text}}), About::Moderation),
        (
            json!({"liveChatAutoModMessageRenderer": {"id": "a", "headerText": text, "autoModeratedItem": held}}),
            About::Filtered,
        ),
        (
            json!({"liveChatDonationAnnouncementRenderer": {"id": "a", "text": text, "subtext": text}}),
            About::Fundraiser,
        ),
        (json!({"liveChatRestrictedParticipationRenderer": {"message": text}}), About::Restricted),
    ] {
        let Kind::Status(status) = event(&add(&item)).kind else { panic!("{item}") };
        assert_eq!((status.about, status.words.text.as_str()), (about, "words"));
        assert_eq!(status.item.is_some(), about == About::Filtered);
    }
}

#[test]
fn c7_viewers_are_counted() {
    let count =
        json!({"updateViewershipAction": {"viewCount": {"videoViewCountRenderer": {"originalViewCount": "12345"}}}});
    assert!(matches!(event(&count).kind, Kind::ViewerCount(count) if count.viewers == 12_345));
}

#[test]
fn c14_what_may_be_captured_is_decoded_with_or_without_its_wrapping() {
    let renderer = json!({"id": "a", "authorName": {"simpleText": "@ann"}, "message": {"runs": [{"text": "hello"}]}});
    let item = json!({ "liveChatTextMessageRenderer": renderer });
    let action = add(&item);
    let batch = poll(std::slice::from_ref(&action));
    let forms = [
        batch.clone(),
        json!([{"response": batch}]),
        batch["continuationContents"]["liveChatContinuation"].clone(),
        json!([action]),
        action.clone(),
        action["addChatItemAction"].clone(),
        item,
        renderer,
    ];
    for form in &forms {
        let events = tidegate_chat::decode(form.to_string().as_bytes(), Region::Unknown).unwrap();
        assert_eq!(said(&events), ["hello"], "{form}");
    }
    for name in ["AddBannerPinnedMessage", "ShowPanelActionNewPoll", "UpdatePollActionZeroVotes"] {
        let action = fixtures::json(&format!("agash-ytlivechat/ActionTestData.{name}.json"));
        let payload = action.as_object().unwrap().values().find(|value| value.is_object()).unwrap();
        let bare = payload.as_object().unwrap().values().find(|value| value.is_object()).unwrap();
        let events = tidegate_chat::decode(bare.to_string().as_bytes(), Region::Unknown).unwrap();
        assert_eq!(events, read_action(&action, Region::Unknown), "{name}");
    }
    let lines: String = forms.iter().map(|form| format!("{form}\n")).collect();
    assert_eq!(
        tidegate_chat::decode(format!("\u{feff}{lines}").as_bytes(), Region::Unknown).unwrap().len(),
        forms.len()
    );
    let errors = tidegate_chat::decode(error(400, "INVALID_ARGUMENT", "x").as_bytes(), Region::Unknown).unwrap();
    assert!(matches!(&errors[0].kind, Kind::Error(failure) if failure.is_final));
    for (bytes, advice) in
        [("", "give a captured poll answer"), ("words", "neither a page nor JSON"), (r#"{"a":1} {"#, "whole")]
    {
        let error = tidegate_chat::decode(bytes.as_bytes(), Region::Unknown).unwrap_err();
        assert!(error.to_string().contains(advice), "{error}");
    }
}
