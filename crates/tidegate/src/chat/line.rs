//! Frames become lines: for people, or as they are for programs.

use std::io;

use serde_json::Value;

use crate::say::try_to_say;

/// Takes bytes as they come, and prints each event once it is whole.
pub(super) struct Printer {
    json: bool,
    rest: Vec<u8>,
    /// The id of the last event, behind which a stream that broke off goes on (C8).
    pub(super) last_id: Option<String>,
    /// A final error came: the stream ends with it (C5).
    pub(super) over: bool,
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        Self { json, rest: Vec::new(), last_id: None, over: false }
    }

    /// An error says that nobody reads any more (`tidegate chat NAME | head`).
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|&byte| byte == b'\n') else { return Ok(()) };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        for line in String::from_utf8_lossy(&whole).lines() {
            if let Some(id) = line.strip_prefix("id: ") {
                self.last_id = Some(id.to_owned());
            }
            // An event's data are one line.
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event = serde_json::from_str::<Value>(data);
            self.over |= event.as_ref().is_ok_and(|event| event["kind"] == "error" && event["final"] == true);
            match (self.json, event) {
                (false, Ok(event)) => try_to_say(readable(&event))?,
                (true, _) | (false, Err(_)) => try_to_say(data)?,
            }
        }
        Ok(())
    }

    /// What is left of a stream that broke off belongs to no event.
    pub(super) fn broke_off(&mut self) {
        self.rest.clear();
    }
}

/// One event as a person reads it: `@ann: hello`, `[paid $5.00] @ann: thanks`.
fn readable(event: &Value) -> String {
    let text = |path: &str| event.pointer(path).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or("unknown");
    let mut label = Vec::from([kind]);
    label.extend(["/code", "/amount/text", "/about", "/change"].into_iter().filter_map(text));
    let said = SAID.into_iter().find_map(|path| event.pointer(path)).map(|said| match said {
        Value::String(said) => said.clone(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    });
    let author = text("/author/name").map(|name| format!("{name}: "));
    let label = if kind == "message" { String::new() } else { format!("[{}] ", label.join(" ")) };
    let line = label + &author.unwrap_or_default() + &said.unwrap_or_default();
    // Whoever writes in a chat must not steer the terminal of those who read it.
    line.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Where the words of an event stand, by what says most.
const SAID: [&str; 12] = [
    "/text",
    "/header",
    "/alt",
    "/question",
    "/message",
    "/stream/title",
    "/item/text",
    "/viewers",
    "/missed",
    "/target_id",
    "/channel_id",
    "/banner_id",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c12_a_line_says_who_and_what_and_no_control_character_gets_through() {
        let line = |json: &str| readable(&serde_json::from_str(json).unwrap());
        assert_eq!(
            line(r#"{"kind":"message","author":{"name":"@ann"},"text":"hi\u001b[2J\nyou"}"#),
            "@ann: hi [2J you"
        );
        let paid = r#"{"kind":"paid","author":{"name":"@ann"},"amount":{"text":"$5.00"},"text":"thanks"}"#;
        assert_eq!(line(paid), "[paid $5.00] @ann: thanks");
        assert_eq!(line(r#"{"kind":"viewer_count","viewers":12}"#), "[viewer_count] 12");
        assert_eq!(line(r#"{"kind":"gap"}"#), "[gap]");
        let error = r#"{"kind":"error","code":"RATE_LIMITED","message":"wait","final":false}"#;
        assert_eq!(line(error), "[error RATE_LIMITED] wait");
    }
}
