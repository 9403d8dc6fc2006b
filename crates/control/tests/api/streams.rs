//! S9, S12, S14, S23, S24, S25: streams and the tenant's account.

use http::Method;
use serde_json::json;
use tidegate_seats::TenantId;
use tidegate_store::{Catalogue, EmbeddedSettings, TenantSettings};
use tidegate_token::{PublicKeys, VerifyAt};

use crate::support::*;

#[tokio::test]
async fn s25_a_stream_is_made_read_changed_ended_and_deleted() {
    let house = House::open().await;
    let made = house.post("/v1/streams", json!({"name": "launch", "viewer_cap": 50})).await;
    assert_eq!(made.status, 201);
    let id = made.body["id"].as_str().unwrap().to_owned();
    let created_at = made.body["created_at"].clone();
    let whole = json!({"id": id, "name": "launch", "viewer_cap": 50, "queue_max": 0, "public": true, "region": null,
        "estimate": false, "created_at": created_at, "ended_at": null, "ingest_token_at": null, "peak": 0});
    assert_eq!(made.body, whole);
    let path = format!("/v1/streams/{id}");
    assert_eq!(house.get(&path).await.body, whole);
    assert_eq!(house.get("/v1/streams").await.body, json!({"streams": [whole]}));

    let changed = house.patch(&id, json!({"name": "relaunch", "queue_max": 7, "region": "eu-west"})).await;
    assert_eq!(changed.status, 200);
    assert_eq!(
        (&changed.body["name"], &changed.body["viewer_cap"], &changed.body["queue_max"], &changed.body["region"]),
        (&json!("relaunch"), &json!(50), &json!(7), &json!("eu-west"))
    );
    assert_eq!(house.patch(&id, json!({"region": null, "public": false})).await.body["region"], json!(null));
    assert_eq!(house.patch(&id, json!({})).await.body["public"], json!(false));

    let seat = house.post(&format!("{path}/viewer-tokens"), json!({})).await.seat();
    for _ in 0..2 {
        let ended = house.post(&format!("{path}/end"), json!({})).await;
        assert_eq!(ended.status, 200);
        assert!(ended.body["ended_at"].as_u64().is_some());
    }
    for call in ["admit", "hb", "token"] {
        assert_eq!(house.page(&id, call, json!({"seat": seat})).await.problem(), (410, "stream_ended"), "{call}");
    }
    assert_eq!(house.patch(&id, json!({"viewer_cap": 3})).await.problem(), (410, "stream_ended"));
    assert_eq!(house.post(&format!("{path}/ingest-token"), json!({})).await.problem(), (410, "stream_ended"));

    assert_eq!(house.send(Method::DELETE, &path, Some(KEY), "").await.status, 204);
    assert_eq!(house.send(Method::DELETE, &path, Some(KEY), "").await.problem(), (404, "stream_not_found"));
    assert_eq!(house.get(&path).await.problem(), (404, "stream_not_found"));
    assert_eq!(house.page(&id, "admit", json!({})).await.problem(), (404, "stream_not_found"));
    assert_eq!(house.get("/v1/streams").await.body, json!({"streams": []}));
}

#[tokio::test]
async fn s25_a_tenant_sees_only_its_own_streams() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let path = format!("/v1/streams/{stream}");
    let calls = [
        (Method::GET, String::new()),
        (Method::PATCH, String::new()),
        (Method::DELETE, String::new()),
        (Method::POST, "/end".into()),
        (Method::POST, "/kick".into()),
        (Method::POST, "/ingest-token".into()),
        (Method::POST, "/hb".into()),
        (Method::POST, "/viewer-tokens".into()),
        (Method::GET, "/stats".into()),
        (Method::GET, "/seats".into()),
    ];
    for (method, suffix) in calls {
        let path = format!("{path}{suffix}");
        let stranger = house.send(method.clone(), &path, None, "{}").await;
        assert_eq!(stranger.problem(), (401, "unauthorized"), "{method} {path}");
        assert_eq!(stranger.header("www-authenticate"), "Bearer");
        let other = house.send(method.clone(), &path, Some(OTHER_KEY), "{}").await;
        assert_eq!(other.problem(), (404, "stream_not_found"), "{method} {path}");
        let shapeless = path.replace(&stream, "Not%20An%20Id");
        let other = house.send(method.clone(), &shapeless, Some(KEY), "{}").await;
        assert_eq!(other.problem(), (404, "stream_not_found"), "{method} {shapeless}");
    }
    assert_eq!(house.send(Method::GET, "/v1/streams", Some(OTHER_KEY), "").await.body, json!({"streams": []}));
    assert_eq!(house.get(&path).await.status, 200, "nothing was done to it");
}

#[tokio::test]
async fn s12_a_cap_over_the_tenants_is_refused_with_the_limit() {
    let house = House::open().await;
    let stream = house.stream(200, 0).await;
    for refused in [
        house.post("/v1/streams", json!({"name": "a", "viewer_cap": 201})).await,
        house.patch(&stream, json!({"viewer_cap": 201})).await,
    ] {
        assert_eq!(refused.problem(), (409, "tenant_viewer_cap"));
        assert_eq!(refused.body["detail"], "viewer_cap: at most 200, this tenant's viewer cap");
        assert!(refused.body.get("state").is_none());
    }
}

#[tokio::test]
async fn s14_places_over_the_deployments_are_refused() {
    let house = House::with(unlimited(), EmbeddedSettings { max_places: 100, ..EmbeddedSettings::default() }).await;
    let stream = house.stream(50, 40).await;
    let refused = house.post("/v1/streams", json!({"name": "a", "viewer_cap": 5, "queue_max": 6})).await;
    assert_eq!(refused.problem(), (409, "too_many_places"));
    assert_eq!(house.patch(&stream, json!({"queue_max": 51})).await.problem(), (409, "too_many_places"));
    assert_eq!(house.patch(&stream, json!({"queue_max": 50})).await.status, 200);
    house.post(&format!("/v1/streams/{stream}/end"), json!({})).await;
    house.stream(5, 6).await;
}

#[tokio::test]
async fn s25_a_typo_is_answered_with_the_name_that_was_meant() {
    let house = House::open().await;
    let refused = house.post("/v1/streams", json!({"name": "a", "viewer_cap": 1, "queue_mx": 4})).await;
    assert_eq!(refused.problem(), (400, "unknown_field"));
    assert_eq!(refused.body["field"], "queue_mx");
    assert_eq!(refused.body["detail"], "queue_mx: unknown field; did you mean `queue_max`?");
    assert_eq!(house.get("/v1/streams").await.body, json!({"streams": []}));
    let stream = house.stream(1, 0).await;
    let page = house.admit(&stream, json!({"a field": "of the page's own"})).await;
    assert_eq!(page.state(), (201, "in"));
}

#[tokio::test]
async fn s9_two_changes_at_once_do_not_undo_each_other() {
    let house = std::sync::Arc::new(House::open().await);
    let stream = house.stream(1, 0).await;
    let mut changes = Vec::new();
    for n in 0..20 {
        let (house, stream) = (std::sync::Arc::clone(&house), stream.clone());
        changes.push(tokio::spawn(async move {
            let change = if n % 2 == 0 { json!({"viewer_cap": 7}) } else { json!({"queue_max": 9}) };
            assert_eq!(house.patch(&stream, change).await.status, 200);
        }));
    }
    for change in changes {
        change.await.unwrap();
    }
    let stream = house.get(&format!("/v1/streams/{stream}")).await.body;
    assert_eq!((&stream["viewer_cap"], &stream["queue_max"]), (&json!(7), &json!(9)));
}

#[tokio::test]
async fn s23_the_account_says_limits_and_what_is_used() {
    let house = House::open().await;
    let stream = house.stream(3, 1).await;
    house.admit(&stream, json!({})).await;
    let tenant = house.get("/v1/tenant").await;
    assert_eq!(
        tenant.body,
        json!({"id": "acme", "name": "ACME",
            "limits": {"viewer_cap": 200, "max_sessions": 420, "publishers": 20},
            "used": {"viewer_cap": 1, "max_sessions": null, "publishers": null}})
    );
    let acme = TenantId::parse("acme").unwrap();
    let settings =
        |viewer_cap, max_sessions| TenantSettings { name: "ACME".into(), viewer_cap, max_sessions, publishers: 20 };
    house.store.set_tenant(&acme, settings(300, None)).await.unwrap();
    assert_eq!(house.get("/v1/tenant").await.body["limits"]["max_sessions"], 620, "it follows a raised viewer_cap");
    house.store.set_tenant(&acme, settings(200, Some(300))).await.unwrap();
    let lower = house.get("/v1/tenant").await.body;
    assert_eq!(lower["limits"]["max_sessions"], 300);
    assert!(lower["warning"].as_str().unwrap().contains("= 420"), "{lower}");
    assert_eq!(house.send(Method::GET, "/v1/tenant", None, "").await.problem(), (401, "unauthorized"));
}

#[tokio::test]
async fn s24_a_publishers_token_is_given_and_noted() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let given = house.post(&format!("/v1/streams/{stream}/ingest-token"), json!({})).await;
    assert_eq!(given.status, 201);
    assert_eq!(given.body["token_expires_s"], 43_200);
    let at = given.body["ingest_token_at"].as_u64().unwrap();
    assert_eq!(house.stats(&stream).await["ingest_token_at"], at);
    let keys = PublicKeys::from_jwks(&house.get("/.well-known/jwks.json").await.text).unwrap();
    let verified = keys.verify(&given.token(), VerifyAt::Now(at)).unwrap();
    assert!(verified.clone().viewer_of(&stream).is_err());
    let claims = verified.publisher_of(&stream).unwrap();
    assert_eq!(claims.tenant, "acme");
    assert!(claims.exp.abs_diff(at + 43_200) <= 1);
}
