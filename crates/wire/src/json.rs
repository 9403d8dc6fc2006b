//! Reading a body: strict about JSON and types, with the field's name in every refusal.

use std::fmt;

use serde::de::{self, DeserializeOwned, Visitor};

use crate::{Code, Problem};

/// Arrays and objects inside each other, at most. No call needs more than two.
pub const JSON_DEPTH_MAX: usize = 32;

/// A request body.
pub(crate) trait Body: DeserializeOwned {
    /// What the types can not say: lengths, shapes, fields that exclude each other.
    fn check(&self) -> Result<(), Problem>;
}

/// Reads a body; an empty one is `{}`, whatever its `Content-Type` said (S25).
pub(crate) fn read<T: Body>(body: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(body).map_err(|e| not_json(&e))?;
    let text = if text.trim_ascii().is_empty() { "{}" } else { text };
    // The derived readers would also take an array of the fields' values in order.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(not_json(&"it must be an object, like {\"name\": \"value\"}"));
    }
    if too_deep(text) {
        return Err(not_json(&format_args!("it is nested more than {JSON_DEPTH_MAX} deep")));
    }
    let parsed: T = serde_json::from_str(text).map_err(|e| explain::<T>(text, &e))?;
    parsed.check()?;
    Ok(parsed)
}

/// serde_json bounds its own recursion, but passes over unknown fields without one, however deep they are.
fn too_deep(text: &str) -> bool {
    // A body needs two bytes for each level, and most have one brace: counting is a fraction of the cost of walking.
    let openings = || text.bytes().filter(|b| matches!(b, b'{' | b'[')).count();
    text.len() > 2 * JSON_DEPTH_MAX && openings() > JSON_DEPTH_MAX && nesting(text) > JSON_DEPTH_MAX
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn not_json(why: &dyn fmt::Display) -> Problem {
    Problem::new(Code::BadRequest, format!("the body is not the JSON that this call takes: {why}"))
}

/// Finds the field that is wrong by reading again, slowly; only refusals pay for it.
fn explain<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Problem {
    if !error.is_data() {
        return not_json(error);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let Err(traced) = serde_path_to_error::deserialize::<_, T>(&mut reader) else {
        return not_json(error);
    };
    let path = traced.path().to_string();
    let message: String = traced.inner().to_string().chars().take(DETAIL_MAX_CHARS).collect();
    let field = path.split(['.', '[']).next().unwrap_or_default();
    if let Some(missing) = quoted_after(&message, "missing field `") {
        return Problem::of_field(Code::BadRequest, missing, "is needed");
    }
    if field.is_empty() {
        return not_json(&message);
    }
    if message.starts_with("unknown field") {
        return unknown_field(field, fields_of::<T>());
    }
    Problem { field: Some(field.to_owned()), ..Problem::new(Code::BadRequest, format!("{path}: {message}")) }
}

/// S25: a typo in `queue_max` must not pass silently, and is answered with the name that was meant.
fn unknown_field(field: &str, known: &[&str]) -> Problem {
    let field: String = field.chars().take(FIELD_MAX_CHARS).collect();
    let nearest = known.iter().map(|name| (strsim::jaro_winkler(&field, name), *name));
    let nearest = nearest.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness >= ALIKE);
    let what = match nearest {
        Some((_, name)) => format!("unknown field; did you mean `{name}`?"),
        None if known.is_empty() => "unknown field; this call takes none".to_owned(),
        None => format!("unknown field; this call knows {}", known.join(", ")),
    };
    Problem::of_field(Code::UnknownField, &field, what)
}

fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.split('`').next()
}

/// The names that a derived reader knows: it tells them to the format that it reads from.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    let _always_an_error = T::deserialize(FieldNames(&mut fields));
    fields
}

/// A format that holds nothing and remembers which fields it was asked for.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> de::Deserializer<'de> for FieldNames<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("no content"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(de::Error::custom("no content"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A refusal repeats at most so much of what was sent.
const DETAIL_MAX_CHARS: usize = 200;

/// A refusal repeats at most so much of an unknown name.
const FIELD_MAX_CHARS: usize = 60;

/// Jaro-Winkler likeness from which a name is taken for a typo of another.
const ALIKE: f64 = 0.8;
