//! The data objects of a page: `ytInitialData`, `ytInitialPlayerResponse` and `ytcfg`.
//!
//! Only assignments in scripts count, and what has been read is skipped: a title that says `ytInitialData = {}` lies
//! inside an object and is never looked at. A value ends where a JSON reader says so, not at the next `};`.

use serde_json::{Map, Value};

use super::lenient::mended;
use super::literal::read_literal;

/// What a page holds.
#[derive(Debug, Default)]
pub(super) struct PageData {
    /// `ytInitialData`.
    pub(super) data: Option<Value>,
    /// `ytInitialPlayerResponse`.
    pub(super) player: Option<Value>,
    /// All `ytcfg.set` calls that hold data, merged; a later one wins.
    pub(super) config: Map<String, Value>,
}

/// Reads a page's data objects.
pub(super) fn read_scripts(html: &[u8]) -> PageData {
    let html = mended(html);
    let mut page = PageData::default();
    let mut attempts = MAX_ATTEMPTS;
    for script in scripts(&html) {
        read_script(script, &mut page, &mut attempts);
    }
    page
}

/// The address of the page's `<link rel="canonical">`.
pub(super) fn canonical(html: &[u8]) -> Option<String> {
    let html = String::from_utf8_lossy(html);
    let tags = html.split("<link").skip(1).filter_map(|part| part.split('>').next());
    let tag = tags.into_iter().find(|tag| attribute(tag, "rel") == Some("canonical"))?;
    attribute(tag, "href").map(str::to_owned)
}

fn read_script(script: &str, page: &mut PageData, attempts: &mut u32) {
    let mut rest = script;
    while let Some(start) = rest.find(PREFIX) {
        rest = &rest[start..];
        let Some((mark, value)) = MARKS.iter().find_map(|mark| Some((mark, value_of(rest, mark)?))) else {
            rest = &rest[PREFIX.len()..];
            continue;
        };
        if *attempts == 0 {
            return;
        }
        let Some((read, length)) = read_literal(value) else {
            *attempts -= 1;
            rest = value;
            continue;
        };
        keep(page, mark, read);
        rest = &value[length..];
    }
}

fn keep(page: &mut PageData, mark: &Mark, value: Value) {
    match (mark.what, value) {
        (What::Data, value @ Value::Object(_)) => {
            page.data.get_or_insert(value);
        }
        (What::Player, value @ Value::Object(_)) => {
            page.player.get_or_insert(value);
        }
        (What::Config, Value::Object(map)) => page.config.extend(map),
        // Pages without a player say `ytInitialPlayerResponse = null`.
        (What::Data | What::Player | What::Config, _) => {}
    }
}

/// Where the value of a name starts: behind `=` or `(`, and for `window["x"]` behind the bracket.
fn value_of<'a>(text: &'a str, mark: &Mark) -> Option<&'a str> {
    let after = text.strip_prefix(mark.name)?.trim_start_matches(['"', '\'', ']']).trim_start();
    let value = match mark.what {
        What::Data | What::Player => after.strip_prefix('=')?,
        What::Config => after.strip_prefix('(')?,
    };
    Some(value.trim_start())
}

/// The bodies of the page's scripts, without those that hold other data.
fn scripts(html: &str) -> impl Iterator<Item = &str> {
    html.split("<script").skip(1).filter_map(|part| {
        let (tag, body) = part.split_once('>')?;
        let foreign = attribute(tag, "type").is_some_and(|kind| kind.ends_with("json"));
        (!foreign).then(|| body.split("</script").next().unwrap_or(body))
    })
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = tag.split_once(&format!(" {name}="))?;
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    after[1..].split(quote).next()
}

struct Mark {
    name: &'static str,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Data,
    Player,
    Config,
}

/// Literals that may turn out to be code, per page. Each may cost a reading to the page's end, so a page made of
/// unfinished ones would otherwise cost its length squared.
const MAX_ATTEMPTS: u32 = 64;

/// What all marks start with.
const PREFIX: &str = "yt";

const MARKS: &[Mark] = &[
    Mark { name: "ytInitialData", what: What::Data },
    Mark { name: "ytInitialPlayerResponse", what: What::Player },
    Mark { name: "ytcfg.set", what: What::Config },
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_is_found_in_each_form_of_assignment() {
        for script in [
            r#"var ytInitialData = {"a":1};"#,
            r#"window["ytInitialData"] = {"a":1};window["ytInitialPlayerResponse"] = null;"#,
            r"window['ytInitialData'] = { 'a': 1 };",
            r"var ytInitialData = '\x7b\x22a\x22:1\x7d';",
        ] {
            let page = read_scripts(format!("<html><script nonce=\"x\">{script}</script>").as_bytes());
            assert_eq!(page.data, Some(json!({"a": 1})), "{script}");
            assert_eq!(page.player, None);
        }
    }

    #[test]
    fn a_title_cannot_pose_as_data() {
        let html = br#"<title>ytInitialData = {"t":1}</title><script type="application/ld+json">{"name":"ytInitialData = {}"}
            </script><script>if (window.ytInitialPlayerResponse) {}; var ytInitialPlayerResponse = {"title":"};ytInitialData = {};ytcfg.set({})"};
            var ytInitialData = {"title":"<\/script> };"};</script>"#;
        let page = read_scripts(html);
        assert_eq!(page.data, Some(json!({"title": "</script> };"})));
        assert_eq!(page.player, Some(json!({"title": "};ytInitialData = {};ytcfg.set({})"})));
        assert!(page.config.is_empty());
    }

    #[test]
    fn several_configs_are_merged_and_those_that_are_code_are_passed_over() {
        let html = br#"<script>ytcfg.set({"A":1,"B":1});</script><script>ytcfg.set({a:function(){}});ytcfg.set("k", 1);ytcfg.set({"B":2});</script>"#;
        assert_eq!(Value::Object(read_scripts(html).config), json!({"A": 1, "B": 2}));
    }

    #[test]
    fn the_canonical_link_is_read_from_its_tag() {
        let html =
            br#"<link rel="x" href="no"><link rel="canonical" href="https://www.youtube.com/watch?v=abcdefghij0">"#;
        assert_eq!(canonical(html).as_deref(), Some("https://www.youtube.com/watch?v=abcdefghij0"));
        assert_eq!(canonical(b"<link rel=\"canonical\""), None);
    }
}
