//! O4, and what browsers are told: health, metrics, request ids, headers.

use http::{Method, Request};
use serde_json::json;
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;

use crate::support::*;

#[tokio::test]
async fn o4_health_and_readiness() {
    let house = House::open().await;
    for path in ["/healthz", "/readyz"] {
        let answer = house.send(Method::GET, path, None, "").await;
        assert_eq!((answer.status, answer.text.as_str()), (200, r#"{"status":"ok"}"#));
    }
}

#[tokio::test]
async fn o4_metrics_count_every_answer_and_show_every_open_stream() {
    let house = House::open().await;
    let (stream, ended) = (house.stream(1, 1).await, house.stream(1, 1).await);
    house.post(&format!("/v1/streams/{ended}/end"), json!({})).await;
    let seat = house.admit(&stream, json!({})).await.seat();
    for _ in 0..3 {
        house.admit(&stream, json!({})).await;
    }
    house.page(&stream, "hb", json!({"seat": seat})).await;
    house.admit(&stream, json!({"seat": 5})).await;
    house.get("/nowhere").await;
    let text = house.get("/metrics").await.text;
    let stream_label = format!("tenant=\"acme\",stream=\"{stream}\"");
    for line in [
        r#"tidegate_requests_total{route="admit",answer="in"} 1"#.to_owned(),
        r#"tidegate_requests_total{route="admit",answer="wait"} 1"#.to_owned(),
        r#"tidegate_requests_total{route="admit",answer="full"} 2"#.to_owned(),
        r#"tidegate_requests_total{route="admit",answer="bad_request"} 1"#.to_owned(),
        r#"tidegate_requests_total{route="admit",answer="offer"} 0"#.to_owned(),
        r#"tidegate_requests_total{route="hb",answer="ok"} 1"#.to_owned(),
        r#"tidegate_requests_total{route="other",answer="not_found"} 1"#.to_owned(),
        r#"tidegate_request_seconds_count{route="admit"} 5"#.to_owned(),
        format!("tidegate_seats{{{stream_label}}} 1"),
        format!("tidegate_queued{{{stream_label}}} 1"),
        format!("tidegate_turns{{{stream_label}}} 0"),
        "tidegate_store_away 0".to_owned(),
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains(&ended), "a series ends with its stream");
    assert!(!text.contains(&seat), "no full seat id");
    let unlisted = |line: &&str| line.contains("answer=\"other\"") && !line.ends_with(" 0");
    assert_eq!(text.lines().find(unlisted), None, "every answer has its own label");
}

#[tokio::test]
async fn o4_a_request_id_is_echoed_or_made() {
    let house = House::open().await;
    let ask = async |id: Option<&str>| {
        let mut request = Request::get("/healthz").header("host", "test");
        if let Some(id) = id {
            request = request.header("x-request-id", id);
        }
        house.request(request.body(String::new()).unwrap()).await.header("x-request-id").to_owned()
    };
    assert_eq!(ask(Some("trace-1.a_B")).await, "trace-1.a_B");
    let (made, another) = (ask(None).await, ask(Some("not an id")).await);
    assert!(made.parse::<u64>().is_ok() && another.parse::<u64>().is_ok() && made != another, "{made} {another}");
}

#[tokio::test]
async fn cors_is_for_the_play_routes_only() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let from = |method: Method, path: &str| {
        let request = Request::builder().method(method).uri(path).header("host", "test");
        request.header("origin", "https://page.example").body(String::new()).unwrap()
    };
    let allow = "access-control-allow-origin";
    let question = house.request(from(Method::OPTIONS, &format!("/v1/play/{stream}/hb"))).await;
    assert_eq!(question.status, 204);
    assert_eq!((question.header(allow), question.header("access-control-allow-methods")), ("*", "GET, POST"));
    assert!(question.header("access-control-allow-headers").contains("content-type"));
    assert_eq!(question.header("access-control-allow-credentials"), "");

    let answer = house.request(from(Method::POST, &format!("/v1/play/{stream}/admit"))).await;
    assert_eq!((answer.status, answer.header(allow)), (201, "*"));
    let refused = house.request(from(Method::POST, &format!("/v1/play/{stream}/hb"))).await;
    assert_eq!((refused.status, refused.header(allow)), (410, "*"), "refusals can be read too");
    for path in ["/v1/streams", "/v1/tenant", "/healthz", "/nowhere"] {
        assert_eq!(house.request(from(Method::GET, path)).await.header(allow), "", "{path}");
    }
    let question = house.request(from(Method::OPTIONS, "/v1/streams")).await;
    assert_eq!((question.problem(), question.header(allow)), ((405, "method_not_allowed"), ""));
}

#[tokio::test]
async fn cors_origins_may_be_named() {
    let settings = ControlSettings { cors_origins: vec!["https://page.example".into()], ..unlimited() };
    let house = House::with(settings, EmbeddedSettings::default()).await;
    let stream = house.stream(5, 0).await;
    let allowed = async |origin: &str| {
        let request = Request::post(format!("/v1/play/{stream}/admit")).header("host", "test").header("origin", origin);
        let answer = house.request(request.body(String::new()).unwrap()).await;
        assert_eq!(answer.header("vary"), "origin");
        answer.header("access-control-allow-origin").to_owned()
    };
    assert_eq!(allowed("https://page.example").await, "https://page.example");
    assert_eq!(allowed("https://other.example").await, "");
}

#[tokio::test]
async fn answers_are_for_the_asker_only_and_nothing_in_them_runs() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let page = house.admit(&stream, json!({})).await;
    assert_eq!(page.header("content-type"), "application/json");
    for answer in [house.get("/v1/streams").await, house.get("/nowhere").await] {
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    assert!(house.get("/v1/streams").await.header("content-security-policy").contains("default-src 'none'"));
    assert_eq!(house.get("/.well-known/jwks.json").await.header("cache-control"), "public, max-age=60");
}
