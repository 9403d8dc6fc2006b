//! A tenant's account, and the keys that verify its tokens (S23, T1).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue};
use tidegate_wire::tenant::{Limits, Tenant, Used, sessions_needed, sessions_warning};
use tidegate_wire::{Code, Problem};

use super::{Asked, Call, Route};
use crate::control::Shared;
use crate::reply;

/// Read the tenant's limits and what is used of each.
#[utoipa::path(
    get,
    path = "/v1/tenant",
    tag = "tenant",
    security(("key" = [])),
    responses((status = 200, description = "Limits and use", body = Tenant))
)]
pub(crate) async fn tenant(State(control): State<Arc<Shared>>, call: Call) -> Response {
    let outcome = try_tenant(&control, &call).await;
    call.answer(&control, Route::Tenant, outcome)
}

async fn try_tenant(control: &Shared, call: &Asked) -> Result<Tenant, Problem> {
    let id = call.tenant(control).await?;
    let gone = || Problem::new(Code::Unauthorized, "the key's tenant is gone");
    let tenant = control.catalogue.tenant(&id).await.ok_or_else(gone)?;
    let settings = tenant.settings;
    let needed = sessions_needed(settings.viewer_cap, settings.publishers);
    let max_sessions = settings.max_sessions.unwrap_or(needed);
    let in_use = control.relays.in_use(&id);
    Ok(Tenant {
        id: id.as_str().to_owned(),
        name: settings.name,
        limits: Limits { viewer_cap: settings.viewer_cap, max_sessions, publishers: settings.publishers },
        used: Used {
            viewer_cap: tenant.seats_used,
            max_sessions: in_use.map(|in_use| in_use.sessions),
            publishers: in_use.map(|in_use| in_use.publishers),
        },
        warning: sessions_warning(settings.viewer_cap, settings.publishers, max_sessions),
    })
}

/// Read the public keys that verify tokens (RFC 7517).
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "keys",
    responses((status = 200, description = "A JSON Web Key Set", body = Object, content_type = "application/jwk-set+json"))
)]
pub(crate) async fn jwks(State(control): State<Arc<Shared>>, call: Call) -> Response {
    call.count(&control, Route::Jwks, "ok");
    let mut response = reply::text("application/jwk-set+json", control.tokens.jwks());
    let headers = response.headers_mut();
    // Verifiers fetch anew when they meet an unknown key; a minute only spares the idle ones.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    // Nothing secret: pages may verify too.
    headers.insert(ANY_ORIGIN, HeaderValue::from_static("*"));
    response
}

const ANY_ORIGIN: HeaderName = http::header::ACCESS_CONTROL_ALLOW_ORIGIN;
