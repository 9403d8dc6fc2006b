//! Which pages of other origins may call, and which headers every answer carries.

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ORIGIN, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method};

use crate::reply;

/// The origins whose pages may call the open routes; never with credentials, as no cookie means anything here.
#[derive(Clone, Debug)]
pub(crate) enum Origins {
    /// Every page.
    Any,
    /// These pages only.
    Listed(Vec<HeaderValue>),
}

impl Origins {
    pub(crate) fn new(origins: &[String]) -> Self {
        if origins.iter().any(|origin| origin == "*") {
            return Self::Any;
        }
        Self::Listed(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect())
    }

    /// Whether a request comes from a page that may call, or from no page of another origin.
    pub(crate) fn allow(&self, request: &HeaderMap) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(origins) => request.get(ORIGIN).is_none_or(|origin| origins.contains(origin)),
        }
    }

    /// What the answer to a request says to the page's browser.
    pub(crate) fn opening(&self, request: &HeaderMap) -> Opening {
        match self {
            Self::Any => Opening { allow: Some(HeaderValue::from_static("*")), varies: false },
            Self::Listed(origins) => {
                let asked = request.get(ORIGIN);
                let allow = origins.iter().find(|origin| Some(*origin) == asked).cloned();
                Opening { allow, varies: true }
            }
        }
    }
}

/// What a browser needs to hand an answer on to its page. Nothing more: these answers are the many, no cache keeps the
/// answer to a `POST`, and what the headers say of a retry is in the body.
pub(crate) struct Opening {
    /// `None` for a page that may not read it.
    allow: Option<HeaderValue>,
    varies: bool,
}

impl Opening {
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        if self.varies {
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
        if let Some(allow) = self.allow {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allow);
        }
    }
}

/// Routes that pages of other origins call.
pub(crate) fn is_open(path: &str) -> bool {
    path.starts_with("/v1/play/") || path.starts_with("/v1/chat/") || path == "/v1/chat"
}

/// Answers the question that a browser sends before a call from another origin.
pub(crate) fn preflight() -> Response {
    let mut response = reply::allowed("GET, POST, OPTIONS");
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type, x-request-id, last-event-id"));
    // The longest that any browser keeps it.
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

/// Whether a request is such a question.
pub(crate) fn is_preflight(method: &Method, path: &str) -> bool {
    method == Method::OPTIONS && is_open(path)
}

/// Adds what every other answer carries: it is for the asker only, and nothing in it is to be run. A route that
/// serves pages sets its own.
pub(crate) fn harden(headers: &mut HeaderMap) {
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}
