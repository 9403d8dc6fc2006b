//! The id of a request: in every answer, and in what the log says of it (O4).

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

/// Sent along, or made here. One that is made is a number until somebody reads it.
#[derive(Clone)]
pub(crate) enum RequestId {
    Sent(HeaderValue),
    Made(u64),
}

impl RequestId {
    /// The id that came along, if it has an id's shape, else a new one. It goes into logs, so its shape is strict.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let shaped = |id: &&HeaderValue| {
            (1..=REQUEST_ID_MAX).contains(&id.len())
                && id.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        let sent = headers.get(X_REQUEST_ID).filter(shaped);
        sent.map_or_else(|| Self::Made(rand::random()), |id| Self::Sent(id.clone()))
    }
}

impl From<RequestId> for HeaderValue {
    fn from(id: RequestId) -> Self {
        match id {
            RequestId::Sent(id) => id,
            RequestId::Made(number) => Self::from(number),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(id) => f.write_str(id.to_str().unwrap_or("-")),
            Self::Made(number) => number.fmt(f),
        }
    }
}

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is taken over, in bytes.
const REQUEST_ID_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o4_a_request_id_is_taken_over_only_if_it_can_stand_in_a_log() {
        let with = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(X_REQUEST_ID, HeaderValue::from_str(id).unwrap());
            RequestId::of(&headers)
        };
        assert_eq!(with("a-1_B.2").to_string(), "a-1_B.2");
        for id in ["", "two words", "quote\"", "x=y", &"x".repeat(65)] {
            let made = with(id);
            let text = made.to_string();
            assert!(matches!(made, RequestId::Made(_)) && text.parse::<u64>().is_ok(), "{text}");
            assert_eq!(HeaderValue::from(made), text, "the log and the answer say the same");
        }
        let new = || RequestId::of(&HeaderMap::new()).to_string();
        assert_ne!(new(), new());
    }
}
