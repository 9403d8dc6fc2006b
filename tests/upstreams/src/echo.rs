//! What was received, written back as JSON.

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use http_body_util::Collected;
use serde_json::{Value, json};

/// Everything of a request that a caller may want to see again.
pub(crate) fn echo(request: &Parts, body: Collected<Bytes>) -> Value {
    let trailers = body.trailers().map(pairs);
    let body = body.to_bytes();
    json!({
        "method": request.method.as_str(),
        "path": request.uri.path(),
        "query": request.uri.query(),
        "version": format!("{:?}", request.version),
        "authority": authority(request),
        "headers": pairs(&request.headers),
        "body_bytes": body.len(),
        "body": String::from_utf8_lossy(&body[..body.len().min(BODY_SHOWN)]),
        "trailers": trailers,
    })
}

/// The host that was asked: from the target in HTTP/2, from `Host` in HTTP/1.1.
pub(crate) fn authority(request: &Parts) -> String {
    let host = || request.headers.get(http::header::HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into());
    request.uri.authority().map(ToString::to_string).or_else(host).unwrap_or_default()
}

/// Names and values in the order of their arrival, repeated names too.
fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// A longer body is told by its length and its beginning.
const BODY_SHOWN: usize = 64 * 1024;
