//! A tenant's backend asks for a viewer's seat: `viewer-tokens` (S17).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_seats::Asker;
use tidegate_store::Named;
use tidegate_wire::Problem;
use tidegate_wire::play::{Admission, AdmitRequest, NotYet, Seated, ViewerTokenRequest, parse_viewer_token};

use super::asking::Asking;
use super::{Asked, Call, Route, StreamPath};
use crate::control::Shared;

/// Ask for a viewer's seat, from the tenant's backend.
///
/// The only way in for a stream with `public: false`. The same `viewer` twice is one seat. Not limited by address.
#[utoipa::path(
    post,
    path = "/v1/streams/{id}/viewer-tokens",
    tag = "seats",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    request_body(content = ViewerTokenRequest, description = "Everything is optional"),
    responses(
        (status = 201, description = "Seated", body = Seated),
        (status = 409, description = "In line, offered a seat, or full", body = NotYet),
    )
)]
pub(crate) async fn viewer_tokens(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_viewer_tokens(&control, &stream, &mut call).await;
    call.answer(&control, Route::ViewerTokens, outcome)
}

async fn try_viewer_tokens(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Admission, Problem> {
    let (_tenant, stream) = call.tenants_stream(control, stream).await?;
    let mut request = parse_viewer_token(&call.body().await?)?;
    let viewer = request.viewer.take();
    let request = AdmitRequest::from(request);
    let ask = Asking::new(control, &stream, &request, Asker::Backend, viewer.as_deref());
    let answer = match ask.as_named(control, &|_| Ok(())).await? {
        Named::Answered(answer) => answer,
        Named::TooOften(_) | Named::Nobody => ask.as_anybody(control).await?,
    };
    ask.told(control, answer).await
}
