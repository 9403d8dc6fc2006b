//! Whether the process lives, takes requests, and what it counted (O4, O8, O9).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use tidegate_wire::health::Healthy;
use tidegate_wire::{Code, Problem};

use super::{Call, Route};
use crate::control::Shared;
use crate::reply;
use crate::tokens::unix_now;

/// Whether the process lives.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "operations",
    responses((status = 200, description = "It does", body = Healthy))
)]
pub(crate) async fn healthz(State(control): State<Arc<Shared>>, call: Call) -> Response {
    call.answer(&control, Route::Health, Ok(Healthy { status: "ok" }))
}

/// Whether it takes requests: not while it stops, nor while the store cannot be written.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operations",
    responses((status = 200, description = "It does", body = Healthy))
)]
pub(crate) async fn readyz(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let outcome = try_ready(&control).await;
    call.answer(&control, Route::Ready, outcome)
}

async fn try_ready(control: &Shared) -> Result<Healthy, Problem> {
    if control.is_stopping() {
        return Err(Problem::new(Code::NotReady, "the process is stopping; ask another").retry(ASK_ANOTHER));
    }
    let writable = control.seats.writable().await;
    control.outage.note(writable, unix_now());
    writable.map_err(|away| control.store_away(away))?;
    Ok(Healthy { status: "ok" })
}

/// Read what was counted, for Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operations",
    responses((status = 200, description = "Prometheus text", body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(State(control): State<Arc<Shared>>, call: Call) -> Response {
    control.note_gauges();
    let text = control.metrics.render(control.catalogue.as_ref(), control.seats.as_ref()).await;
    call.count(&control, Route::Metrics, "ok");
    reply::text("text/plain; version=0.0.4; charset=utf-8", text)
}

/// The description of this API (O8). Not in the description itself.
pub(crate) async fn description(State(control): State<Arc<Shared>>, call: Call) -> Response {
    call.count(&control, Route::Description, "ok");
    reply::text("application/json", control.description.clone())
}

/// When to look again after a process that is stopping said so; by then another listens in its place.
const ASK_ANOTHER: Duration = Duration::from_secs(2);
