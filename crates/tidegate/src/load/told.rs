//! What an answer told a page, read as a page would read it.

use std::time::Duration;

use serde::Deserialize;

use crate::load::client::Reply;

/// What the page was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// Seated.
    In { seat: String, token: String, token_life: Duration, beat: Duration },
    /// In line.
    Wait { seat: String, position: u32, retry: Duration },
    /// A seat is held for it.
    Offer { seat: String, left: Duration, retry: Duration },
    /// No seat and no place.
    Full { retry: Duration },
    /// A heartbeat was taken.
    Kept { next: Duration },
    /// A new token.
    Renewed { token: String, token_life: Duration },
    /// The seat is gone (410 `seat_gone`).
    Gone,
    /// The stream is over for this page: ended, deleted, kicked, or not public.
    Closed,
    /// A leave was taken.
    Done,
    /// Anything else: try again, after this time if it was told.
    Problem { retry: Option<Duration> },
}

impl Told {
    /// The seat id and the position that were told, if any.
    pub(crate) fn named(&self) -> (Option<&str>, Option<u32>) {
        match self {
            Self::Wait { seat, position, .. } => (Some(seat), Some(*position)),
            Self::In { seat, .. } | Self::Offer { seat, .. } => (Some(seat), None),
            Self::Full { .. }
            | Self::Kept { .. }
            | Self::Renewed { .. }
            | Self::Gone
            | Self::Closed
            | Self::Done
            | Self::Problem { .. } => (None, None),
        }
    }
}

/// A told answer, and how the summary counts it: `201 in`, `429 rate_limited`.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) told: Told,
    pub(crate) label: String,
}

/// The fields of every answer on the page's routes.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    state: Option<String>,
    code: Option<String>,
    seat: Option<String>,
    position: Option<u32>,
    retry_after_ms: Option<u64>,
    offer_s: Option<u64>,
    token: Option<String>,
    token_expires_s: Option<u64>,
    heartbeat_s: Option<u64>,
    next_ms: Option<u64>,
}

/// Reads a reply. What breaks the protocol (a `201` without a seat) reads as a problem labelled `unreadable`.
pub(crate) fn read(reply: &Reply) -> Read {
    let body = match reply.body.is_empty() {
        true => Some(Body::default()),
        false => serde_json::from_slice::<Body>(&reply.body).ok(),
    };
    let word = match &body {
        Some(body) => body.state.clone().or_else(|| body.code.clone()).unwrap_or_default(),
        None => "unreadable".to_owned(),
    };
    let told = body.and_then(|body| tell(reply, body));
    let label = match &told {
        Some(_) => format!("{} {word}", reply.status).trim_end().to_owned(),
        None => format!("{} unreadable", reply.status),
    };
    Read { told: told.unwrap_or(Told::Problem { retry: reply.retry }), label }
}

fn tell(reply: &Reply, body: Body) -> Option<Told> {
    let retry = body.retry_after_ms.map(Duration::from_millis).or(reply.retry).map(|retry| retry.max(SHORTEST));
    let life = |seconds: Option<u64>| seconds.map(Duration::from_secs);
    Some(match (reply.status, body.state.as_deref(), body.code.as_deref()) {
        (201, Some("in"), _) => Told::In {
            seat: body.seat?,
            token: body.token?,
            token_life: life(body.token_expires_s)?,
            beat: Duration::from_secs(body.heartbeat_s?),
        },
        (409, Some("wait"), _) => Told::Wait { seat: body.seat?, position: body.position?, retry: retry? },
        (409, Some("offer"), _) => Told::Offer { seat: body.seat?, left: life(body.offer_s)?, retry: retry? },
        (409, Some("full"), _) => Told::Full { retry: retry? },
        (200 | 201, None, _) if body.token.is_some() => {
            Told::Renewed { token: body.token?, token_life: life(body.token_expires_s)? }
        }
        (200, None, _) if body.next_ms.is_some() => {
            Told::Kept { next: Duration::from_millis(body.next_ms?).max(SHORTEST) }
        }
        (200..=299, None, None) => Told::Done,
        (410, _, Some("seat_gone")) => Told::Gone,
        (410 | 404 | 403, _, Some(_)) => Told::Closed,
        (400..=599, _, _) => Told::Problem { retry },
        _ => return None,
    })
}

/// No page calls again sooner, whatever it is told: a server's mistake must not become a flood.
const SHORTEST: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    fn reply(status: u16, body: &'static str) -> Reply {
        let now = Instant::now();
        Reply { status, retry: Some(Duration::from_secs(7)), body: body.into(), sent: now, got: now }
    }

    #[test]
    fn the_four_answers_to_an_ask_are_read() {
        let seat = || "s".to_owned();
        let said = [
            (
                reply(
                    201,
                    r#"{"state":"in","seat":"s","token":"t","token_expires_s":120,"heartbeat_s":5,"relays":[]}"#,
                ),
                Told::In {
                    seat: seat(),
                    token: "t".to_owned(),
                    token_life: Duration::from_secs(120),
                    beat: Duration::from_secs(5),
                },
            ),
            (
                reply(409, r#"{"state":"wait","seat":"s","position":3,"retry_after_ms":2000}"#),
                Told::Wait { seat: seat(), position: 3, retry: Duration::from_secs(2) },
            ),
            (
                reply(409, r#"{"state":"offer","seat":"s","offer_s":10,"retry_after_ms":2000}"#),
                Told::Offer { seat: seat(), left: Duration::from_secs(10), retry: Duration::from_secs(2) },
            ),
            (
                reply(409, r#"{"state":"full","retry_s":30,"retry_after_ms":30000}"#),
                Told::Full { retry: Duration::from_secs(30) },
            ),
        ];
        for (reply, told) in said {
            assert_eq!(read(&reply).told, told);
        }
    }

    #[test]
    fn problems_are_counted_by_status_and_code() {
        let limited = read(&reply(429, r#"{"status":429,"code":"rate_limited","retry_after_ms":500}"#));
        assert_eq!(limited.label, "429 rate_limited");
        assert_eq!(limited.told, Told::Problem { retry: Some(Duration::from_millis(500)) });
        let gone = read(&reply(410, r#"{"status":410,"code":"seat_gone"}"#));
        assert_eq!((gone.label.as_str(), gone.told), ("410 seat_gone", Told::Gone));
        assert_eq!(read(&reply(410, r#"{"code":"stream_ended"}"#)).told, Told::Closed);
    }

    #[test]
    fn an_answer_that_breaks_the_protocol_is_named_unreadable() {
        for broken in [reply(201, r#"{"state":"in"}"#), reply(409, "<html>"), reply(302, "")] {
            let read = read(&broken);
            assert!(read.label.ends_with("unreadable"), "{}", read.label);
            assert_eq!(read.told, Told::Problem { retry: Some(Duration::from_secs(7)) });
        }
    }
}
