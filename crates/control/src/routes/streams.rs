//! A tenant's streams (S9, S12, S14, S25).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_seats::{StreamId, StreamSettings, TenantId};
use tidegate_store::CatalogueError;
use tidegate_wire::Problem;
use tidegate_wire::streams::{
    Created, Nothing, Stream, StreamChange, StreamRequest, Streams, parse_change, parse_nothing, parse_stream,
};
use tracing::info;

use super::no_stream;
use super::{Asked, Call, Route, StreamPath};
use crate::control::Shared;
use crate::{answers, tokens};

/// Make a stream.
#[utoipa::path(
    post,
    path = "/v1/streams",
    tag = "streams",
    security(("key" = [])),
    request_body(content = StreamRequest),
    responses((status = 201, description = "Made", body = Created))
)]
pub(crate) async fn open_stream(State(control): State<Arc<Shared>>, mut call: Call) -> Response {
    let outcome = try_open(&control, &mut call).await;
    call.answer(&control, Route::OpenStream, outcome)
}

async fn try_open(control: &Shared, call: &mut Asked) -> Result<Created, Problem> {
    let tenant = call.tenant(control).await?;
    let request = parse_stream(&call.body().await?)?;
    let settings = StreamSettings {
        name: request.name,
        viewer_cap: request.viewer_cap.0,
        queue_max: request.queue_max.map_or(0, |count| count.0),
        public: request.public.unwrap_or(true),
        region: request.region,
        estimate: request.estimate.unwrap_or(false),
    };
    let mut tries = 0;
    let record = loop {
        tries += 1;
        match control.catalogue.open_stream(&tenant, &tokens::fresh_stream(), settings.clone()).await {
            Err(CatalogueError::IdTaken) if tries < ID_TRIES => {}
            outcome => break outcome.map_err(|error| answers::unchanged(control, error))?,
        }
    };
    let (cap, line) = (settings.viewer_cap, settings.queue_max);
    info!(stream = %record.id, %tenant, viewer_cap = cap, queue_max = line, request = %call.context.id, "stream made");
    Ok(Created(answers::stream(record)))
}

/// List the tenant's streams, by creation.
#[utoipa::path(
    get,
    path = "/v1/streams",
    tag = "streams",
    security(("key" = [])),
    responses((status = 200, description = "All of them, ended ones too", body = Streams))
)]
pub(crate) async fn list_streams(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let outcome = match call.tenant(&control).await {
        Ok(tenant) => {
            let streams = control.catalogue.streams(&tenant).await;
            Ok(Streams { streams: streams.into_iter().map(answers::stream).collect() })
        }
        Err(problem) => Err(problem),
    };
    call.answer(&control, Route::Streams, outcome)
}

/// Read a stream.
#[utoipa::path(
    get,
    path = "/v1/streams/{id}",
    tag = "streams",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    responses((status = 200, description = "The stream", body = Stream))
)]
pub(crate) async fn get_stream(State(control): State<Arc<Shared>>, stream: StreamPath, call: Call) -> Response {
    let outcome = try_get(&control, &stream, &call).await;
    call.answer(&control, Route::Stream, outcome)
}

async fn try_get(control: &Shared, stream: &StreamPath, call: &Asked) -> Result<Stream, Problem> {
    let (tenant, stream) = call.tenants_stream(control, stream).await?;
    let record = control.catalogue.stream(&tenant, &stream).await.ok_or_else(no_stream)?;
    Ok(answers::stream(record))
}

/// Change a stream, live or not.
///
/// What is absent stays as it is. A lowered cap unseats nobody; a raised one seats the people in line, in order, as
/// their pages next ask (S9–S11).
#[utoipa::path(
    patch,
    path = "/v1/streams/{id}",
    tag = "streams",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    request_body(content = StreamChange),
    responses((status = 200, description = "The stream as it is now", body = Stream))
)]
pub(crate) async fn change_stream(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_change(&control, &stream, &mut call).await;
    call.answer(&control, Route::ChangeStream, outcome)
}

async fn try_change(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Stream, Problem> {
    let (tenant, stream) = call.tenants_stream(control, stream).await?;
    let change = parse_change(&call.body().await?)?;
    // Two changes of different fields at once must not undo each other: the store replaces all of them.
    let _one_at_a_time = control.changes.lock().await;
    let before = control.catalogue.stream(&tenant, &stream).await.ok_or_else(no_stream)?.settings;
    let after = merged(before.clone(), change);
    let record = control
        .catalogue
        .change_stream(&tenant, &stream, after.clone())
        .await
        .map_err(|error| answers::unchanged(control, error))?;
    log_change(call, &stream, &before, &after);
    Ok(answers::stream(record))
}

fn merged(before: StreamSettings, change: StreamChange) -> StreamSettings {
    StreamSettings {
        name: change.name.unwrap_or(before.name),
        viewer_cap: change.viewer_cap.map_or(before.viewer_cap, |cap| cap.0),
        queue_max: change.queue_max.map_or(before.queue_max, |count| count.0),
        public: change.public.unwrap_or(before.public),
        region: change.region.unwrap_or(before.region),
        estimate: change.estimate.unwrap_or(before.estimate),
    }
}

fn log_change(call: &Asked, stream: &StreamId, before: &StreamSettings, after: &StreamSettings) {
    info!(
        %stream,
        viewer_cap = after.viewer_cap,
        viewer_cap_before = before.viewer_cap,
        queue_max = after.queue_max,
        queue_max_before = before.queue_max,
        public = after.public,
        request = %call.context.id,
        "stream changed"
    );
}

/// End a stream.
///
/// Its seats end with `410 stream_ended` and its places are free for others. Repeating it is harmless.
#[utoipa::path(
    post,
    path = "/v1/streams/{id}/end",
    tag = "streams",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    request_body(content = Nothing),
    responses((status = 200, description = "The stream, ended", body = Stream))
)]
pub(crate) async fn end_stream(State(control): State<Arc<Shared>>, stream: StreamPath, mut call: Call) -> Response {
    let outcome = try_end(&control, &stream, &mut call).await;
    call.answer(&control, Route::EndStream, outcome)
}

async fn try_end(control: &Shared, stream: &StreamPath, call: &mut Asked) -> Result<Stream, Problem> {
    let (tenant, stream) = owned(control, stream, call).await?;
    let ended = control.catalogue.end_stream(&tenant, &stream).await;
    let record = ended.map_err(|error| answers::unchanged(control, error))?;
    info!(%stream, request = %call.context.id, "stream ended");
    Ok(answers::stream(record))
}

/// The caller's stream, and an empty body.
pub(super) async fn owned(
    control: &Shared,
    stream: &StreamPath,
    call: &mut Asked,
) -> Result<(TenantId, StreamId), Problem> {
    let owned = call.tenants_stream(control, stream).await?;
    parse_nothing(&call.body().await?)?;
    Ok(owned)
}

/// Delete a stream and everything of it.
#[utoipa::path(
    delete,
    path = "/v1/streams/{id}",
    tag = "streams",
    security(("key" = [])),
    params(("id" = String, Path, description = "The stream")),
    responses((status = 204, description = "Gone"))
)]
pub(crate) async fn delete_stream(State(control): State<Arc<Shared>>, stream: StreamPath, call: Call) -> Response {
    let outcome = try_delete(&control, &stream, &call).await;
    call.done(&control, Route::DeleteStream, outcome)
}

async fn try_delete(control: &Shared, stream: &StreamPath, call: &Asked) -> Result<(), Problem> {
    let (tenant, stream) = call.tenants_stream(control, stream).await?;
    let deleted = control.catalogue.delete_stream(&tenant, &stream).await;
    deleted.map_err(|error| answers::unchanged(control, error))?;
    control.relays.stop(&stream);
    info!(%stream, request = %call.context.id, "stream deleted");
    Ok(())
}

/// Fresh ids tried before giving up; two of 80 random bits never collide by chance.
const ID_TRIES: u32 = 3;
