//! A route as a script writes it: `GET /channels/{id}`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A method and a path template.
///
/// `{name}` stands for one segment, a last `*` for any rest; `*` as the method stands for every method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Route {
    text: String,
    method: Option<String>,
    segments: Vec<Segment>,
}

impl Route {
    /// Whether a request is of this route; the path is without its query.
    #[must_use]
    pub fn matches(&self, method: &str, path: &str) -> bool {
        if self.method.as_ref().is_some_and(|own| own != method) {
            return false;
        }
        let mut path = path.trim_start_matches('/').split('/');
        for segment in &self.segments {
            match (segment, path.next()) {
                (Segment::Rest, _) => return true,
                (Segment::Fixed(text), Some(found)) if text == found => {}
                (Segment::Any, Some(found)) if !found.is_empty() => {}
                (Segment::Fixed(_) | Segment::Any, _) => return false,
            }
        }
        path.next().is_none()
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Route {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let wrong = || RouteError(text.to_owned());
        let (method, path) = text.split_once(' ').ok_or_else(wrong)?;
        let path = path.strip_prefix('/').ok_or_else(wrong)?;
        let method = (method != "*").then(|| method.to_owned());
        let segments = path.split('/').map(Segment::of).collect();
        Ok(Self { text: text.to_owned(), method, segments })
    }
}

impl TryFrom<String> for Route {
    type Error = RouteError;

    fn try_from(text: String) -> Result<Self, RouteError> {
        text.parse()
    }
}

impl From<Route> for String {
    fn from(route: Route) -> Self {
        route.text
    }
}

/// A text that is no route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no route: write a method and a path such as `GET /channels/{{id}}`, or `* /*` for all")]
pub struct RouteError(String);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Fixed(String),
    Any,
    Rest,
}

impl Segment {
    fn of(text: &str) -> Self {
        match text {
            "*" => Self::Rest,
            _ if text.starts_with('{') && text.ends_with('}') => Self::Any,
            _ => Self::Fixed(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(route: &str, method: &str, path: &str) -> bool {
        route.parse::<Route>().unwrap().matches(method, path)
    }

    #[test]
    fn a_template_stands_for_one_segment_and_a_star_for_the_rest() {
        assert!(matches("GET /channels/{id}", "GET", "/channels/7"));
        assert!(!matches("GET /channels/{id}", "GET", "/channels/7/query"));
        assert!(!matches("GET /channels/{id}", "GET", "/channels/"));
        assert!(!matches("GET /channels/{id}", "POST", "/channels/7"));
        assert!(matches("* /channels/*", "PUT", "/channels/7/query"));
        assert!(matches("* /*", "GET", "/"));
        assert!(matches("GET /", "GET", "/"));
    }

    #[test]
    fn a_route_without_a_method_is_refused_with_advice() {
        let error = "/channels".parse::<Route>().unwrap_err();
        assert!(error.to_string().contains("`GET /channels/{id}`"), "{error}");
    }
}
