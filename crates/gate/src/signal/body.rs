//! What the first 64 KiB of a body say (G10, G11, G11b, G11c, G19).
//!
//! Without this a throttle inside a `200` looks like an expired token, and the answer to that one is more
//! requests. Only error objects are searched for words: a chat message may say "quota" as often as it likes.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::number::{Decimal, parse_duration};

/// How an upstream's bodies tell a throttle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyStyle {
    /// Bodies are not looked at.
    #[default]
    Off,
    /// Google's error envelope, captcha pages and bot checks; also inside a `200`.
    Google,
    /// A message of an error status that speaks of a rate limit, as GitHub's does.
    Message,
}

/// What a body was found to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finding {
    /// Nothing against the call.
    #[default]
    Nothing,
    /// A rate limit or an exhausted quota (G10).
    Throttle,
    /// A captcha, or a demand to sign in to prove not to be a bot (G11c).
    BotCheck,
    /// `PERMISSION_DENIED` (G11b).
    Denied,
    /// `NOT_FOUND` (G11b).
    NotFound,
    /// Any other error object (G11).
    OtherError,
}

/// A body's finding, and the delay it asks for, if it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodySigns {
    /// What it says.
    pub finding: Finding,
    /// `retryDelay` of Google's `RetryInfo`, or `retry_after` in seconds: stands in for a missing `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// Reads a decoded body's beginning. `failed` says that the status was 400 or above.
#[must_use]
pub fn read(style: BodyStyle, failed: bool, body: &[u8]) -> BodySigns {
    let body = &body[..body.len().min(LOOK_MAX)];
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let body = body.strip_prefix(b")]}'").unwrap_or(body).trim_ascii_start();
    match (style, body.first()) {
        (BodyStyle::Off, _) => BodySigns::default(),
        (BodyStyle::Google | BodyStyle::Message, Some(b'{' | b'[')) => read_json(style, failed, body),
        (BodyStyle::Google, Some(b'<')) if is_bot_page(body, failed) => {
            BodySigns { finding: Finding::BotCheck, retry_after: None }
        }
        (BodyStyle::Google | BodyStyle::Message, _) => BodySigns::default(),
    }
}

/// How much of a body is looked at, in bytes. Rule G19.
pub const LOOK_MAX: usize = 64 * 1024;

fn read_json(style: BodyStyle, failed: bool, body: &[u8]) -> BodySigns {
    let mut seen = Seen::default();
    // A body cut at 64 KiB is no whole JSON text: what was seen before the cut counts, its end does not.
    let _ = Root(&mut seen).deserialize(&mut serde_json::Deserializer::from_slice(body));
    let finding = match style {
        BodyStyle::Off => Finding::Nothing,
        BodyStyle::Google => seen.google(failed),
        BodyStyle::Message if failed && seen.speaks_of_a_limit(failed) => Finding::Throttle,
        BodyStyle::Message => Finding::Nothing,
    };
    BodySigns { finding, retry_after: seen.retry_after() }
}

/// The few top-level values that matter.
#[derive(Debug, Default)]
struct Seen {
    /// An `error` was there, also if the cut took its rest.
    has_error: bool,
    error: Value,
    /// `responseContext.errors`, the old form of a bad continuation.
    has_context_errors: bool,
    message: Value,
    errors: Value,
    retry_after: Value,
    playability: Value,
}

impl Seen {
    fn google(&self, failed: bool) -> Finding {
        let status = self.error.get("status").and_then(Value::as_str).unwrap_or_default();
        let code = self.error.get("code").map(code_of).unwrap_or_default();
        if status == "RESOURCE_EXHAUSTED" || code == 429 || self.speaks_of_a_limit(failed) {
            return Finding::Throttle;
        }
        if self.asks_to_sign_in() {
            return Finding::BotCheck;
        }
        match status {
            "PERMISSION_DENIED" => Finding::Denied,
            "NOT_FOUND" => Finding::NotFound,
            _ if self.has_error || self.has_context_errors => Finding::OtherError,
            _ => Finding::Nothing,
        }
    }

    fn speaks_of_a_limit(&self, failed: bool) -> bool {
        let error = &self.error;
        let inside = [&error["message"], &error["status"], &error["code"], &error["type"], &error["reason"], error];
        let lists = [&error["errors"], &error["details"], if failed { &self.errors } else { &Value::Null }];
        let members = lists.into_iter().filter_map(Value::as_array).flatten().take(MEMBERS_MAX);
        let told = members.flat_map(|member| [&member["reason"], &member["message"], &member["type"], member]);
        let message = if failed { &self.message } else { &Value::Null };
        inside.into_iter().chain(told).chain([message]).filter_map(Value::as_str).any(is_limit_text)
    }

    /// The player's answer to an address that it takes for a bot's; a person's page must not be matched by its
    /// words alone, so the machine-readable status comes first.
    fn asks_to_sign_in(&self) -> bool {
        let reason = self.playability.get("reason").and_then(Value::as_str).unwrap_or_default();
        self.playability.get("status").and_then(Value::as_str) == Some("LOGIN_REQUIRED") && reason.contains(NOT_A_BOT)
    }

    fn retry_after(&self) -> Option<Duration> {
        let details = self.error.get("details").and_then(Value::as_array).into_iter().flatten().take(MEMBERS_MAX);
        let delay = details.filter_map(|detail| detail.get("retryDelay")?.as_str()).next();
        let seconds = || Decimal::parse(self.retry_after.as_number()?.to_string().as_bytes())?.seconds();
        delay.and_then(|text| parse_duration(text.as_bytes())).or_else(seconds)
    }
}

fn code_of(code: &Value) -> u64 {
    code.as_u64().or_else(|| code.as_str()?.parse().ok()).unwrap_or_default()
}

fn is_limit_text(text: &str) -> bool {
    let text: String = text.chars().take(TEXT_MAX).map(|letter| letter.to_ascii_lowercase()).collect();
    LIMIT_TEXTS.iter().any(|words| text.contains(words))
}

/// A captcha page, or a page whose player demands to sign in. Quotes inside a title or a message are escaped on
/// such pages, so only the page itself can write these strings.
fn is_bot_page(page: &[u8], failed: bool) -> bool {
    let page = String::from_utf8_lossy(page);
    let signs_in = || {
        page.find(LOGIN_REQUIRED)
            .is_some_and(|at| page[at..].chars().take(NEAR).collect::<String>().contains(NOT_A_BOT))
    };
    CAPTCHA_MARKS.iter().any(|mark| page.contains(mark)) || (failed && page.contains("unusual traffic")) || signs_in()
}

/// Walks a JSON text's top level into [`Seen`], and into the members of a list of such texts.
struct Root<'a>(&'a mut Seen);

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or a list of one")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // Some of Google's services wrap the envelope in a list; a second member is never read.
        seq.next_element_seed(Member(self.0)).map(|_| ())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        Member(self.0).visit_map(map)
    }
}

struct Member<'a>(&'a mut Seen);

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let seen = self.0;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match &*key {
                "error" => {
                    seen.has_error = true;
                    seen.error = map.next_value()?;
                    seen.has_error = seen.error.is_object();
                }
                "responseContext" => {
                    let context: Context = map.next_value()?;
                    seen.has_context_errors = !context.errors.is_null();
                }
                "message" => seen.message = map.next_value()?,
                "errors" => seen.errors = map.next_value()?,
                "retry_after" => seen.retry_after = map.next_value()?,
                "playabilityStatus" => seen.playability = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    errors: Value,
}

/// Words of an exhausted quota or a rate limit, in lower case; the spellings that were seen in public answers.
const LIMIT_TEXTS: [&str; 8] = [
    "quota",
    "rate limit",
    "rate_limit",
    "ratelimit",
    "rate-limit",
    "too many requests",
    "resource has been exhausted",
    "unusual traffic",
];
/// Attributes of Google's captcha page; YouTube's own pages name `recaptcha` in their settings, so that word is no sign.
const CAPTCHA_MARKS: [&str; 3] = [r#"id="captcha-form""#, r#"class="g-recaptcha""#, r#"action="CaptchaRedirect""#];
const LOGIN_REQUIRED: &str = r#""status":"LOGIN_REQUIRED""#;
/// The apostrophe before it comes in two forms, and escaped.
const NOT_A_BOT: &str = "not a bot";
/// The reason stands right beside the status, in characters.
const NEAR: usize = 512;
/// A message longer than this is searched up to here, in characters.
const TEXT_MAX: usize = 2000;
/// Members of an error's lists that are searched.
const MEMBERS_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn google(failed: bool, body: &str) -> Finding {
        read(BodyStyle::Google, failed, body.as_bytes()).finding
    }

    #[test]
    fn g10_an_error_object_that_speaks_of_a_limit_is_a_throttle() {
        for body in [
            r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#,
            r#"{"error":{"status":"RESOURCE_EXHAUSTED"}}"#,
            r#"{"error":{"code":429}}"#,
            r#"{"error":{"code":"429"}}"#,
            r#"{"responseContext":{},"error":{"code":400,"message":"Daily Quota exceeded"}}"#,
            r#"{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}"#,
            r#"{"error":{"details":[{"reason":"RATE_LIMIT_EXCEEDED"}]}}"#,
            r#"{"error":"Too Many Requests"}"#,
            r#"[{"error":{"code":429}}]"#,
            "\u{feff})]}'\n{\"error\":{\"code\":429}}",
        ] {
            assert_eq!(google(false, body), Finding::Throttle, "{body}");
        }
    }

    #[test]
    fn g11_any_other_error_object_is_another_error() {
        for body in [
            r#"{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":{}}"#,
            r#"{"error":{"message":"\ud83d"}}"#,
            r#"{"responseContext":{"errors":{"error":[{"code":"INVALID_VALUE","location":"continuation"}]}}}"#,
            r#"{"error":{"code":400,"mess"#,
        ] {
            assert_eq!(google(false, body), Finding::OtherError, "{body}");
        }
    }

    #[test]
    fn g11b_denied_and_not_found_are_told_apart() {
        let denied =
            r#"{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}"#;
        assert_eq!(google(true, denied), Finding::Denied);
        let missing = r#"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}"#;
        assert_eq!(google(true, missing), Finding::NotFound);
        let quota = r#"{"error":{"code":403,"message":"Quota exceeded","status":"PERMISSION_DENIED"}}"#;
        assert_eq!(google(true, quota), Finding::Throttle);
    }

    #[test]
    fn g10_words_outside_an_error_object_are_just_words() {
        for body in [
            r#"{"continuationContents":{"text":"my quota, error 429, RESOURCE_EXHAUSTED, rate limit"}}"#,
            r#"{"actions":[{"error":{"code":429}}],"message":"rate limit"}"#,
            r#"{"error":null}"#,
            r#"{"error":false}"#,
            r#"{"error":"bad title"}"#,
            r#"{"responseContext":{"visitorData":"rate limit"}}"#,
            "quota",
            "",
            "{",
            "[]",
            "[7]",
        ] {
            assert_eq!(google(false, body), Finding::Nothing, "{body}");
        }
    }

    #[test]
    fn g11c_captchas_and_bot_checks_are_seen_and_talk_about_them_is_not() {
        let page = |script: &str| format!("<!doctype html><html><body>{script}</body></html>");
        let asks =
            r#"{"playabilityStatus":{"status":"LOGIN_REQUIRED","reason":"Sign in to confirm you’re not a bot"}}"#;
        assert_eq!(google(false, asks), Finding::BotCheck);
        assert_eq!(google(false, &page(asks)), Finding::BotCheck);
        assert_eq!(google(false, &page(&asks.replace('’', "\\u2019"))), Finding::BotCheck);
        assert_eq!(google(false, &page(r#"<form id="captcha-form" method="post">"#)), Finding::BotCheck);
        assert_eq!(google(true, &page("our systems have detected unusual traffic")), Finding::BotCheck);
        for talk in [
            "<title>Sign in to confirm you're not a bot: how to fix</title>",
            r#"{"RECAPTCHA_V3_SITEKEY":"x","text":"unusual traffic"}"#,
            r#"{"playabilityStatus":{"status":"LOGIN_REQUIRED","reason":"This video is private"}}"#,
            r#"{"text":"\"status\":\"LOGIN_REQUIRED\" not a bot"}"#,
        ] {
            assert_eq!(google(false, &page(talk)), Finding::Nothing, "{talk}");
        }
    }

    #[test]
    fn g19_an_error_past_64_kib_is_not_looked_at_and_one_before_it_is() {
        let filler = "x".repeat(LOOK_MAX);
        assert_eq!(google(false, &format!(r#"{{"a":"{filler}","error":{{"code":429}}}}"#)), Finding::Nothing);
        assert_eq!(google(false, &format!(r#"{{"error":{{"code":429}},"a":"{filler}"}}"#)), Finding::Throttle);
        assert_eq!(google(false, &"[".repeat(LOOK_MAX)), Finding::Nothing);
        assert_eq!(google(false, &format!(r#"{{"error":{}"#, "[".repeat(LOOK_MAX - 20))), Finding::OtherError);
    }

    #[test]
    fn g9_a_message_is_evidence_only_where_the_status_is_an_error() {
        let read = |failed, body: &str| super::read(BodyStyle::Message, failed, body.as_bytes()).finding;
        let limited = r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}"#;
        assert_eq!(read(true, limited), Finding::Throttle);
        assert_eq!(read(false, limited), Finding::Nothing);
        assert_eq!(read(true, r#"{"message":"Resource not accessible by integration"}"#), Finding::Nothing);
        assert_eq!(read(true, r#"{"errors":[{"type":"RATE_LIMITED"}]}"#), Finding::Throttle);
        assert_eq!(super::read(BodyStyle::Off, true, limited.as_bytes()), BodySigns::default());
    }

    #[test]
    fn g16_a_delay_in_the_body_is_read() {
        let delay = |body: &str| read(BodyStyle::Google, true, body.as_bytes()).retry_after;
        let info = r#"{"error":{"code":429,"details":[{"@type":"x"},{"@type":"…RetryInfo","retryDelay":"30.5s"}]}}"#;
        assert_eq!(delay(info), Some(Duration::from_millis(30_500)));
        assert_eq!(
            delay(r#"{"message":"limited","retry_after":64.57,"global":false}"#),
            Some(Duration::from_millis(64_570))
        );
        assert_eq!(delay(r#"{"retry_after":-1}"#), None);
        assert_eq!(delay(r#"{"retry_after":1e400}"#), None);
        assert_eq!(delay(r#"{"retry_after":"soon"}"#), None);
    }
}
