//! What is said in the demo's chat, in turns: a little of everything that a chat can show.

use std::sync::Arc;

use serde_json::{Value, json};

/// One thing that happens.
enum Line {
    Says(&'static Person, &'static str),
    /// Who, how much, the price band's two colours, and the words.
    Pays(&'static Person, &'static str, [u32; 2], &'static str),
    Sticks(&'static Person, &'static str, u32, &'static str),
    Joins(&'static Person),
    Stays(&'static Person, u32, &'static str),
    Gives(&'static Person, u32),
    Gets(&'static Person, &'static str),
    /// The line so many before this one is taken back.
    TakesBack(usize),
    Bans(&'static Person),
    Pins(&'static Person, &'static str),
    Unpins,
    Asks(&'static str),
    /// Votes in all, and the share of the first choice.
    Counts(&'static str, u32, f64),
    Closes,
    Watching(u64),
}

struct Person {
    name: &'static str,
    channel: &'static str,
    badge: Option<&'static str>,
}

/// The actions of one turn, in YouTube's protocol. The stand-in gives them ids of their own in each.
pub(super) fn actions() -> Arc<[Value]> {
    SCRIPT.iter().enumerate().map(|(number, line)| action(number, line)).collect()
}

fn action(number: usize, line: &Line) -> Value {
    match line {
        Line::Says(who, text) => item("liveChatTextMessageRenderer", number, who, &json!({"message": words(text)})),
        Line::Pays(who, amount, [head, body], text) => {
            let colors = json!({"purchaseAmountText": plain(amount), "headerBackgroundColor": head,
                "bodyBackgroundColor": body, "message": words(text)});
            item("liveChatPaidMessageRenderer", number, who, &colors)
        }
        Line::Sticks(who, amount, color, shows) => {
            let sticker = json!({"purchaseAmountText": plain(amount), "backgroundColor": color,
                "sticker": {"accessibility": label(shows)}});
            item("liveChatPaidStickerRenderer", number, who, &sticker)
        }
        Line::Joins(who) => {
            let header =
                json!({"headerSubtext": {"runs": [{"text": "Welcome to "}, {"text": "High Water"}, {"text": "!"}]}});
            item("liveChatMembershipItemRenderer", number, who, &header)
        }
        Line::Stays(who, months, text) => {
            let runs = json!([{"text": "Member for "}, {"text": months.to_string()}, {"text": " months"}]);
            let header = json!({"headerPrimaryText": {"runs": runs}, "headerSubtext": plain("High Water"),
                "message": words(text)});
            item("liveChatMembershipItemRenderer", number, who, &header)
        }
        Line::Gives(who, count) => {
            let text = format!("Sent {count} High Water gift memberships");
            let header =
                json!({"authorName": plain(who.name), "authorBadges": badges(who), "primaryText": words(&text)});
            let gift = json!({"header": {"liveChatSponsorshipsHeaderRenderer": header}});
            item("liveChatSponsorshipsGiftPurchaseAnnouncementRenderer", number, who, &gift)
        }
        Line::Gets(who, giver) => {
            let runs = json!({"runs": [{"text": "received a gift membership by "}, {"text": giver, "bold": true}]});
            item("liveChatSponsorshipsGiftRedemptionAnnouncementRenderer", number, who, &json!({"message": runs}))
        }
        Line::TakesBack(back) => json!({"removeChatItemAction": {"targetItemId": id(number - back)}}),
        Line::Bans(who) => json!({"removeChatItemByAuthorAction": {"externalChannelId": who.channel}}),
        Line::Pins(who, text) => {
            let row = renderer(number, who, &json!({"message": words(text)}));
            let header = words(&format!("Pinned by {}", who.name));
            json!({"addBannerToLiveChatCommand": {"bannerRenderer": {"liveChatBannerRenderer": {
                "actionId": PINNED, "bannerType": "LIVE_CHAT_BANNER_TYPE_PINNED_MESSAGE",
                "header": {"liveChatBannerHeaderRenderer": {"text": header}},
                "contents": {"liveChatTextMessageRenderer": row}}}}})
        }
        Line::Unpins => json!({"removeBannerForLiveChatCommand": {"targetActionId": PINNED}}),
        Line::Asks(question) => {
            json!({"showLiveChatActionPanelAction": {"panelToShow": {"liveChatActionPanelRenderer": {
            "id": VOTE, "contents": {"pollRenderer": vote(question, 0, None)}}}}})
        }
        Line::Counts(question, votes, share) => {
            json!({"updateLiveChatPollAction": {"pollToUpdate": {"pollRenderer": vote(question, *votes, Some(*share))}}})
        }
        Line::Closes => json!({"closeLiveChatActionPanelAction": {"targetPanelId": VOTE}}),
        Line::Watching(viewers) => json!({"updateViewershipAction": {"viewCount": {"videoViewCountRenderer": {
            "originalViewCount": viewers.to_string(), "isLive": true}}}}),
    }
}

fn item(name: &str, number: usize, who: &Person, more: &Value) -> Value {
    json!({"addChatItemAction": {"item": {name: renderer(number, who, more)}}})
}

fn renderer(number: usize, who: &Person, more: &Value) -> Value {
    let mut row = json!({"id": id(number), "timestampUsec": "0", "authorName": plain(who.name),
        "authorExternalChannelId": who.channel, "authorBadges": badges(who)});
    for (key, value) in more.as_object().into_iter().flatten() {
        row[key] = value.clone();
    }
    row
}

fn badges(who: &Person) -> Value {
    let badge = match who.badge {
        None => return Value::Null,
        Some("Member") => json!({"tooltip": "Member", "customThumbnail": {"thumbnails": []}}),
        Some(icon) => json!({"tooltip": icon, "icon": {"iconType": icon.to_uppercase()}}),
    };
    json!([{"liveChatAuthorBadgeRenderer": badge}])
}

fn vote(question: &str, votes: u32, share: Option<f64>) -> Value {
    let choice = |text: &str, share: Option<f64>| json!({"text": words(text), "voteRatio": share});
    let runs = json!([{"text": PILOT.name}, {"text": " • "}, {"text": "just now"}, {"text": " • "},
        {"text": format!("{votes} votes")}]);
    json!({"liveChatPollId": VOTE,
        "choices": [choice("Sunrise", share), choice("Spring tide", share.map(|share| 1.0 - share))],
        "header": {"pollHeaderRenderer": {"pollQuestion": words(question), "metadataText": {"runs": runs}}}})
}

fn plain(text: &str) -> Value {
    json!({"simpleText": text})
}

fn words(text: &str) -> Value {
    json!({"runs": [{"text": text}]})
}

fn label(text: &str) -> Value {
    json!({"accessibilityData": {"label": text}})
}

fn id(number: usize) -> String {
    format!("line{number}")
}

const PINNED: &str = "pinned";
const VOTE: &str = "vote";

const fn person(name: &'static str, channel: &'static str, badge: Option<&'static str>) -> Person {
    Person { name, channel, badge }
}

static PILOT: Person = person("@harbour_pilot", "UCpilot000000000000000pi", Some("Owner"));
static WARDEN: Person = person("@lockkeeper", "UCwarden00000000000000wa", Some("Moderator"));
static NEWS: Person = person("@CoastNews", "UCnews0000000000000000ne", Some("Verified"));
static MIRA: Person = person("@mira.k", "UCmira0000000000000000mi", Some("Member"));
static JONAS: Person = person("@jonas_am_deich", "UCjonas000000000000000jo", Some("Member"));
static SORA: Person = person("@sora_umi", "UCsora0000000000000000so", None);
static LEILA: Person = person("@leila_bahr", "UCleila000000000000000le", None);
static TOM: Person = person("@tom-of-the-isles", "UCtom00000000000000000to", None);
static ANA: Person = person("@ana.mare", "UCana00000000000000000an", None);
static SPAM: Person = person("@free-coins-4u", "UCspam0000000000000000sp", None);

const BLUE: [u32; 2] = [0xff15_65c0, 0xff1e_88e5];
const GREEN: [u32; 2] = [0xff00_bfa5, 0xff1d_e9b6];
const YELLOW: [u32; 2] = [0xffff_b300, 0xffff_ca28];
const RED: [u32; 2] = [0xffd0_0000, 0xffe6_2117];
const ORANGE: u32 = 0xffe6_5100;
const NEXT: &str = "What shall the camera show next?";

/// About a minute.
static SCRIPT: [Line; 78] = [
    Line::Watching(1_204),
    Line::Says(&PILOT, "Good morning, everybody! The gate opens in a minute."),
    Line::Says(&MIRA, "morning! ☕"),
    Line::Says(&TOM, "first time here, what am I looking at?"),
    Line::Says(&WARDEN, "The old sea lock. High water is at ten past."),
    Line::Pins(&PILOT, "High water at ten past. Ask away, I read everything here."),
    Line::Says(&SORA, "おはようございます 🌊"),
    Line::Says(&JONAS, "Moin! Der Wind steht gut heute."),
    Line::Says(&SPAM, "FREE COINS!!! look at my channel"),
    Line::Pays(&ANA, "€5.00", GREEN, "For the coffee of whoever cleans the camera. It is so clear today!"),
    Line::Says(&SPAM, "FREE COINS!!! last chance"),
    Line::Says(&PILOT, "@ana.mare thank you! I cleaned it twice."),
    Line::Bans(&SPAM),
    Line::Says(&WARDEN, "Sorry for that. Gone."),
    Line::Says(&TOM, "is that a seal next to the left wall?"),
    Line::Says(&MIRA, "it is always a seal"),
    Line::Says(&LEILA, "صباح الخير من الإسكندرية"),
    Line::Says(&NEWS, "We are live with you at the top of the hour."),
    Line::Joins(&SORA),
    Line::Says(&PILOT, "Welcome aboard, Sora!"),
    Line::Watching(1_391),
    Line::Says(&ANA, "the water is moving!"),
    Line::Says(&JONAS, "jetzt geht's los"),
    Line::Asks(NEXT),
    Line::Says(&TOM, "spring tide, obviously"),
    Line::Counts(NEXT, 212, 0.46),
    Line::Says(&MIRA, "sunrise for me, I missed it"),
    Line::Stays(&MIRA, 24, "Two years of staring at water with you. Best decision."),
    Line::Counts(NEXT, 845, 0.58),
    Line::Says(&LEILA, "the light on the stones is beautiful"),
    Line::Says(&SORA, "門が動いた！"),
    Line::Pays(&JONAS, "$20.00", YELLOW, "Für neue Gummistiefel 🥾"),
    Line::Says(&PILOT, "Those are overdue, thank you Jonas!"),
    Line::Counts(NEXT, 1_107, 0.61),
    Line::Closes,
    Line::Says(&PILOT, "Sunrise it is, right after the gate."),
    Line::Says(&TOM, "I voted for tide but fine 😄"),
    Line::Says(&ANA, "what is the address of the harbour master's off"),
    Line::TakesBack(1),
    Line::Says(&ANA, "sorry, wrong window"),
    Line::Watching(1_688),
    Line::Gives(&NEWS, 5),
    Line::Gets(&TOM, "@CoastNews"),
    Line::Gets(&LEILA, "@CoastNews"),
    Line::Says(&TOM, "oh wow, thanks!"),
    Line::Says(&LEILA, "thank you ❤️"),
    Line::Sticks(&SORA, "¥1,000", ORANGE, "A cat in a very small boat"),
    Line::Says(&MIRA, "the boat cat!!"),
    Line::Says(&JONAS, "🐱⛵"),
    Line::Unpins,
    Line::Says(&WARDEN, "Gate at forty percent. Slowest door in the county."),
    Line::Says(&TOM, "slower than my laptop"),
    Line::Says(&ANA, "how old is it?"),
    Line::Says(&PILOT, "1904. It was steam first, then my grandfather, then a motor."),
    Line::Says(&ANA, "your grandfather opened it by hand?"),
    Line::Says(&PILOT, "With eleven others. He never let us forget it."),
    Line::Pays(&LEILA, "£100.00", RED, "For the grandfather."),
    Line::Says(&PILOT, "Leila. I have no words. Thank you."),
    Line::Says(&MIRA, "👏👏👏"),
    Line::Says(&JONAS, "Respekt"),
    Line::Says(&SORA, "すごい"),
    Line::Says(&WARDEN, "He would have asked for the receipt."),
    Line::Watching(2_054),
    Line::Says(&NEWS, "And we are on. Hello from the studio!"),
    Line::Says(&TOM, "hello studio 👋"),
    Line::Says(&MIRA, "mum, I am on television"),
    Line::Pays(&TOM, "$2.00", BLUE, ""),
    Line::Says(&ANA, "there is the first boat"),
    Line::Says(&LEILA, "the red one?"),
    Line::Says(&ANA, "yes, with the dog on deck"),
    Line::Says(&MIRA, "DOG"),
    Line::Says(&JONAS, "Ein Seehund und ein Hund. Guter Tag."),
    Line::Says(&PILOT, "That is Pepper. She has a season ticket."),
    Line::Says(&SORA, "Pepper かわいい"),
    Line::Says(&WARDEN, "Gate open. Twelve boats through by noon."),
    Line::Says(&PILOT, "Sunrise camera next. Thank you all for being here."),
    Line::Says(&TOM, "same time tomorrow?"),
    Line::Says(&PILOT, "Same time tomorrow. The tide does not take days off."),
];

#[cfg(test)]
mod tests {
    use tidegate_chat::decode;
    use tidegate_chat::youtube::Region;

    use super::*;

    #[test]
    fn o1_the_demos_chat_is_read_to_the_last_line() {
        let mut kinds = Vec::new();
        for (action, line) in actions().iter().zip(1..) {
            let events = decode(action.to_string().as_bytes(), Region::Unknown).unwrap();
            assert_eq!(events.len(), 1, "line {line}: {action}");
            kinds.push(events[0].kind.name());
        }
        kinds.sort_unstable();
        kinds.dedup();
        let shown =
            ["author_removed", "banner", "gift", "gift_received", "membership", "message", "paid", "poll", "removed"];
        assert_eq!(kinds, [&shown[..], &["sticker", "viewer_count"]].concat());
    }
}
