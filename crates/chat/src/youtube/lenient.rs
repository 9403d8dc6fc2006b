//! JSON as the upstream sends it, which is not always JSON.

use serde_json::{Deserializer, Value};

/// Reads one JSON text. Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD: one broken emoji must
/// not cost the batch it came in.
pub(super) fn read_json(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok().or_else(|| serde_json::from_str(&mended(bytes)).ok())
}

/// Reads JSON texts that follow each other, up to the first that is broken; says whether all was read.
pub(crate) fn read_values(bytes: &[u8]) -> (Vec<Value>, bool) {
    let mut values = Vec::new();
    for value in Deserializer::from_str(&mended(bytes)).into_iter() {
        match value {
            Ok(value) => values.push(value),
            Err(_) => return (values, false),
        }
    }
    (values, true)
}

/// Reads the JSON value at the start of a text; says how many bytes it takes.
pub(super) fn read_prefix(text: &str) -> Option<(Value, usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Replaces what is no UTF-8, and each `\uD800`-`\uDFFF` escape that is not half of a pair, which serde_json refuses.
/// Escapes keep their length.
pub(super) fn mended(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned().into_bytes();
    for start in lone_surrogates(&text) {
        text[start..start + ESCAPE_BYTES].copy_from_slice(b"\\ufffd");
    }
    String::from_utf8(text).expect("ASCII took the place of ASCII")
}

fn lone_surrogates(bytes: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'\\' {
            i += 1;
            continue;
        }
        match surrogate(bytes, i) {
            None => i += 2,
            Some(High) if surrogate(bytes, i + ESCAPE_BYTES) == Some(Low) => i += 2 * ESCAPE_BYTES,
            Some(High | Low) => {
                found.push(i);
                i += ESCAPE_BYTES;
            }
        }
    }
    found
}

#[derive(PartialEq)]
enum Half {
    High,
    Low,
}
use Half::{High, Low};

/// Which half of a pair the escape at this place is, if it is one.
fn surrogate(bytes: &[u8], at: usize) -> Option<Half> {
    let escape = bytes.get(at..at + ESCAPE_BYTES)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xD800..=0xDBFF => Some(High),
        0xDC00..=0xDFFF => Some(Low),
        _ => None,
    }
}

/// `\uXXXX`.
const ESCAPE_BYTES: usize = 6;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c7_half_an_emoji_costs_one_character_not_the_batch() {
        assert_eq!(
            read_json(br#"["a\ud83db", "\ude00", "\ud83d\ude00"]"#),
            Some(json!(["a\u{fffd}b", "\u{fffd}", "😀"]))
        );
        assert_eq!(read_json(br#"["\\ud83d"]"#), Some(json!([r"\ud83d"])), "an escaped backslash is no escape");
        assert_eq!(read_json(b"[\"\xff\"]"), Some(json!(["\u{fffd}"])));
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow() {
        assert_eq!(read_json("[".repeat(100_000).as_bytes()), None);
    }

    #[test]
    fn a_value_ends_where_its_brace_closes_whatever_its_strings_say() {
        assert_eq!(read_prefix(r#"{"a":"};</"};rest"#), Some((json!({"a": "};</"}), 12)));
        assert_eq!(read_prefix("{"), None);
    }
}
