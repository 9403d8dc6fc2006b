//! Addresses, taken apart as far as a name or a redirect needs it.

use percent_encoding::percent_decode_str;

/// The parts of an absolute or scheme-less address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    pub(super) host: &'a str,
    /// With its leading slash; empty when there is none.
    pub(super) path: &'a str,
    pub(super) query: &'a str,
}

impl<'a> Address<'a> {
    /// Reads `[http[s]:][//]host[:port][/path][?query][#fragment]`; another scheme is `None`.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let text = text.split('#').next()?;
        let text = match text.split_once("://") {
            Some((scheme, rest)) if ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)) => rest,
            Some((before, _)) if !before.contains(['/', '?']) => return None,
            Some(_) | None => text.strip_prefix("//").unwrap_or(text),
        };
        let (before, query) = text.split_once('?').unwrap_or((text, ""));
        let path_at = before.find('/').unwrap_or(before.len());
        let (authority, path) = before.split_at(path_at);
        let host = authority.rsplit('@').next()?.split(':').next()?;
        let shaped = host.contains('.') && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
        shaped.then_some(Self { host, path, query })
    }

    /// Whether the host is this domain or under it.
    pub(super) fn is_under(&self, domain: &str) -> bool {
        let host = self.host.to_ascii_lowercase();
        host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }

    /// A value of the query, decoded.
    pub(super) fn query_value(&self, name: &str) -> Option<String> {
        let (_, value) = self.query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_host_path_and_query() {
        let address = Address::parse("https://www.YouTube.com:443/watch?v=a&q=x%3Dy#t").unwrap();
        assert_eq!((address.host, address.path, address.query), ("www.YouTube.com", "/watch", "v=a&q=x%3Dy"));
        assert_eq!(address.query_value("q").as_deref(), Some("x=y"));
        assert!(address.is_under("youtube.com") && !address.is_under("tube.com"));
        assert_eq!(Address::parse("youtu.be/a?u=http://x").unwrap().path, "/a");
    }

    #[test]
    fn other_schemes_and_words_are_no_addresses() {
        for text in ["", "javascript:alert(1)", "ftp://a.b/", "word", "@handle", "a b.c/", "https://", "/path"] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_before_the_host_does_not_pose_as_the_host() {
        assert_eq!(Address::parse("https://www.youtube.com@evil.example/").unwrap().host, "evil.example");
    }
}
