//! What makes two calls the same, and who shares a call that is under way (G5–G8).
//!
//! A flight is one upstream call; every one of its callers, the first included, holds a ticket of its own. So
//! there is no leader whose leaving could take the call with it: callers come and go, and the call goes when the
//! last of them has gone.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use foldhash::fast::FixedState;
use foldhash::quality::RandomState;
use http::header::{self, HeaderMap, HeaderName};
use http::{Method, Uri};

use crate::Ticket;

/// Everything that an upstream can tell two calls apart by.
///
/// The bytes themselves rather than a hash of them: two identities must never share a response, not even by a
/// collision that somebody has computed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Fingerprint(Arc<[u8]>);

/// What a fingerprint is made of.
#[derive(Clone, Copy, Debug)]
pub struct FingerprintParts<'a> {
    /// The method.
    pub method: &'a Method,
    /// Host, path and query, as they will be sent. API keys in the query count like the rest of it.
    pub uri: &'a Uri,
    /// The request's headers. All count (`Authorization`, `Cookie`, API keys, unknown ones), but for those that
    /// no answer depends on: hop-by-hop, tracing, `Tidegate-*`.
    pub headers: &'a HeaderMap,
    /// More headers of this upstream that no answer depends on (`dedupe_ignore_headers`).
    pub ignore: &'a [HeaderName],
    /// An identity that is in none of these, such as a client certificate's.
    pub identity: &'a [u8],
    /// The whole body.
    pub body: &'a [u8],
}

impl Fingerprint {
    /// Makes the fingerprint of a call; `None` if it is too long to be kept, then the call is made alone.
    #[must_use]
    pub fn of(parts: FingerprintParts<'_>) -> Option<Self> {
        let mut bytes = Vec::with_capacity(256 + parts.body.len().min(FINGERPRINT_MAX));
        let mut part = |part: &[u8]| {
            let fits = bytes.len() + part.len() <= FINGERPRINT_MAX;
            if fits {
                // Lengths first, or `ab` + `c` would be `a` + `bc`.
                bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
                bytes.extend_from_slice(part);
            }
            fits
        };
        let host = parts.uri.authority().map_or("", |authority| authority.as_str()).to_ascii_lowercase();
        let query = parts.uri.path_and_query().map_or("", |path| path.as_str());
        let head = [parts.method.as_str().as_bytes(), host.as_bytes(), query.as_bytes(), parts.identity, parts.body];
        let fits = head.into_iter().all(&mut part) && sorted(&parts).all(|(name, value)| part(name) && part(value));
        fits.then(|| Self(bytes.into()))
    }
}

impl fmt::Debug for Fingerprint {
    /// Its length only: the bytes hold secrets (O4).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({} bytes)", self.0.len())
    }
}

/// The headers that matter, in one order whatever order they came in. Values of one name keep theirs.
fn sorted<'a>(parts: &FingerprintParts<'a>) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
    let ignored = |name: &HeaderName| {
        IGNORED.contains(name) || parts.ignore.contains(name) || name.as_str().starts_with(OWN_PREFIX)
    };
    let mut headers: Vec<_> = parts.headers.iter().filter(|(name, _)| !ignored(name)).collect();
    headers.sort_by_key(|(name, _)| name.as_str());
    headers.into_iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()))
}

/// The flights of one upstream, and their callers.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    /// Seeded, for callers choose what is hashed; equal are only equal bytes.
    by_fingerprint: HashMap<Fingerprint, Ticket, RandomState>,
    flights: HashMap<Ticket, Flight, FixedState>,
    callers: HashMap<Ticket, Caller, FixedState>,
}

#[derive(Debug)]
struct Flight {
    fingerprint: Fingerprint,
    callers: BTreeSet<Ticket>,
}

/// Who waits for a shared call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) flight: Ticket,
    /// When the call must have started for this caller; it ends this caller's wait alone (G7).
    pub(crate) deadline: Option<Instant>,
    pub(crate) since: Instant,
}

impl Flights {
    /// The flight under way that is the same call.
    pub(crate) fn find(&self, fingerprint: &Fingerprint) -> Option<Ticket> {
        self.by_fingerprint.get(fingerprint).copied()
    }

    /// Opens a flight; its first caller joins like every other.
    pub(crate) fn open(&mut self, fingerprint: Fingerprint, flight: Ticket) {
        self.by_fingerprint.insert(fingerprint.clone(), flight);
        self.flights.insert(flight, Flight { fingerprint, callers: BTreeSet::new() });
    }

    pub(crate) fn join(&mut self, ticket: Ticket, caller: Caller) {
        if let Some(flight) = self.flights.get_mut(&caller.flight) {
            flight.callers.insert(ticket);
            self.callers.insert(ticket, caller);
        }
    }

    pub(crate) fn caller(&self, ticket: Ticket) -> Option<Caller> {
        self.callers.get(&ticket).copied()
    }

    /// Everybody who waits for a flight, with their deadlines.
    pub(crate) fn deadlines(&self, flight: Ticket) -> impl Iterator<Item = (Instant, Ticket)> {
        let callers = self.flights.get(&flight).into_iter().flat_map(|flight| &flight.callers);
        callers.filter_map(|ticket| Some((self.callers.get(ticket)?.deadline?, *ticket)))
    }

    /// Takes a caller out. Answers the flight if it was the last one, which ends it (G7).
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Option<Ticket> {
        let caller = self.callers.remove(&ticket)?;
        let flight = self.flights.get_mut(&caller.flight)?;
        flight.callers.remove(&ticket);
        if !flight.callers.is_empty() {
            return None;
        }
        self.end(caller.flight);
        Some(caller.flight)
    }

    /// Ends a flight: the next call of its kind is a new one (G6). Its callers leave in their own time.
    pub(crate) fn end(&mut self, flight: Ticket) {
        if let Some(ended) = self.flights.remove(&flight) {
            self.by_fingerprint.remove(&ended.fingerprint);
        }
    }

    /// Callers of flights, also of ended ones that they have not left yet.
    pub(crate) fn callers(&self) -> usize {
        self.callers.len()
    }

    /// Flights under way.
    pub(crate) fn under_way(&self) -> usize {
        self.flights.len()
    }
}

/// A fingerprint longer than this is not kept, in bytes. Chat polls have about 2 KiB.
const FINGERPRINT_MAX: usize = 64 * 1024;
/// The gate's own headers, which the upstream never sees (G22).
const OWN_PREFIX: &str = "tidegate-";
/// Headers that no answer depends on: one connection's business, and ids for tracing. User agents, languages and
/// forwarded addresses are not among them: answers do depend on those.
static IGNORED: [HeaderName; 18] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::DATE,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::VIA,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("baggage"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-correlation-id"),
    HeaderName::from_static("x-client-request-id"),
    HeaderName::from_static("x-amzn-trace-id"),
];

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn print(method: &Method, uri: &str, headers: &[(&str, &str)], body: &str) -> Option<Fingerprint> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let uri = uri.parse().unwrap();
        let ignore = [HeaderName::from_static("x-noise")];
        let parts = FingerprintParts {
            method,
            uri: &uri,
            headers: &map,
            ignore: &ignore,
            identity: b"",
            body: body.as_bytes(),
        };
        Fingerprint::of(parts)
    }

    #[test]
    fn g5_what_the_upstream_cannot_tell_apart_is_the_same() {
        let one = print(&Method::GET, "https://A.example/x?k=1", &[("accept", "a"), ("cookie", "c")], "b");
        let other = print(
            &Method::GET,
            "https://a.example/x?k=1",
            &[("cookie", "c"), ("traceparent", "00-1"), ("x-noise", "7"), ("tidegate-key", "k"), ("accept", "a")],
            "b",
        );
        assert!(one.is_some());
        assert_eq!(one, other);
    }

    #[test]
    fn g5_g8_everything_else_is_another_call() {
        let base = print(&Method::GET, "https://a.example/x?k=1", &[("accept", "a")], "b");
        for other in [
            print(&Method::HEAD, "https://a.example/x?k=1", &[("accept", "a")], "b"),
            print(&Method::GET, "https://b.example/x?k=1", &[("accept", "a")], "b"),
            print(&Method::GET, "https://a.example/y?k=1", &[("accept", "a")], "b"),
            print(&Method::GET, "https://a.example/x?k=2", &[("accept", "a")], "b"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accept", "b")], "b"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accept", "a")], "c"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accept", "a"), ("authorization", "Bearer 1")], "b"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accept", "a"), ("cookie", "sid=1")], "b"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accept", "a"), ("x-api-key", "1")], "b"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accept", "a"), ("x-any-token", "1")], "b"),
            print(&Method::GET, "https://a.example/x?k=1", &[("accep", "ta")], "b"),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn g8_a_call_too_long_to_compare_is_made_alone() {
        assert_eq!(print(&Method::POST, "/x", &[], &"b".repeat(FINGERPRINT_MAX)), None);
        assert_eq!(print(&Method::POST, "/x", &[("a", &"b".repeat(FINGERPRINT_MAX))], ""), None);
    }

    #[test]
    fn o4_a_fingerprint_shows_no_secret() {
        let secret = print(&Method::GET, "/x", &[("authorization", "Bearer hunter2")], "").unwrap();
        assert!(!format!("{secret:?}").contains("hunter2"));
    }
}
