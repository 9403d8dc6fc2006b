//! Walking foreign JSON: every step may be missing or of another type.

use serde_json::Value;

/// The value at a path of keys and array indexes, `a.b.0.c`.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Object(map) => map.get(step),
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// A string that is there and not empty.
pub(super) fn text_at<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    at(value, path)?.as_str().filter(|text| !text.is_empty())
}

/// The same, to keep.
pub(super) fn string_at(value: &Value, path: &str) -> Option<String> {
    text_at(value, path).map(str::to_owned)
}

/// A list; an absent one is empty.
pub(super) fn list_at<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `true` and nothing else: absent and null flags mean no.
pub(super) fn flag_at(value: &Value, path: &str) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or(false)
}

/// A whole number, which the upstream writes as a number in one place and as a string in the next.
pub(super) fn whole_at(value: &Value, path: &str) -> Option<i64> {
    whole(at(value, path)?)
}

/// The same, where it cannot be negative.
pub(super) fn count_at(value: &Value, path: &str) -> Option<u64> {
    u64::try_from(whole_at(value, path)?).ok()
}

/// The only key of an action or item, beside the tracking values that may come before or after it.
pub(super) fn only_key(value: &Value) -> Option<(&str, &Value)> {
    let map = value.as_object()?;
    map.iter().find(|(key, value)| !BESIDES.contains(&key.as_str()) && value.is_object()).map(|(k, v)| (k.as_str(), v))
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Keys that stand beside the one that names an action.
const BESIDES: &[&str] = &["clickTrackingParams", "trackingParams", "loggingDirectives", "commandMetadata"];
