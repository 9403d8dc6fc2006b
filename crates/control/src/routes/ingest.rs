//! A publisher's token (S24).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_wire::Problem;
use tidegate_wire::streams::{IngestToken, Nothing};
use tracing::info;

use super::{Asked, Call, Route, StreamPath, streams};
use crate::answers;
use crate::control::Shared;
use crate::tokens::unix_now;

/// Get a publisher's token.
#[utoipa::path(
    post,
    path = "/v1/streams/{id}/ingest-token",
    tag = "streams",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    request_body(content = Nothing),
    responses((status = 201, description = "Lets its holder publish the stream", body = IngestToken))
)]
pub(crate) async fn ingest_token(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_ingest_token(&control, &stream, &mut call).await;
    call.answer(&control, Route::IngestToken, outcome)
}

async fn try_ingest_token(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<IngestToken, Problem> {
    let (tenant, stream) = streams::owned(control, stream, call).await?;
    let noted = control.catalogue.note_ingest_token(&tenant, &stream).await;
    let record = noted.map_err(|error| answers::unchanged(control, error))?;
    if record.ended_at.is_some() {
        return Err(answers::stream_ended());
    }
    let signed = control.tokens.publisher(&stream, &tenant, unix_now());
    info!(%stream, request = %call.context.id, "publisher's token given");
    Ok(IngestToken { token: signed.token, token_expires_s: signed.life_s, ingest_token_at: record.ingest_token_at })
}
