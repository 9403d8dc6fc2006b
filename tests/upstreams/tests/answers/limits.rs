//! Throttles, limits and budgets, told in headers.

use serde_json::{Value, json};
use std::time::Duration;
use tidegate_upstreams::{Family, Limit, Operation, Script, Throttle, Upstream, Why};
use tokio::time::sleep;

use crate::caller::{ask, call, get, scripted};

#[tokio::test(start_paused = true)]
async fn g9_an_address_is_closed_after_so_many_calls_and_opens_again() {
    let throttle = Some(Throttle::new(2, 60_000, 3000));
    let upstream = Upstream::with(Script { throttle, ..Script::default() }).await.unwrap();
    let mut statuses = Vec::new();
    for path in ["/a", "/b", "/c", "/d"] {
        statuses.push(get(&upstream, path).await.status);
    }
    assert_eq!(statuses, [200, 200, 429, 429]);
    let reply = get(&upstream, "/e").await;
    let left: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=3).contains(&left), "{left}");
    sleep(Duration::from_secs(3)).await;
    assert_eq!(get(&upstream, "/f").await.status, 200);
    let log = upstream.log();
    assert_eq!(log.filter(|entry| entry.why == Why::Throttle).len(), 3);
    assert_eq!(log.aftermath().unwrap().throttled, 2);
}

#[tokio::test(start_paused = true)]
async fn g9_every_address_can_be_throttled_by_hand_in_the_refusal_of_the_script() {
    let upstream = scripted(json!({"throttle": {"calls": 1000, "window_ms": 1000, "hold_ms": 1000,
        "retry_form": "rfc850_date", "refusal": {"like": "sorry"}}}))
    .await;
    assert_eq!(get(&upstream, "/").await.status, 200);
    upstream.throttle_for(Duration::from_secs(30));
    let reply = get(&upstream, "/").await;
    assert_eq!(reply.status, 302);
    assert!(reply.header("retry-after").contains("day, "), "{reply:?}");
    sleep(Duration::from_secs(30)).await;
    assert_eq!(get(&upstream, "/").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn g12_each_operation_has_its_own_limit_and_headers() {
    let upstream = scripted(json!({"operations": [
        {"route": "GET /channels/{id}", "limit": {"calls": 2, "window_ms": 60000}},
        {"route": "GET /users/{id}", "limit": {"calls": 10, "window_ms": 60000, "family": "ietf"}},
    ]}))
    .await;
    let first = get(&upstream, "/channels/1").await;
    assert_eq!((first.header("x-ratelimit-limit"), first.header("x-ratelimit-remaining")), ("2", "1"));
    assert_eq!(get(&upstream, "/channels/2").await.header("x-ratelimit-remaining"), "0");
    let over = get(&upstream, "/channels/3").await;
    assert_eq!((over.status, over.json()["code"].clone()), (429, json!(9)));
    let left: u64 = over.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&left), "{left}");
    let other = get(&upstream, "/users/1").await;
    assert!(other.header("ratelimit").starts_with(r#""default";r=9;t="#), "{other:?}");
    assert_eq!(other.header("ratelimit-policy"), r#""default";q=10;w=60"#);
    assert_eq!(get(&upstream, "/elsewhere").await.headers.get("x-ratelimit-limit"), None);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(get(&upstream, "/channels/1").await.status, 200);
    assert_eq!(upstream.log().of_operation("GET /channels/{id}").len(), 4);
}

#[tokio::test]
async fn g12_a_limit_can_count_each_key_by_itself() {
    let limit = Limit { per_key: true, ..Limit::new(1, 60_000, Family::Delta) };
    let operations = vec![Operation::limited("* /*", limit).unwrap()];
    let upstream = Upstream::with(Script { operations, ..Script::default() }).await.unwrap();
    let mut statuses = Vec::new();
    for key in ["a", "a", "b"] {
        let mut request = ask(&upstream, "GET", "/", "");
        request.headers_mut().insert("x-key", key.parse().unwrap());
        statuses.push(call(&upstream, request).await.status);
    }
    assert_eq!(statuses, [200, 429, 200]);
    assert_eq!(upstream.log().by_key(), [("a", 2), ("b", 1)].into());
}

#[tokio::test]
async fn g15_each_family_refuses_as_its_service_does() {
    for (family, status, header, body) in [
        ("github", 403, "x-ratelimit-used", json!({"message": "API rate limit exceeded for this address."})),
        ("discord", 429, "x-ratelimit-bucket", Value::Null),
        ("openai", 429, "retry-after-ms", Value::Null),
        ("shopify", 429, "x-shopify-shop-api-call-limit", Value::Null),
        ("stream", 429, "x-ratelimit-reset", Value::Null),
        ("ietf_three_headers", 429, "ratelimit-reset", Value::Null),
        ("epoch_ms", 429, "x-ratelimit-reset", Value::Null),
    ] {
        let limit = json!({"calls": 0, "window_ms": 60000, "family": family});
        let upstream = scripted(json!({"operations": [{"route": "* /*", "limit": limit}]})).await;
        let reply = get(&upstream, "/").await;
        assert_eq!(reply.status, status, "{family}");
        assert!(!reply.header(header).is_empty());
        assert!(body.is_null() || reply.json() == body, "{family}: {:?}", reply.json());
        // GitHub tells its primary limit by the reset alone.
        assert_eq!(reply.headers.contains_key("retry-after"), !["github", "openai"].contains(&family), "{family}");
    }
}

#[tokio::test(start_paused = true)]
async fn g14_a_budget_is_told_on_its_own_operation_and_may_be_overdrawn() {
    let budget = json!({"limit_ms": 100, "cost_ms": 60});
    let upstream = scripted(json!({"operations": [{"route": "POST /channels", "budget": budget}]})).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let reply = call(&upstream, ask(&upstream, "POST", "/channels", "{}")).await;
        let header = |what| reply.header(&format!("x-budget-{what}-ms")).to_owned();
        seen.push((reply.status, header("used"), header("limit"), header("remaining")));
        assert_eq!(reply.headers.contains_key("retry-after"), reply.status == 429);
    }
    let row = |status, used: &str, left: &str| (status, used.to_owned(), "100".to_owned(), left.to_owned());
    assert_eq!(seen, [row(200, "60", "40"), row(200, "120", "-20"), row(429, "120", "-20")]);
    assert_eq!(get(&upstream, "/users").await.headers.get("x-budget-used-ms"), None);
    assert_eq!(upstream.log().entries[2].why, Why::Budget);
}
