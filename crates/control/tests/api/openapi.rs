//! O8: the description is whole.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidegate_wire::Code;

use crate::support::*;

#[tokio::test]
async fn o8_the_description_is_openapi_3_1_and_names_every_route() {
    let house = House::open().await;
    let description = house.get("/openapi.json").await;
    assert_eq!(description.header("content-type"), "application/json");
    let description = description.body;
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1."), "{}", description["openapi"]);
    let mut routes = BTreeSet::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["operationId"].is_string(), "{method} {path}");
            routes.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    let expected: BTreeSet<String> = [
        "POST /v1/play/{id}/admit",
        "POST /v1/play/{id}/token",
        "POST /v1/play/{id}/hb",
        "POST /v1/play/{id}/leave",
        "POST /v1/streams",
        "GET /v1/streams",
        "GET /v1/streams/{id}",
        "PATCH /v1/streams/{id}",
        "DELETE /v1/streams/{id}",
        "POST /v1/streams/{id}/end",
        "POST /v1/streams/{id}/viewer-tokens",
        "POST /v1/streams/{id}/kick",
        "POST /v1/streams/{id}/ingest-token",
        "POST /v1/streams/{id}/hb",
        "GET /v1/streams/{id}/stats",
        "GET /v1/streams/{id}/seats",
        "GET /v1/tenant",
        "GET /v1/chat",
        "GET /v1/chat/{name}",
        "GET /v1/chat/{name}/events",
        "POST /v1/relays/report",
        "GET /.well-known/jwks.json",
        "GET /healthz",
        "GET /readyz",
        "GET /metrics",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(routes, expected);
}

#[tokio::test]
async fn o8_every_code_is_described_somewhere_and_every_reference_leads_somewhere() {
    let house = House::open().await;
    let text = house.get("/openapi.json").await.text;
    // These belong to no operation: a path or a method that is not there, and what relays answer.
    let of_no_route = [
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::TokenRefused,
        Code::TokenInUse,
        Code::ScopeFull,
        Code::EdgeFull,
        Code::Removed,
        Code::SessionGone,
        Code::NoBroadcast,
        Code::MediaLate,
    ];
    for code in Code::ALL.into_iter().filter(|code| !of_no_route.contains(code)) {
        assert!(text.contains(&format!("`{}`", code.as_str())), "{}", code.as_str());
    }
    let description: Value = serde_json::from_str(&text).unwrap();
    for reference in text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(description.pointer(reference).is_some(), "{reference} leads nowhere");
    }
    assert_eq!(description["components"]["securitySchemes"]["key"]["scheme"], "bearer");
}

#[tokio::test]
async fn o8_tenant_calls_are_signed_in_and_answer_401_in_the_description() {
    let house = House::open().await;
    let description = house.get("/openapi.json").await.body;
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let is_tenants = path.starts_with("/v1/streams") || path == "/v1/tenant";
            let is_relays = path.starts_with("/v1/relays");
            // Chats may be for those who are known, by a setting (C10).
            let is_chats = path.starts_with("/v1/chat");
            let by = |scheme: &str| operation["security"] == json!([{scheme: []}]);
            let may_be = operation["security"] == json!([{}, {"key": []}]);
            assert_eq!(
                (by("key"), by("relay"), may_be, operation["responses"]["401"].is_object()),
                (is_tenants, is_relays, is_chats, is_tenants || is_relays || is_chats),
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn o8_an_asks_409_is_described_as_what_it_is() {
    let house = House::open().await;
    let description = house.get("/openapi.json").await.body;
    let answer = &description["paths"]["/v1/play/{id}/admit"]["post"]["responses"]["409"]["content"];
    assert_eq!(answer["application/json"]["schema"]["$ref"], "#/components/schemas/NotYet");
    assert_eq!(answer["application/problem+json"]["schema"]["$ref"], "#/components/schemas/Problem");
    let schemas = &description["components"]["schemas"];
    assert_eq!(schemas["StreamRequest"]["required"], json!(["name", "viewer_cap"]));
    assert_eq!(schemas["StreamRequest"]["additionalProperties"], json!(false));
}
