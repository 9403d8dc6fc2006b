//! How a session is asked for at a relay, and how one is told that it is over: the address and the close code.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::TOKEN_MAX_BYTES;
use crate::problem::whole_ms;

/// What the address of a session says: `https://relay.example:4443/STREAM?jwt=TOKEN`.
///
/// Over raw QUIC the client's SETUP carries the same path and query.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionAsk<'a> {
    /// The stream; `None` at the root, where peers connect.
    pub stream: Option<&'a str>,
    /// The token, as it was given.
    pub token: Cow<'a, str>,
}

/// Why an address asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAddress {
    /// The path is neither the root nor one stream's name.
    NoStream,
    /// There is no `jwt` in the query.
    NoToken,
    /// The token is longer than any of ours.
    TokenTooLong,
}

impl<'a> SessionAsk<'a> {
    /// Reads a path and its query. Whether the stream exists, and what the token is worth, is not looked at.
    ///
    /// # Errors
    /// [`BadAddress`]; its text may be shown to the client.
    pub fn parse(path: &'a str, query: Option<&'a str>) -> Result<Self, BadAddress> {
        let name = path.trim_matches('/');
        let stream = if name.is_empty() { None } else { Some(name) };
        if !stream.is_none_or(is_name) {
            return Err(BadAddress::NoStream);
        }
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let token = pairs.filter(|(name, _)| *name == TOKEN_PARAMETER).map(|(_, value)| value).next();
        let token = token.filter(|token| !token.is_empty()).ok_or(BadAddress::NoToken)?;
        if token.len() > TOKEN_MAX_BYTES {
            return Err(BadAddress::TokenTooLong);
        }
        // A signed token has no character that an address would escape, apart from a client that escapes its dots.
        let token = if token.contains("%2E") || token.contains("%2e") {
            Cow::Owned(token.replace("%2E", ".").replace("%2e", "."))
        } else {
            Cow::Borrowed(token)
        };
        Ok(Self { stream, token })
    }
}

/// Shows no token (O4).
impl fmt::Debug for SessionAsk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionAsk").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoStream => "the address names no stream: write /STREAM?jwt=TOKEN",
            Self::NoToken => "the address has no token: write /STREAM?jwt=TOKEN",
            Self::TokenTooLong => "the token is longer than any of ours: send it as it was given",
        })
    }
}

/// Why a relay closes a session: the close code of WebTransport, or of QUIC, and the first word of its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseCode {
    /// No valid token for what was asked (E1). The number is the one of MoQ itself, so that its clients stop trying.
    Unauthorized,
    /// The token's session is open, and was heard from (E2).
    TokenInUse,
    /// The tenant's sessions are used up (E3).
    ScopeFull,
    /// No room for a newcomer (E8).
    EdgeFull,
    /// The seat was freed, or the stream stopped (T6).
    Removed,
    /// A new session came on the same token (E2).
    Replaced,
    /// The seat has a newer session (T3).
    Renewed,
    /// The token ended and was not renewed (E4).
    TokenExpired,
    /// The relay stops; others go on (O9).
    Stopping,
}

impl CloseCode {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Unauthorized,
        Self::TokenInUse,
        Self::ScopeFull,
        Self::EdgeFull,
        Self::Removed,
        Self::Replaced,
        Self::Renewed,
        Self::TokenExpired,
        Self::Stopping,
    ];

    const fn row(self) -> (u32, &'static str) {
        match self {
            Self::Unauthorized => (0x0002, "UNAUTHORIZED"),
            Self::EdgeFull => (0x5746, "EDGE_FULL"),
            Self::TokenInUse => (0x5747, "TOKEN_IN_USE"),
            // Rule E3 says it in two words.
            Self::ScopeFull => (0x5748, "scope full"),
            Self::Removed => (0x5749, "REMOVED"),
            Self::Replaced => (0x574a, "REPLACED"),
            Self::Renewed => (0x574b, "RENEWED"),
            Self::TokenExpired => (0x574c, "TOKEN_EXPIRED"),
            Self::Stopping => (0x574d, "STOPPING"),
        }
    }

    /// The number that the client's side of the session is closed with.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.row().0
    }

    /// The code as it is written in reasons and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().1
    }

    /// The reason of a refusal that says when to try again: `EDGE_FULL retry_ms=2000`.
    #[must_use]
    pub fn retry(self, after: Duration) -> String {
        format!("{} retry_ms={}", self.as_str(), whole_ms(after))
    }
}

fn is_name(text: &str) -> bool {
    (1..=40).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}

/// The query's name for the token, as MoQ's other relays have it.
const TOKEN_PARAMETER: &str = "jwt";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn e1_no_address_whatever_it_is_gets_past_the_names_of_streams(path in "\\PC*", query in "\\PC*") {
            if let Ok(ask) = SessionAsk::parse(&path, Some(&query)) {
                prop_assert!(ask.stream.is_none_or(is_name));
                prop_assert!(!ask.token.is_empty() && ask.token.len() <= TOKEN_MAX_BYTES);
            }
        }
    }

    #[test]
    fn e1_an_address_names_one_stream_and_a_token() {
        let parse = |path, query| SessionAsk::parse(path, query).map(|ask| (ask.stream, ask.token.into_owned()));
        assert_eq!(parse("/launch", Some("jwt=a.b.c")), Ok((Some("launch"), "a.b.c".to_owned())));
        assert_eq!(parse("launch/", Some("x=1&jwt=a.b.c&y")), Ok((Some("launch"), "a.b.c".to_owned())));
        assert_eq!(parse("/launch", Some("jwt=a%2Eb%2ec")), Ok((Some("launch"), "a.b.c".to_owned())));
        assert_eq!(parse("/", Some("jwt=a.b.c")), Ok((None, "a.b.c".to_owned())));
        let long = "a".repeat(41);
        for path in ["/launch/other", "/Launch", "/..", "/a b", &long] {
            assert_eq!(parse(path, Some("jwt=a.b.c")), Err(BadAddress::NoStream), "{path}");
        }
        for query in [None, Some(""), Some("jwt="), Some("jwt"), Some("token=a.b.c")] {
            assert_eq!(parse("/launch", query), Err(BadAddress::NoToken), "{query:?}");
        }
        let long = format!("jwt={}", "a".repeat(4097));
        assert_eq!(parse("/launch", Some(&long)), Err(BadAddress::TokenTooLong));
    }

    #[test]
    fn o4_an_address_shows_no_token() {
        let ask = SessionAsk::parse("/launch", Some("jwt=secret")).unwrap();
        assert!(!format!("{ask:?}").contains("secret"));
    }

    #[test]
    fn e8_a_refusal_says_when_to_come_back() {
        assert_eq!(CloseCode::EdgeFull.number(), 0x5746);
        assert_eq!(CloseCode::EdgeFull.retry(Duration::from_secs(2)), "EDGE_FULL retry_ms=2000");
        assert_eq!(CloseCode::ScopeFull.as_str(), "scope full");
        let mut numbers = CloseCode::ALL.map(CloseCode::number);
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "one number, one meaning");
    }
}
