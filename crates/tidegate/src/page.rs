//! What a port other than the control's answers itself, such as whether the process lives.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use tidegate_wire::{Reply, retry_after_s};

/// An answer as JSON.
pub(crate) fn write(answer: &impl Reply) -> Response<Bytes> {
    let body = serde_json::to_vec(answer).expect("answers are structs of numbers and strings");
    let mut response = typed(answer.media().as_str(), body.into());
    *response.status_mut() = StatusCode::from_u16(answer.status()).expect("the table holds statuses");
    if let Some(ms) = answer.retry_after_ms() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_s(ms)));
    }
    response
}

/// The metrics as Prometheus reads them.
pub(crate) fn metrics(rendered: String) -> Response<Bytes> {
    typed("text/plain; version=0.0.4; charset=utf-8", rendered.into())
}

/// A body of this media type.
pub(crate) fn typed(media: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}
