//! The description of the API: OpenAPI 3.1, made from the routes and the table of what each may refuse (O8).

use std::collections::BTreeMap;

use bytes::Bytes;
use tidegate_chat::event::Event;
use tidegate_wire::{Code, Problem};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use crate::routes::Route;

/// What stands at the head of the description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tidegate",
        description = "Flow control for live audiences: seats, waiting lines, tokens. Times are Unix seconds. Every \
                       refusal is an RFC 9457 problem with a `code`; what says when to come back carries \
                       `retry_after_ms` and `Retry-After`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(Event, Problem)),
    tags(
        (name = "play", description = "The page's own calls; unknown fields are ignored"),
        (name = "seats", description = "A tenant's calls about viewers; unknown fields are refused"),
        (name = "streams", description = "A tenant's streams; unknown fields are refused"),
        (name = "tenant", description = "A tenant's account"),
        (name = "chat", description = "Live chats: one room for each, any number of viewers"),
        (name = "relays", description = "For relays of the fleet"),
        (name = "keys", description = "Verifying tokens"),
        (name = "operations", description = "Running the process"),
    ),
    modifiers(&KeyScheme)
)]
pub(crate) struct Description;

/// How calls of tenants and of relays are signed in.
struct KeyScheme;

impl Modify for KeyScheme {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        for (name, what) in [("key", "A tenant's secret key"), ("relay", "The relay secret of the fleet")] {
            let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(what)).build();
            components.add_security_scheme(name, SecurityScheme::Http(bearer));
        }
    }
}

/// The whole description as it is sent.
pub(crate) fn written(mut description: utoipa::openapi::OpenApi) -> Bytes {
    for item in description.paths.paths.values_mut() {
        for operation in operations(item) {
            add_refusals(operation);
        }
    }
    Bytes::from(description.to_json().expect("a description of strings always serialises"))
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, options, head, patch, trace, .. } = item;
    [get, put, post, delete, options, head, patch, trace].into_iter().filter_map(Option::as_mut)
}

/// Adds a response for each status that the route may refuse with, naming its codes.
fn add_refusals(operation: &mut Operation) {
    let named = operation.operation_id.as_deref();
    let Some(route) = Route::ALL.into_iter().find(|route| Some(route.name()) == named) else { return };
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in route.codes() {
        by_status.entry(code.status()).or_default().push(code);
    }
    for (status, codes) in by_status {
        let response = operation.responses.responses.entry(status.to_string());
        let response = response.or_insert_with(|| RefOr::T(Response::default()));
        if let RefOr::T(response) = response {
            *response = with_problem(std::mem::take(response), &codes);
        }
    }
}

fn with_problem(response: Response, codes: &[Code]) -> Response {
    let sentences: Vec<_> = codes.iter().map(|code| format!("`{}`: {}", code.as_str(), code.title())).collect();
    let described = [response.description.as_str(), &sentences.join(" ")].join(" ");
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::from(response)
        .description(described.trim_start())
        .content("application/problem+json", problem)
        .build()
}
