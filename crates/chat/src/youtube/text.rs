//! Text objects: `simpleText`, `runs` or `content`, one for the other anywhere.

use serde_json::Value;

use super::emoji::{as_text, read_emoji};
use super::link::target;
use super::walk::{at, flag_at, list_at, string_at, text_at};
use crate::event::{Run, TextRun, Words};

/// Reads the text object at a path. Letters are not touched: not their order, not their direction marks.
pub(super) fn words_at(value: &Value, path: &str) -> Words {
    at(value, path).map(read_words).unwrap_or_default()
}

/// The same as plain text; `None` where nothing is written.
pub(super) fn plain_at(value: &Value, path: &str) -> Option<String> {
    Some(words_at(value, path).text).filter(|text| !text.is_empty())
}

/// The texts of a text object's runs, in order.
pub(super) fn runs_at<'a>(value: &'a Value, path: &str) -> Vec<&'a str> {
    list_at(value, &format!("{path}.runs")).iter().filter_map(|run| text_at(run, "text")).collect()
}

pub(super) fn read_words(text: &Value) -> Words {
    if let Some(simple) = text_at(text, "simpleText").or_else(|| text_at(text, "content")).or_else(|| text.as_str()) {
        return Words::plain(simple);
    }
    let runs: Vec<Run> = list_at(text, "runs").iter().filter_map(read_run).collect();
    let text = runs.iter().map(text_of).collect();
    let says_more = |run: &Run| match run {
        Run::Emoji(_) => true,
        Run::Text(run) => run.link.is_some() || run.bold || run.italics,
    };
    Words { text, runs: if runs.iter().any(says_more) { runs } else { Vec::new() } }
}

/// One run; one that is neither text nor emoji is passed over.
fn read_run(run: &Value) -> Option<Run> {
    if let Some(emoji) = at(run, "emoji").filter(|emoji| emoji.is_object()) {
        return Some(Run::Emoji(read_emoji(emoji)));
    }
    Some(Run::Text(TextRun {
        text: string_at(run, "text")?,
        link: at(run, "navigationEndpoint").and_then(target),
        bold: flag_at(run, "bold"),
        italics: flag_at(run, "italics"),
    }))
}

fn text_of(run: &Run) -> &str {
    match run {
        Run::Text(run) => &run.text,
        Run::Emoji(emoji) => as_text(emoji),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_text_has_no_runs_and_styled_text_has_all() {
        assert_eq!(read_words(&json!({"simpleText": "a"})), Words::plain("a"));
        assert_eq!(
            read_words(&json!({"runs": [{"text": "a"}, {"text": "\n"}, {"text": "b", "deemphasize": true}]})),
            Words::plain("a\nb")
        );
        let words = read_words(&json!({"runs": [{"text": "a "}, {"text": "b", "bold": true}]}));
        assert_eq!((words.text.as_str(), words.runs.len()), ("a b", 2));
    }

    #[test]
    fn runs_of_other_kinds_cost_only_themselves() {
        let words = read_words(
            &json!({"runs": [{"text": "a"}, {"sticker": {}}, null, 7, {"text": 5}, {"emoji": null}, {"text": "b"}]}),
        );
        assert_eq!(words, Words::plain("ab"));
        for nothing in [json!(null), json!({}), json!({"runs": null}), json!({"runs": "x"}), json!([])] {
            assert_eq!(read_words(&nothing), Words::default());
        }
    }

    #[test]
    fn c7_an_emojis_text_falls_back_field_by_field() {
        let image = json!({"accessibility": {"accessibilityData": {"label": "label"}}});
        for (emoji, text) in [
            (json!({"emojiId": "🥳", "shortcuts": [":p:"], "image": image}), "🥳"),
            (json!({"emojiId": "", "shortcuts": [":p:"], "image": image}), ":p:"),
            (json!({"image": image}), "label"),
            (json!({}), ""),
            (json!({"emojiId": "UC1/a", "shortcuts": [":_a:"], "isCustomEmoji": true}), ":_a:"),
            (json!({"emojiId": "UC1/a", "image": image, "isCustomEmoji": true}), "label"),
            (json!({"emojiId": "UC1/a", "isCustomEmoji": true}), "UC1/a"),
        ] {
            assert_eq!(read_words(&json!({"runs": [{"emoji": emoji}]})).text, text, "{emoji}");
        }
    }
}
