//! What a proxy takes off a message and puts on it (RFC 9110, 7.6).

use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::{Method, Version};

/// Why a request is not one that can be passed on, if it is not.
pub(crate) fn fault(version: Version, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    if method == Method::CONNECT {
        return Some("this is no forward proxy: CONNECT is not served");
    }
    let mut hosts = headers.get_all(HOST).iter();
    // RFC 9112, 3.2: two readers of such a request may think of two servers.
    if version == Version::HTTP_11 && (hosts.next().is_none() || hosts.next().is_some()) {
        return Some("an HTTP/1.1 request has one Host header");
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let chunked = |coding: &HeaderValue| coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    // Another coding would be taken off with its header, and the upstream would read coded bytes as plain ones.
    match (codings.next(), codings.next()) {
        (None, _) => None,
        (Some(coding), None) if chunked(coding) => None,
        (Some(_), _) => Some("the only transfer coding that is taken is chunked"),
    }
}

/// Takes off the headers that are about one connection, and those that `Connection` names. Answers whether the sender
/// takes trailers: the one word of `TE` that a proxy passes on.
pub(crate) fn strip(headers: &mut HeaderMap) -> bool {
    // Most messages have none of them, and a look at the few names that there are costs less than the look-ups.
    if !headers.keys().any(|name| HOP_BY_HOP.contains(name)) {
        return false;
    }
    let trailers = tokens(headers, &TE).any(|word| word.eq_ignore_ascii_case("trailers"));
    // A length beside a transfer coding is not the body's (RFC 9112, 6.3).
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    if headers.contains_key(CONNECTION) {
        let named: Vec<HeaderName> = tokens(headers, &CONNECTION).filter_map(|name| name.parse().ok()).collect();
        for name in named {
            headers.remove(name);
        }
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
    trailers
}

/// The protocol that a request asks to change to. Not HTTP/2: the proxy speaks that itself, and a caller who only
/// offers it gets an ordinary answer.
pub(crate) fn upgrade(version: Version, headers: &HeaderMap) -> Option<HeaderValue> {
    let asked = headers.get(UPGRADE)?;
    let means_it = version == Version::HTTP_11
        && tokens(headers, &CONNECTION).any(|word| word.eq_ignore_ascii_case("upgrade"))
        && !tokens(headers, &UPGRADE).any(|word| word.eq_ignore_ascii_case("h2c"));
    means_it.then(|| asked.clone())
}

/// Lets a message ask for, or agree to, a change of the protocol.
pub(crate) fn allow_upgrade(headers: &mut HeaderMap, protocol: Option<HeaderValue>) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Some(protocol) = protocol {
        headers.insert(UPGRADE, protocol);
    }
}

/// Says on a message that it passed here.
pub(crate) fn add_via(headers: &mut HeaderMap, received: Version) {
    let via = match received {
        Version::HTTP_10 => "1.0 tidegate",
        Version::HTTP_2 => "2.0 tidegate",
        _ => "1.1 tidegate",
    };
    headers.append(VIA, HeaderValue::from_static(via));
}

/// The comma-separated words of a header.
fn tokens<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> + use<'a> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// `Proxy-Authorization` speaks to this proxy, which asks for none; it is not the upstream's to see.
static HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value);
        }
        map
    }

    #[test]
    fn g28_hop_by_hop_headers_and_those_that_connection_names_end_here() {
        let mut headers = map(&[
            ("connection", "close, X-Private"),
            ("connection", "x-other"),
            ("x-private", "1"),
            ("x-other", "2"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic eA=="),
            ("te", "trailers, deflate"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("trailer", "x-sum"),
            ("accept", "*/*"),
        ]);
        assert!(strip(&mut headers), "it takes trailers");
        assert_eq!(headers, map(&[("trailer", "x-sum"), ("accept", "*/*")]));
    }

    #[test]
    fn g28_a_length_beside_a_transfer_coding_is_not_passed_on() {
        let mut headers = map(&[("content-length", "5"), ("transfer-encoding", "chunked")]);
        strip(&mut headers);
        assert_eq!(headers, HeaderMap::new());
        let mut headers = map(&[("content-length", "5")]);
        strip(&mut headers);
        assert_eq!(headers, map(&[("content-length", "5")]));
    }

    #[test]
    fn g28_what_cannot_be_passed_on_is_said() {
        let of = |method, headers: &[_]| fault(Version::HTTP_2, &method, &map(headers));
        assert_eq!(of(Method::POST, &[("transfer-encoding", " Chunked")]), None);
        assert_eq!(of(Method::GET, &[]), None);
        assert!(of(Method::CONNECT, &[]).is_some());
        assert!(of(Method::POST, &[("transfer-encoding", "gzip, chunked")]).is_some());
        assert!(of(Method::POST, &[("transfer-encoding", "chunked"), ("transfer-encoding", "gzip")]).is_some());
    }

    #[test]
    fn g28_an_upgrade_is_asked_for_by_both_headers() {
        let asked = |connection, protocol| {
            let headers = map(&[("connection", connection), ("upgrade", protocol)]);
            upgrade(Version::HTTP_11, &headers).map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(asked("keep-alive, Upgrade", "websocket").as_deref(), Some("websocket"));
        assert_eq!(asked("keep-alive", "websocket"), None);
        assert_eq!(asked("Upgrade, HTTP2-Settings", "h2c"), None);
        assert_eq!(upgrade(Version::HTTP_2, &map(&[("connection", "upgrade"), ("upgrade", "websocket")])), None);
    }

    #[test]
    fn g28_via_is_added_behind_those_before() {
        let mut headers = map(&[("via", "1.1 other")]);
        add_via(&mut headers, Version::HTTP_2);
        assert_eq!(headers, map(&[("via", "1.1 other"), ("via", "2.0 tidegate")]));
    }
}
