//! Where to go on from, and when.

use std::time::Duration;

use serde_json::Value;

use super::token::Token;
use super::walk::{count_at, text_at};

/// The next token of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The token.
    pub token: Token,
    /// How the upstream gave it.
    pub kind: ContinuationKind,
    /// How long to wait first, as the upstream says: neither clamped nor, when it is missing, made up (C3).
    pub hint: Option<Duration>,
}

/// The kinds of continuations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContinuationKind {
    /// Live; the upstream's own client would wait for a push meanwhile.
    Invalidation,
    /// Live.
    Timed,
    /// Start again here: the answer is a backlog that repeats what was sent before.
    Reload,
    /// The replay of a finished stream.
    Replay,
}

impl Next {
    /// Takes the first entry of a known kind. A seek token is none of them: where it stands alone, a replay is over.
    pub(super) fn read(continuations: &[Value]) -> Option<Self> {
        continuations.iter().find_map(|entry| {
            KINDS.iter().find_map(|(key, kind, hint)| {
                let data = entry.get(key)?;
                Some(Self {
                    token: Token::new(text_at(data, "continuation")?)?,
                    kind: *kind,
                    hint: count_at(data, hint).map(Duration::from_millis),
                })
            })
        })
    }
}

/// Key, kind, and the name of the hint.
const KINDS: &[(&str, ContinuationKind, &str)] = &[
    ("invalidationContinuationData", ContinuationKind::Invalidation, "timeoutMs"),
    ("timedContinuationData", ContinuationKind::Timed, "timeoutMs"),
    ("reloadContinuationData", ContinuationKind::Reload, "timeoutMs"),
    ("liveChatReplayContinuationData", ContinuationKind::Replay, "timeUntilLastMessageMsec"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(entries: Value) -> Option<(String, ContinuationKind, Option<u64>)> {
        let next = Next::read(entries.as_array().unwrap())?;
        let hint = next.hint.map(|hint| u64::try_from(hint.as_millis()).unwrap());
        Some((next.token.to_string(), next.kind, hint))
    }

    #[test]
    fn c3_each_kind_has_its_hint_and_none_is_made_up() {
        for (entry, kind, hint) in [
            (
                json!({"invalidationContinuationData": {"timeoutMs": 10_000, "continuation": "t"}}),
                ContinuationKind::Invalidation,
                Some(10_000),
            ),
            (
                json!({"timedContinuationData": {"timeoutMs": "5035", "continuation": "t"}}),
                ContinuationKind::Timed,
                Some(5_035),
            ),
            (json!({"timedContinuationData": {"timeoutMs": 0, "continuation": "t"}}), ContinuationKind::Timed, Some(0)),
            (json!({"timedContinuationData": {"timeoutMs": -5, "continuation": "t"}}), ContinuationKind::Timed, None),
            (json!({"timedContinuationData": {"continuation": "t"}}), ContinuationKind::Timed, None),
            (json!({"reloadContinuationData": {"continuation": "t"}}), ContinuationKind::Reload, None),
            (
                json!({"liveChatReplayContinuationData": {"timeUntilLastMessageMsec": 300, "continuation": "t"}}),
                ContinuationKind::Replay,
                Some(300),
            ),
        ] {
            assert_eq!(read(json!([entry])), Some(("t".to_owned(), kind, hint)), "{entry}");
        }
    }

    #[test]
    fn the_first_known_entry_is_taken_wherever_it_stands() {
        let timed = json!({"clickTrackingParams": "x", "timedContinuationData": {"continuation": "t"}});
        let seek = json!({"playerSeekContinuationData": {"continuation": "s"}});
        let expected = Some(("t".to_owned(), ContinuationKind::Timed, None));
        assert_eq!(read(json!([{"newContinuationData": {"continuation": "n"}}, seek, timed])), expected);
        assert_eq!(
            read(json!([{"timedContinuationData": {}}, null, 1, timed])),
            expected,
            "one without a token is passed over"
        );
        assert_eq!(read(json!([seek])), None, "a replay is over");
        assert_eq!(read(json!([])), None);
    }
}
