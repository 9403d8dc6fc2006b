//! JavaScript literals: older pages write their data with single quotes, or as a string that holds JSON.

use serde_json::Value;

use super::lenient::{mended, read_json, read_prefix};

/// Reads the literal at the start of a text: JSON; an object in JavaScript's looser form; or a string that holds JSON.
/// Says how many bytes it takes.
pub(super) fn read_literal(text: &str) -> Option<(Value, usize)> {
    if let Some(read) = read_prefix(text) {
        return Some(match read {
            (Value::String(inner), length) => (read_json(inner.as_bytes())?, length),
            read => read,
        });
    }
    match text.bytes().next()? {
        b'{' | b'[' => {
            let (json, length) = object_as_json(text)?;
            Some((read_json(json.as_bytes())?, length))
        }
        b'\'' => {
            let (json, length) = string_as_json(text)?;
            let Value::String(inner) = read_json(json.as_bytes())? else { return None };
            Some((read_json(mended(inner.as_bytes()).as_bytes())?, length))
        }
        _ => None,
    }
}

/// Writes an object literal as JSON: strings in double quotes, names quoted, no comma before a closing brace.
fn object_as_json(text: &str) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let mut json = String::with_capacity(text.len().min(1 << 20));
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' => {
                let (string, length) = string_as_json(&text[at..])?;
                json.push_str(&string);
                at += length;
                continue;
            }
            byte @ (b'{' | b'[') => {
                depth += 1;
                json.push(byte.into());
            }
            byte @ (b'}' | b']') => {
                depth = depth.checked_sub(1)?;
                trim_comma(&mut json);
                json.push(byte.into());
            }
            byte if is_word(byte) => {
                let word = text[at..].split(|c: char| !c.is_ascii() || !is_word(c as u8)).next()?;
                push_word(&mut json, word, text[at + word.len()..].trim_start().starts_with(':'));
                at += word.len();
                continue;
            }
            byte @ (b':' | b',') => json.push(byte.into()),
            byte if byte.is_ascii_whitespace() => {}
            _ => return None,
        }
        at += 1;
        if depth == 0 {
            return Some((json, at));
        }
    }
    None
}

fn push_word(json: &mut String, word: &str, is_name: bool) {
    if is_name {
        json.push('"');
        json.push_str(word);
        json.push('"');
    } else {
        json.push_str(if word == "undefined" { "null" } else { word });
    }
}

fn trim_comma(json: &mut String) {
    if json.ends_with(',') {
        json.pop();
    }
}

/// Letters, digits, and what else names, numbers and keywords are made of.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'-' | b'+')
}

/// Writes the string literal at the start of a text as a JSON string.
fn string_as_json(text: &str) -> Option<(String, usize)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    let mut json = String::from('"');
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => {
                json.push('"');
                return Some((json, at + 1));
            }
            '"' => json.push_str("\\\""),
            '\\' => push_escape(&mut json, &mut chars)?,
            '\n' | '\r' => return None,
            c => json.push(c),
        }
    }
    None
}

fn push_escape(json: &mut String, chars: &mut std::str::CharIndices<'_>) -> Option<()> {
    match chars.next()?.1 {
        'x' => {
            json.push_str("\\u00");
            json.push(chars.next()?.1);
            json.push(chars.next()?.1);
        }
        c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u') => {
            json.push('\\');
            json.push(c);
        }
        // A line's end that is escaped is no part of the string; any other character stands for itself.
        '\n' => {}
        c => json.push(c),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_three_forms_of_a_pages_data_are_read() {
        let data = json!({"a": {"b": "it's };", "c": [1, true, null]}});
        for (text, rest) in [
            (r#"{"a":{"b":"it's };","c":[1,true,null]}};x"#, ";x"),
            (r"{ 'a': {b: 'it\'s };', 'c': [1, true, undefined,],}, };x", ";x"),
            (r"'\x7b\x22a\x22:\x7b\x22b\x22:\x22it\x27s \x7d;\x22,\x22c\x22:[1,true,null]\x7d\x7d';x", ";x"),
        ] {
            let (value, length) = read_literal(text).unwrap();
            assert_eq!((value, &text[length..]), (data.clone(), rest));
        }
    }

    #[test]
    fn what_is_no_literal_is_none() {
        for text in ["", "x", "{", "{'a", "{a:}", "}{", "'\\x", "{(function(){})}", "{'a':`b`}", "'{'", "/"] {
            assert_eq!(read_literal(text), None, "{text}");
        }
    }
}
