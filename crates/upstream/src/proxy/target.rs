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
}
