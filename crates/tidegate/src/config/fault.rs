//! What is wrong with a settings file, where, and what was probably meant.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use crate::config::Config;
use crate::failure::Failure;

/// The first fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    file: PathBuf,
    /// 1-based; `None` for a fault of no line.
    line: Option<usize>,
    said: String,
    hint: Option<String>,
}

impl Fault {
    pub(super) fn unreadable(file: &Path, error: &std::io::Error) -> Self {
        let hint = "name the file with --config, or leave it out to run with the defaults".to_owned();
        Self { file: file.to_owned(), line: None, said: error.to_string(), hint: Some(hint) }
    }

    /// A fault of one key: `["seats", "offer_s"]`.
    pub(super) fn of_key(file: &Path, text: &str, path: &[&str], said: &str) -> Self {
        let line = position_of(text, path).map(|position| line_at(text, position));
        Self { file: file.to_owned(), line, said: format!("{}: {said}", path.join(".")), hint: None }
    }

    pub(super) fn of_toml(file: &Path, text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map(|span| span.start);
        let line = start.map(|start| line_at(text, start));
        let section = start.and_then(|start| section_at(text, start));
        let (said, hint) = if let Some((key, known)) = unknown_key(error.message()) {
            (unknown_said(key, section), Some(nearest(key, section, &known)))
        } else if let Some((value, known)) = unknown_value(error.message()) {
            (format!("unknown value \"{value}\""), Some(most_alike(value, &known)))
        } else {
            (in_words(error.message()), None)
        };
        Self { file: file.to_owned(), line, said, hint }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.said)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let failure = Self::new(fault.to_string());
        match fault.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// Every key there is, as `section.key`. The names come from the structs themselves, so they cannot go stale.
pub(crate) fn every_key() -> Vec<String> {
    let sections = keys_in("").into_iter().map(|section| match section.as_str() {
        // One section for each upstream, whatever its name.
        "upstreams" => "upstreams.NAME".to_owned(),
        _ => section,
    });
    let keys_of = |section: String| keys_in(&section).into_iter().map(move |key| format!("{section}.{key}"));
    sections.flat_map(keys_of).collect()
}

/// Asks the reader itself: an unknown key is answered with the names of the known ones.
fn keys_in(section: &str) -> Vec<String> {
    let header = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
    let probe = header + "probe = 0";
    let error = Config::read_toml(&probe).expect_err("no key is named probe");
    let known = unknown_key(error.message()).map(|(_, known)| known).unwrap_or_default();
    known.into_iter().chain(taken_out(section)).map(str::to_owned).collect()
}

/// What is read before its section is, so that the reader does not name it.
fn taken_out(section: &str) -> Option<&'static str> {
    ["control", "gate", "relay"].contains(&section).then_some("listen")
}

fn line_at(text: &str, position: usize) -> usize {
    1 + text[..position].matches('\n').count()
}

/// Where a key stands; if it was not written, where the section does that it is missing in.
fn position_of(text: &str, path: &[&str]) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut position = None;
    for name in path {
        let Some((key, value)) = table.get_key_value(*name) else { break };
        position = Some(key.span().start);
        let Some(inner) = value.get_ref().as_table() else { break };
        table = inner;
    }
    position
}

/// Takes serde's words "unknown field `a`, expected one of `b`, `c`" apart.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    quoted(message.strip_prefix("unknown field ")?)
}

/// The same for "unknown variant …".
fn unknown_value(message: &str) -> Option<(&str, Vec<&str>)> {
    quoted(message.strip_prefix("unknown variant ")?)
}

fn quoted(names: &str) -> Option<(&str, Vec<&str>)> {
    let mut names = names.split('`').skip(1).step_by(2);
    let first = names.next()?;
    Some((first, names.collect()))
}

/// Rust's names of types, which serde speaks of, as a person says them.
fn in_words(message: &str) -> String {
    let words = [
        ("a nonzero u32", "a whole number from 1"),
        ("u16", "a whole number up to 65535"),
        ("u32", "a whole number up to 4294967295"),
        ("u64", "a whole number"),
        ("usize", "a whole number"),
        ("f64", "a number"),
        ("a sequence", "a list in [ ]"),
        ("floating point `", "`"),
    ];
    let said = message.replace('\n', " ");
    words.into_iter().fold(said, |said, (rust, word)| said.replace(rust, word))
}

fn unknown_said(key: &str, section: Option<&str>) -> String {
    match section {
        Some(section) => format!("unknown key {key} in [{section}]"),
        None => format!("unknown section or key {key}"),
    }
}

/// The same name in another section, or the most alike one in this.
fn nearest(key: &str, section: Option<&str>, known: &[&str]) -> String {
    let elsewhere = every_key().into_iter().find(|full| section.is_some() && full.ends_with(&format!(".{key}")));
    if let Some((section, _)) = elsewhere.as_deref().and_then(|full| full.rsplit_once('.')) {
        return format!("{key} belongs in [{section}]");
    }
    let known: Vec<_> = known.iter().copied().chain(section.and_then(taken_out)).collect();
    most_alike(key, &known)
}

fn most_alike(name: &str, known: &[&str]) -> String {
    let alike = |other: &&&str| strsim::jaro_winkler(name, other);
    let best = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match best.filter(|name| alike(name) >= ALIKE) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("there is {}", known.join(", ")),
    }
}

/// The name of the section that a position lies in; `None` before the first and within a header itself.
fn section_at(text: &str, position: usize) -> Option<&str> {
    let line_start = text[..position].rfind('\n').map_or(0, |end| end + 1);
    if text[line_start..].trim_start().starts_with('[') {
        return None;
    }
    let header = |line: &'_ str| line.trim_start().starts_with('[');
    let line = text[..line_start].lines().rfind(|line| header(line))?;
    line.trim().strip_prefix('[')?.split(']').next().map(str::trim)
}

/// Below this two names have nothing to do with each other (Jaro-Winkler, 0 to 1).
const ALIKE: f64 = 0.75;
