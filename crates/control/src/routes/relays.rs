//! The report of a relay, each second (E2, E3, E12, T6).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tidegate_wire::Problem;
use tidegate_wire::report::{Orders, Report, parse_report};
use tidegate_wire::tenant::sessions_needed;

use super::{Asked, Call, Route};
use crate::control::Shared;
use crate::tokens::unix_now;

/// Report a relay's load and sessions.
///
/// For relays of the fleet, once a second: which sessions to close, how many each tenant may have open,
/// and which other relays to connect to.
#[utoipa::path(
    post,
    path = "/v1/relays/report",
    tag = "relays",
    security(("relay" = [])),
    request_body(content = Report),
    responses((status = 200, description = "What the relay is to do", body = Orders))
)]
pub(crate) async fn relay_report(State(control): State<Arc<Shared>>, mut call: Call) -> Response {
    let outcome = try_report(&control, &mut call).await;
    call.answer(&control, Route::RelayReport, outcome)
}

async fn try_report(control: &Shared, call: &mut Asked) -> Result<Orders, Problem> {
    let relays = &control.relays;
    relays.authorize(&call.headers)?;
    let mut report = parse_report(&call.body_of(REPORT_MAX_BYTES).await?)?;
    let (name, linked) = (std::mem::take(&mut report.relay), std::mem::take(&mut report.linked));
    let resend = !relays.take(&name, report);
    let (mut close, watching) = relays.watching(&name);
    close.extend(relays.doubles(&name));
    for viewer in watching {
        if control.seats.is_freed(&viewer.stream, viewer.seat).await {
            close.push(viewer.token);
        }
    }
    let tenants = control.catalogue.tenants().await.into_iter().map(|tenant| {
        let settings = tenant.settings;
        let needed = sessions_needed(settings.viewer_cap, settings.publishers);
        (tenant.id, settings.max_sessions.unwrap_or(needed))
    });
    Ok(Orders {
        close,
        shares: relays.shares(&name, tenants.collect()).into_iter().collect(),
        keys_version: control.tokens.keys_version(),
        store_away: control.outage.is_on(),
        resend,
        peers: relays.peers(&name, &linked, || control.tokens.peer(&name, unix_now())),
    })
}

/// Some 20,000 sessions in one whole report.
const REPORT_MAX_BYTES: usize = 4 * 1024 * 1024;
