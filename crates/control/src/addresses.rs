//! Whose address a request comes from (S16).

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header};

use crate::{ForwardedHeader, Networks};

/// The proxies that are believed, and the header that they write.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    /// Where they are.
    pub networks: Networks,
    /// What they write.
    pub header: ForwardedHeader,
}

/// What one address counts as: an IPv4 address, or the /64 that one IPv6 subscriber has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressKey {
    /// An IPv4 address.
    V4([u8; 4]),
    /// The first half of an IPv6 address.
    V6([u8; 8]),
}

impl From<IpAddr> for AddressKey {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::V4(v4.octets()),
            IpAddr::V6(v6) => {
                let [a, b, c, d, e, f, g, h, ..] = v6.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

/// The address that a request counts for: the socket's, or behind trusted proxies the one that they name (S16).
///
/// A proxy appends the address that it saw, so the list is read from its end: each entry is believed as long as the
/// one after it (at last the socket) is a trusted proxy. What a client wrote itself stands further left and is never
/// reached. An entry that is no address ends the walk at the proxy that wrote it.
///
/// Written by hand: the crates at hand read one header line only, or let `Forwarded` win, which many proxies pass on
/// as the client sent it.
///
/// ```
/// use http::HeaderMap;
/// use tidegate_control::addresses::{TrustedProxies, client_address};
///
/// let networks = ["10.0.0.0/8".parse().unwrap()].into_iter().collect();
/// let trusted = TrustedProxies { networks, ..TrustedProxies::default() };
/// let mut headers = HeaderMap::new();
/// headers.insert("x-forwarded-for", "1.1.1.1, 203.0.113.9, 10.0.0.2".parse().unwrap());
/// let proxy = "10.0.0.1".parse().unwrap();
/// assert_eq!(client_address(&headers, proxy, &trusted).to_string(), "203.0.113.9");
/// ```
#[must_use]
pub fn client_address(headers: &HeaderMap, peer: IpAddr, trusted: &TrustedProxies) -> IpAddr {
    let peer = peer.to_canonical();
    if !trusted.networks.contain(peer) {
        return peer;
    }
    let by_list = || walk(headers, &X_FORWARDED_FOR, list_entry, peer, trusted);
    let by_rfc = || walk(headers, &header::FORWARDED, forwarded_entry, peer, trusted);
    match trusted.header {
        ForwardedHeader::XForwardedFor => by_list(),
        ForwardedHeader::Forwarded => by_rfc(),
        ForwardedHeader::Either if headers.contains_key(&X_FORWARDED_FOR) => by_list(),
        ForwardedHeader::Either => by_rfc(),
    }
}

type Entry = fn(&str) -> Option<IpAddr>;

fn walk(headers: &HeaderMap, name: &HeaderName, entry: Entry, peer: IpAddr, trusted: &TrustedProxies) -> IpAddr {
    let mut nearest = peer;
    // A proxy may add a line of its own instead of appending to the last one.
    for line in headers.get_all(name).iter().rev() {
        let Ok(line) = line.to_str() else { return nearest };
        for text in split_outside_quotes(line, ',').into_iter().rev() {
            let Some(address) = entry(text) else { return nearest };
            nearest = address.to_canonical();
            if !trusted.networks.contain(nearest) {
                return nearest;
            }
        }
    }
    nearest
}

/// One entry of `X-Forwarded-For`: an address, which some proxies write with a port or in brackets.
fn list_entry(text: &str) -> Option<IpAddr> {
    node(text.trim())
}

/// One element of `Forwarded`: its `for` parameter (RFC 7239). `unknown` and `_hidden` names are no addresses.
fn forwarded_entry(text: &str) -> Option<IpAddr> {
    let pairs = split_outside_quotes(text, ';');
    let (_, value) = pairs
        .into_iter()
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let value = value.trim();
    let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    node(unquoted)
}

/// An address as proxies write it: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn node(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(address.ip());
    }
    text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// Parts between separators that stand outside quoted strings.
fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(|c| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return c == separator && !quoted,
        }
        false
    })
    .collect()
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(header: ForwardedHeader) -> TrustedProxies {
        let networks = ["10.0.0.0/8", "2001:db8:aa::/48"].iter().map(|net| net.parse().unwrap()).collect();
        TrustedProxies { networks, header }
    }

    fn seen(peer: &str, lines: &[(&'static str, &str)]) -> String {
        seen_by(ForwardedHeader::Either, peer, lines)
    }

    fn seen_by(header: ForwardedHeader, peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        client_address(&headers, peer.parse().unwrap(), &trusted(header)).to_string()
    }

    #[test]
    fn s16_a_stranger_is_not_believed() {
        assert_eq!(seen("192.0.2.1", &[("x-forwarded-for", "203.0.113.9")]), "192.0.2.1");
        assert_eq!(seen("192.0.2.1", &[("forwarded", "for=203.0.113.9")]), "192.0.2.1");
    }

    #[test]
    fn s16_the_last_address_that_no_trusted_proxy_has_is_the_client() {
        let list = |text: &str| seen("10.0.0.1", &[("x-forwarded-for", text)]);
        assert_eq!(list("203.0.113.9"), "203.0.113.9");
        assert_eq!(list("1.1.1.1, 203.0.113.9, 10.1.1.1"), "203.0.113.9");
        assert_eq!(list("203.0.113.9:4711"), "203.0.113.9");
        assert_eq!(list("10.3.3.3,10.2.2.2"), "10.3.3.3");
        assert_eq!(list("2001:db8::7, [2001:db8:aa::1]:80"), "2001:db8::7");
        assert_eq!(list("::ffff:203.0.113.9"), "203.0.113.9");
        assert_eq!(seen("::ffff:10.0.0.1", &[("x-forwarded-for", "203.0.113.9")]), "203.0.113.9");
    }

    #[test]
    fn s16_several_lines_are_one_list() {
        let lines = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "203.0.113.9, 10.1.1.1")];
        assert_eq!(seen("10.0.0.1", &lines), "203.0.113.9");
        let lines = [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "10.1.1.1")];
        assert_eq!(seen("10.0.0.1", &lines), "203.0.113.9");
    }

    #[test]
    fn s16_nonsense_ends_the_walk_at_the_proxy_that_wrote_it() {
        let list = |text: &str| seen("10.0.0.1", &[("x-forwarded-for", text)]);
        for text in ["", "unknown", ",", "203.0.113.9, ", "203.0.113.9, x", "999.1.1.1", "a:b:c"] {
            assert_eq!(list(text), "10.0.0.1", "{text:?}");
        }
        assert_eq!(list("203.0.113.9, nonsense, 10.2.2.2"), "10.2.2.2");
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", http::HeaderValue::from_bytes(b"\xff").unwrap());
        let peer = "10.0.0.1".parse().unwrap();
        assert_eq!(client_address(&headers, peer, &trusted(ForwardedHeader::Either)), peer);
    }

    #[test]
    fn s16_the_forwarded_header_is_read_as_rfc_7239_writes_it() {
        let forwarded = |text: &str| seen("10.0.0.1", &[("forwarded", text)]);
        assert_eq!(forwarded("for=203.0.113.9"), "203.0.113.9");
        assert_eq!(forwarded("proto=https;For=\"203.0.113.9:4711\";by=10.0.0.1"), "203.0.113.9");
        assert_eq!(forwarded("for=\"[2001:db8::7]:80\", for=10.2.2.2"), "2001:db8::7");
        assert_eq!(forwarded("for=\"[2001:db8::7]\""), "2001:db8::7");
        assert_eq!(forwarded("for=1.1.1.1, for=203.0.113.9;host=\"a,b;for=9.9.9.9\""), "203.0.113.9");
        for text in ["for=unknown", "for=_hidden", "proto=https", "for=", "for=\"", "=", ";;,"] {
            assert_eq!(forwarded(text), "10.0.0.1", "{text}");
        }
    }

    #[test]
    fn s16_a_header_that_the_proxy_only_passes_on_can_be_shut_out() {
        let both = [("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=198.51.100.1")];
        assert_eq!(seen("10.0.0.1", &both), "203.0.113.9");
        assert_eq!(seen_by(ForwardedHeader::Forwarded, "10.0.0.1", &both), "198.51.100.1");
        assert_eq!(seen_by(ForwardedHeader::XForwardedFor, "10.0.0.1", &both[1..]), "10.0.0.1");
    }

    #[test]
    fn s16_ipv6_counts_by_its_first_half() {
        let key = |text: &str| AddressKey::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:ffff:ffff:ffff"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("192.0.2.1"), key("::ffff:192.0.2.1"));
    }
}
