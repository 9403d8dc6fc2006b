//! The gate's own headers: those a caller may send, read strictly and removed (G22), and those it gets (G28).

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use tidegate_gate::{Key, Operation, Priority};

use super::problem::Problem;
use crate::CallOptions;

pub(crate) const WAIT_MS: HeaderName = HeaderName::from_static("tidegate-wait-ms");
pub(crate) const ATTEMPTS: HeaderName = HeaderName::from_static("tidegate-attempts");
pub(crate) const SHARED: HeaderName = HeaderName::from_static("tidegate-shared");
pub(crate) const SYNTHETIC: HeaderName = HeaderName::from_static("tidegate-synthetic");

/// Takes the caller's options out of a request.
///
/// A name that is not known is an error too: it is a slip of the pen, and its caller counts on what it says.
pub(crate) fn take_options(headers: &mut HeaderMap) -> Result<CallOptions, Box<Problem>> {
    let mut options = CallOptions::default();
    // Most requests have none: one look at the names, and nothing else.
    while let Some(name) = headers.keys().find(|name| name.as_str().starts_with(PREFIX)).cloned() {
        let mut values = headers.get_all(&name).iter();
        let value = match (values.next(), values.next()) {
            (Some(value), None) => value.clone(),
            _ => return Err(Problem::bad_header(&name, "it is there more than once")),
        };
        read(&name, &value, &mut options).map_err(|what| Problem::bad_header(&name, what))?;
        headers.remove(&name);
    }
    Ok(options)
}

/// Takes off an answer what only the gate may say of it.
pub(crate) fn strip(headers: &mut HeaderMap) {
    while let Some(name) = headers.keys().find(|name| name.as_str().starts_with(PREFIX)).cloned() {
        headers.remove(name);
    }
}

fn read(name: &HeaderName, value: &HeaderValue, options: &mut CallOptions) -> Result<(), String> {
    match &name.as_str()[PREFIX.len()..] {
        "max-attempts" => {
            options.max_attempts = Some(number(value, 1, ATTEMPTS_MAX)?.try_into().unwrap_or(u32::MAX));
        }
        "max-wait-ms" => options.max_wait = Some(Duration::from_millis(number(value, 0, WAIT_MAX_MS)?)),
        "key" => options.key = Some(Key::of(text(value, KEY_MAX)?)),
        "operation" => options.operation = Some(Operation::new(text(value, OPERATION_MAX)?)),
        "priority" => {
            options.priority = Some(match value.as_bytes() {
                b"interactive" => Priority::Interactive,
                b"background" => Priority::Background,
                _ => return Err("it is interactive or background".to_owned()),
            });
        }
        _ => {
            let known = "Tidegate-Max-Attempts, -Max-Wait-Ms, -Key, -Priority and -Operation";
            return Err(format!("there is no such header; there are {known}"));
        }
    }
    Ok(())
}

/// A whole number without sign, spaces or anything else around it.
fn number(value: &HeaderValue, least: u64, most: u64) -> Result<u64, String> {
    let digits = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("it is a whole number from {least} to {most}"))
}

fn text(value: &HeaderValue, max: usize) -> Result<&str, String> {
    let text = value.to_str().ok().filter(|text| (1..=max).contains(&text.len()));
    text.ok_or_else(|| format!("it is 1 to {max} visible ASCII characters"))
}

const PREFIX: &str = "tidegate-";
/// More attempts than this would be a loop.
const ATTEMPTS_MAX: u64 = 10;
/// A day, in milliseconds.
const WAIT_MAX_MS: u64 = 86_400_000;
/// In bytes.
const KEY_MAX: usize = 256;
/// In bytes; longer names would be cut.
const OPERATION_MAX: usize = 120;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn g22_any_bytes_are_read_or_refused_and_none_of_them_is_passed_on(
            headers in proptest::collection::vec((0_usize..7, proptest::collection::vec(any::<u8>(), 0..40)), 0..6)
        ) {
            let names = ["key", "operation", "priority", "max-wait-ms", "max-attempts", "other", ""];
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                let name = HeaderName::try_from(format!("{PREFIX}{}", names[*name])).unwrap();
                if let Ok(value) = HeaderValue::from_bytes(value) {
                    map.append(name, value);
                }
            }
            if take_options(&mut map.clone()).is_ok() {
                take_options(&mut map).unwrap();
                prop_assert!(map.is_empty());
            }
            strip(&mut map);
            prop_assert!(map.is_empty());
        }
    }

    fn taken(headers: &[(&str, &str)]) -> Result<(CallOptions, usize), String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        take_options(&mut map).map(|options| (options, map.len())).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn g22_options_are_read_and_removed() {
        let (options, left) = taken(&[
            ("Tidegate-Max-Attempts", "5"),
            ("tidegate-max-wait-ms", "1500"),
            ("Tidegate-Key", "room 7"),
            ("Tidegate-Priority", "interactive"),
            ("Tidegate-Operation", "GET /things/{id}"),
            ("Accept", "*/*"),
        ])
        .unwrap();
        let expected = CallOptions {
            max_attempts: Some(5),
            max_wait: Some(Duration::from_millis(1500)),
            key: Some(Key::of("room 7")),
            priority: Some(Priority::Interactive),
            operation: Some(Operation::new("GET /things/{id}")),
            ..CallOptions::default()
        };
        assert_eq!((options, left), (expected, 1));
    }

    #[test]
    fn g22_a_bad_header_is_named() {
        for (name, value) in [
            ("tidegate-max-attempts", "0"),
            ("tidegate-max-attempts", "11"),
            ("tidegate-max-attempts", "+3"),
            ("tidegate-max-attempts", " 3x"),
            ("tidegate-max-attempts", ""),
            ("tidegate-max-wait-ms", "-1"),
            ("tidegate-max-wait-ms", "1.5"),
            ("tidegate-max-wait-ms", "86400001"),
            ("tidegate-max-wait-ms", "99999999999999999999999"),
            ("tidegate-key", ""),
            ("tidegate-priority", "Interactive"),
            ("tidegate-operation", &"x".repeat(121)),
            ("tidegate-maxattempts", "3"),
        ] {
            let problem = taken(&[(name, value)]).unwrap_err();
            assert!(problem.contains("BadHeader") && problem.contains(name), "{problem}");
        }
        let twice = taken(&[("Tidegate-Key", "a"), ("Tidegate-Key", "b")]).unwrap_err();
        assert!(twice.contains("more than once"), "{twice}");
    }
}
