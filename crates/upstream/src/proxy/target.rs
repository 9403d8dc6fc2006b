//! Which upstream a request is for: `/{upstream}/…`.

/// The upstream's name, and the path (with its query) at the upstream. `None` for targets that have no path.
pub(crate) fn split(path_and_query: &str) -> Option<(&str, &str)> {
    let path = path_and_query.strip_prefix('/')?;
    let end = path.find(['/', '?']).unwrap_or(path.len());
    Some(path.split_at(end))
}

/// The path of a path with its query.
pub(crate) fn path_of(path_and_query: &str) -> &str {
    path_and_query.split_once('?').map_or(path_and_query, |(path, _)| path)
}

/// Whether a path would leave the `base_url`'s own when it is resolved: the upstream, not the gate, would decide where
/// it leads, and rules for operations would be judged by another path than is served.
pub(crate) fn climbs(path: &str) -> bool {
    // Nearly no path has any of these.
    if !path.contains("..") && !path.contains(['%', '\\']) {
        return false;
    }
    let decoded = percent_encoding::percent_decode_str(path).collect::<Vec<u8>>();
    decoded.split(|byte| matches!(byte, b'/' | b'\\')).any(|segment| segment == b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g28_the_first_part_of_the_path_names_the_upstream() {
        assert_eq!(split("/youtube/watch?v=/x"), Some(("youtube", "/watch?v=/x")));
        assert_eq!(split("/youtube"), Some(("youtube", "")));
        assert_eq!(split("/youtube?v=1"), Some(("youtube", "?v=1")));
        assert_eq!(split("/youtube//x/"), Some(("youtube", "//x/")));
        assert_eq!(split("/"), Some(("", "")));
        assert_eq!(split("*"), None);
        assert_eq!(path_of("/watch?v=1?2"), "/watch");
    }

    #[test]
    fn g28_a_path_that_climbs_is_told_from_one_with_dots() {
        for path in ["/..", "/a/../b", "/%2e%2E/x", "/a/..%2fb", "/a%2F..%2Fb", "/a\\..\\b", "/a/%2e."] {
            assert!(climbs(path), "{path}");
        }
        for path in ["", "/", "/a..b", "/...", "/.", "/a/..b", "/%2e%2ea", "/100%", "/a%2fb"] {
            assert!(!climbs(path), "{path}");
        }
    }
}
