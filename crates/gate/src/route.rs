//! Route templates: the operation of a request, and what an upstream allows on it (G3, G8, G12).

use std::fmt;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};

use crate::Operation;
use crate::call::NAME_MAX;

/// What an upstream's configuration says about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The operation: method and template, never a path with ids (G12).
    pub operation: Operation,
    /// Whether concurrent calls that are the same may be one (G8).
    pub shareable: bool,
    /// Whether the answer may take its time by design, so that the slot ends with the headers (G3).
    pub long_poll: bool,
}

impl Route {
    /// Whether a call's slot ends with its response's head rather than with the body: long polls, event streams
    /// and upgrades stay open by design, and four of them would block an upstream (G3).
    #[must_use]
    pub fn ends_at_head(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let is_stream = |kind: &HeaderValue| {
            let start = kind.as_bytes().get(..EVENT_STREAM.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(EVENT_STREAM))
        };
        self.long_poll || status == StatusCode::SWITCHING_PROTOCOLS || headers.get(CONTENT_TYPE).is_some_and(is_stream)
    }
}

/// A method and a path with holes: `POST /channels/{type}/{id}/message`, `* /live/**`.
///
/// `{name}` is one segment, a last `**` any rest (also none), a method `*` any method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTemplate {
    method: Option<Method>,
    segments: Vec<Segment>,
    open: bool,
    operation: Operation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(Box<str>),
    Any,
}

/// Why a template was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It has no method, a path that does not begin with `/`, or `**` before its end.
    #[error("{0:?} is no route: write a method and a path, such as \"GET /users/{{id}}\" or \"* /live/**\"")]
    Shape(String),
    /// It names an operation, and names are cut at this length: two routes would become one.
    #[error("{0:?} is longer than {NAME_MAX} bytes: end it earlier, with **")]
    TooLong(String),
}

impl RouteTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// When there is no method, the path does not begin with `/`, `**` is not last, or it is over 120 bytes.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let wrong = || TemplateError::Shape(text.to_owned());
        if text.len() > NAME_MAX {
            return Err(TemplateError::TooLong(text.to_owned()));
        }
        let (method, path) = text.split_once(' ').ok_or_else(wrong)?;
        let method = match method {
            "*" => None,
            _ => Some(Method::from_bytes(method.as_bytes()).map_err(|_| wrong())?),
        };
        let mut segments = segments_of(path.strip_prefix('/').ok_or_else(wrong)?);
        let open = segments.last() == Some(&"**");
        if open {
            segments.pop();
        }
        if segments.contains(&"**") {
            return Err(wrong());
        }
        let segments = segments.into_iter().map(Segment::of).collect();
        Ok(Self { method, segments, open, operation: Operation::new(text) })
    }

    /// The operation that it names.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    fn matches(&self, method: &Method, path: &[&str]) -> bool {
        let long_enough = if self.open { path.len() >= self.segments.len() } else { path.len() == self.segments.len() };
        long_enough
            && self.method.as_ref().is_none_or(|own| own == method)
            && self.segments.iter().zip(path).all(|(segment, part)| segment.matches(part))
    }
}

impl Segment {
    fn of(text: &str) -> Self {
        if text.starts_with('{') && text.ends_with('}') { Self::Any } else { Self::Literal(text.into()) }
    }

    fn matches(&self, part: &str) -> bool {
        match self {
            Self::Literal(text) => **text == *part,
            Self::Any => true,
        }
    }
}

impl fmt::Display for RouteTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operation.fmt(f)
    }
}

/// The templates of one upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Routes {
    pub(crate) operations: Vec<RouteTemplate>,
    pub(crate) shareable: Vec<RouteTemplate>,
    pub(crate) long_poll: Vec<RouteTemplate>,
}

impl Routes {
    /// Looks a request up; `path` is without its query.
    pub(crate) fn route(&self, method: &Method, path: &str) -> Route {
        let path = segments_of(path.strip_prefix('/').unwrap_or(path));
        let any = |templates: &[RouteTemplate]| templates.iter().any(|template| template.matches(method, &path));
        let named = self.operations.iter().find(|template| template.matches(method, &path));
        Route {
            operation: named.map_or_else(|| unnamed(method, &path), |template| template.operation.clone()),
            shareable: any(&self.shareable),
            long_poll: any(&self.long_poll),
        }
    }
}

/// An operation that no template names: the method and the first word of the path. Whatever follows may be an
/// id, so it is left out; an API's version before it is kept.
fn unnamed(method: &Method, path: &[&str]) -> Operation {
    let mut name = String::with_capacity(NAME_MAX);
    name.push_str(method.as_str());
    name.push(' ');
    let versions = path.iter().take_while(|part| is_version(part)).take(3).count();
    for part in &path[..versions] {
        name.push('/');
        name.push_str(part);
    }
    match path.get(versions) {
        Some(part) if is_word(part) => {
            name.push('/');
            name.push_str(part);
        }
        Some(_) => name.push_str("/{}"),
        None => {}
    }
    if path.len() > versions + 1 {
        name.push_str("/**");
    }
    Operation::new(&name)
}

/// The parts of a path; a slash at its end is nothing.
fn segments_of(path: &str) -> Vec<&str> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() { Vec::new() } else { path.split('/').collect() }
}

fn is_version(part: &str) -> bool {
    let numbered = part.strip_prefix('v').is_some_and(|rest| {
        (1..=3).contains(&rest.len()) && rest.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
    });
    numbered || part == "api" || part == "rest"
}

/// Letters, dashes and underscores only: ids nearly always hold digits, or are long.
fn is_word(part: &str) -> bool {
    (1..=WORD_MAX).contains(&part.len())
        && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_')
}

/// What an event stream's type begins with.
const EVENT_STREAM: &[u8] = b"text/event-stream";
/// The longest path segment that is taken for a word, in bytes.
const WORD_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn templates(texts: &[&str]) -> Vec<RouteTemplate> {
        texts.iter().map(|text| RouteTemplate::parse(text).unwrap()).collect()
    }

    #[test]
    fn g12_an_operation_is_the_first_template_that_fits() {
        let operations = templates(&[
            "POST /channels/{type}/{id}/message",
            "GET /users/me",
            "GET /users/{id}",
            "* /live/**",
            "GET /",
        ]);
        let routes = Routes { operations, ..Routes::default() };
        let name = |method, path: &str| routes.route(&method, path).operation.as_str().to_owned();
        assert_eq!(name(Method::POST, "/channels/messaging/general-42/message"), "POST /channels/{type}/{id}/message");
        assert_eq!(name(Method::GET, "/users/me"), "GET /users/me");
        assert_eq!(name(Method::GET, "/users/7/"), "GET /users/{id}");
        assert_eq!(name(Method::PUT, "/live/a/b/c"), "* /live/**");
        assert_eq!(name(Method::PUT, "/live"), "* /live/**");
        assert_eq!(name(Method::GET, "/"), "GET /");
    }

    #[test]
    fn g12_a_route_too_long_for_a_name_is_refused_for_two_would_be_one() {
        let of_length = |length: usize| format!("GET /{}", "x".repeat(length - "GET /".len()));
        assert_eq!(RouteTemplate::parse(&of_length(120)).unwrap().to_string(), of_length(120));
        assert_eq!(RouteTemplate::parse(&of_length(121)), Err(TemplateError::TooLong(of_length(121))));
    }

    #[test]
    fn g12_an_unnamed_operation_holds_no_id() {
        let name = |path: &str| Routes::default().route(&Method::GET, path).operation.as_str().to_owned();
        assert_eq!(name("/users/alice/posts/7"), "GET /users/**");
        assert_eq!(name("/api/v3/repos/octo/spoon"), "GET /api/v3/repos/**");
        assert_eq!(name("/7f3a9c"), "GET /{}");
        assert_eq!(name("/v1"), "GET /v1");
        assert_eq!(name(""), "GET ");
        assert!(name(&format!("/{}", "a/".repeat(50_000))).len() < 64);
        assert!(name(&"/v1".repeat(50_000)).len() < 64);
    }

    #[test]
    fn g3_g8_sharing_and_long_polls_are_looked_up_by_route() {
        let routes = Routes {
            shareable: templates(&["GET /**"]),
            long_poll: templates(&["GET /longpoll"]),
            ..Routes::default()
        };
        let poll = routes.route(&Method::GET, "/longpoll");
        assert!(poll.shareable && poll.long_poll);
        let post = routes.route(&Method::POST, "/longpoll");
        assert!(!post.shareable && !post.long_poll);
    }

    #[test]
    fn g3_the_slot_of_a_stream_ends_with_its_head() {
        let route = |long_poll| Route { operation: Operation::new("x"), shareable: false, long_poll };
        let typed = |kind| HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        assert!(route(false).ends_at_head(StatusCode::OK, &typed("Text/Event-Stream; charset=utf-8")));
        assert!(route(false).ends_at_head(StatusCode::SWITCHING_PROTOCOLS, &HeaderMap::new()));
        assert!(route(true).ends_at_head(StatusCode::OK, &typed("application/json")));
        assert!(!route(false).ends_at_head(StatusCode::OK, &typed("application/json")));
    }

    #[test]
    fn a_wrong_template_says_what_a_right_one_looks_like() {
        for text in ["", "GET", "GET users", "GET /**/x", "G@T /x", " /x"] {
            let error = RouteTemplate::parse(text).unwrap_err().to_string();
            assert!(error.contains("GET /users/{id}"), "{error}");
        }
    }
}
