//! Heads, bodies and the ready answers.

use std::io::Read;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tidegate_upstreams::{Answer, Body, RetryAfter, Rule, Script, Upstream};

use crate::caller::{ask, call, get, over_http2, scripted};

#[tokio::test]
async fn g9_to_g11c_the_ready_answers_have_the_status_and_the_body_of_their_kind() {
    let upstream = Upstream::start().await.unwrap();
    for (path, status, says) in [
        ("/throttled", 429, "Too many requests"),
        ("/exhausted", 200, r#""status":"RESOURCE_EXHAUSTED""#),
        ("/quota", 200, "quota"),
        ("/expired", 400, r#""status":"INVALID_ARGUMENT""#),
        ("/denied", 403, r#""status":"PERMISSION_DENIED""#),
        ("/missing", 404, r#""status":"NOT_FOUND""#),
        ("/captcha", 429, r#"id="captcha-form""#),
        ("/bot", 200, r#""status":"LOGIN_REQUIRED""#),
        ("/unavailable", 503, "Unavailable"),
        ("/anything/else", 200, r#""path":"/anything/else""#),
    ] {
        let reply = get(&upstream, path).await;
        let body = String::from_utf8(reply.body.to_vec()).unwrap();
        assert_eq!(reply.status, status, "{path}");
        assert!(body.contains(says), "{path}: {body}");
    }
}

#[tokio::test]
async fn g11c_a_redirect_to_the_captcha_points_here_so_that_following_it_shows() {
    let upstream = Upstream::start().await.unwrap();
    let reply = get(&upstream, "/sorry").await;
    assert_eq!((reply.status, reply.body.len()), (302, 0));
    assert!(reply.header("location").starts_with(&upstream.url("/sorry/index?")), "{:?}", reply.headers);
}

#[tokio::test]
async fn g16_retry_after_in_each_form_and_twice() {
    let upstream = scripted(json!({"rules": [{"route": "GET /", "answers": [
        {"status": 429, "retry_after": [{"seconds": 42}]},
        {"status": 429, "retry_after": [{"raw": "299.997"}]},
        {"status": 429, "retry_after": [{"raw": "-3"}]},
        {"status": 429, "retry_after": [{"raw": "18446744073709551615"}]},
        {"status": 429, "retry_after": [{"raw": "991, 98"}]},
        {"status": 429, "retry_after": [{"seconds": 98}, {"raw": "soon"}]},
        {"status": 429, "retry_after": [{"millis": 1500}]},
    ]}]}))
    .await;
    let expected: [&[&str]; 7] =
        [&["42"], &["299.997"], &["-3"], &["18446744073709551615"], &["991, 98"], &["98", "soon"], &[]];
    for values in expected {
        let reply = get(&upstream, "/").await;
        assert_eq!((reply.status, reply.all("retry-after")), (429, values.to_vec()));
        if values.is_empty() {
            assert_eq!(reply.header("retry-after-ms"), "1500");
        }
    }
}

#[tokio::test]
async fn g16_dates_in_all_three_forms_are_so_many_seconds_from_the_date_header_however_wrong_the_clock() {
    let forms = [RetryAfter::ImfDate(60), RetryAfter::Rfc850Date(60), RetryAfter::AsctimeDate(60)];
    let answers = forms.map(|form| Answer::status(503).with_retry_after(form));
    let rules = vec![Rule::new("GET /", answers).unwrap()];
    let upstream = Upstream::with(Script { rules, date_skew_s: -7200, ..Script::default() }).await.unwrap();
    for _ in 0..3 {
        let reply = get(&upstream, "/").await;
        let date = httpdate::parse_http_date(reply.header("date")).unwrap();
        let until = httpdate::parse_http_date(reply.header("retry-after")).unwrap();
        assert_eq!(until.duration_since(date).unwrap(), Duration::from_secs(60));
        assert!(SystemTime::now().duration_since(date).unwrap() > Duration::from_secs(7100));
    }
    upstream.set_script(Script { no_date: true, ..Script::default() });
    assert_eq!(get(&upstream, "/").await.headers.get("date"), None);
}

#[tokio::test]
async fn g28_both_versions_of_http_on_one_port_and_repeated_headers_in_order() {
    let upstream = Upstream::start().await.unwrap();
    let one = get(&upstream, "/cookies").await;
    let two = call(&upstream, over_http2(&upstream, ask(&upstream, "GET", "/cookies", ""))).await;
    for reply in [one, two] {
        assert_eq!(reply.all("set-cookie"), ["a=1; Path=/", "b=2; Path=/"]);
        assert_eq!(reply.header("content-length"), "1024");
    }
    let versions: Vec<String> = upstream.log().entries.into_iter().map(|entry| entry.version).collect();
    assert_eq!(versions, ["HTTP/1.1", "HTTP/2.0"]);
}

#[tokio::test]
async fn g19_a_gzip_body_is_the_same_when_decoded() {
    let upstream = Upstream::start().await.unwrap();
    let reply = get(&upstream, "/gzip").await;
    assert_eq!(reply.header("content-encoding"), "gzip");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*reply.body).read_to_string(&mut text).unwrap();
    assert_eq!(text, r#"{"compressed":true}"#);
}

#[tokio::test]
async fn g28_trailers_in_both_versions() {
    let upstream = Upstream::start().await.unwrap();
    let mut request = ask(&upstream, "GET", "/trailers", "");
    request.headers_mut().insert("te", "trailers".parse().unwrap());
    let one = call(&upstream, request).await;
    let two = call(&upstream, over_http2(&upstream, ask(&upstream, "GET", "/trailers", ""))).await;
    for reply in [one, two] {
        assert_eq!((reply.body.len(), reply.header("trailer")), (1024, "x-checksum"));
        assert_eq!(reply.trailers.get("x-checksum").unwrap(), "abc");
        assert_eq!(reply.headers.get("content-length"), None);
    }
}

#[tokio::test]
async fn an_echo_shows_what_was_received() {
    let upstream = Upstream::start().await.unwrap();
    let mut request = ask(&upstream, "PUT", "/rooms/7?q=a%20b", "hello");
    request.headers_mut().append("x-twice", "1".parse().unwrap());
    request.headers_mut().append("x-twice", "2".parse().unwrap());
    let seen = call(&upstream, request).await.json();
    assert_eq!(seen["method"], "PUT");
    assert_eq!((&seen["path"], &seen["query"]), (&json!("/rooms/7"), &json!("q=a%20b")));
    assert_eq!((&seen["body"], &seen["body_bytes"]), (&json!("hello"), &json!(5)));
    assert_eq!(seen["authority"], upstream.address().to_string());
    let headers = seen["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["x-twice", "1"])) && headers.contains(&json!(["x-twice", "2"])), "{seen}");
}

#[tokio::test]
async fn a_mebibyte_comes_and_goes_unchanged() {
    let upstream = Upstream::start().await.unwrap();
    let large = get(&upstream, "/bytes/1mib").await.body;
    assert_eq!(large.len(), 1024 * 1024);
    assert!(large.iter().zip((0..=250_u8).cycle()).all(|(byte, pattern)| *byte == pattern));
    let up = call(&upstream, ask(&upstream, "POST", "/mirror", large.clone())).await;
    let over = call(&upstream, over_http2(&upstream, ask(&upstream, "POST", "/mirror", large.clone()))).await;
    assert!(up.body == large && over.body == large);
    assert_eq!(upstream.log().entries[2].body_bytes, 1024 * 1024);
}

#[tokio::test]
async fn a_head_tells_the_length_and_sends_nothing() {
    let upstream = Upstream::start().await.unwrap();
    let reply = call(&upstream, ask(&upstream, "HEAD", "/bytes/1kib", "")).await;
    assert_eq!((reply.status, reply.header("content-length"), reply.body.len()), (200, "1024", 0));
}

#[tokio::test]
async fn a_chunked_answer_has_no_length() {
    let chunked = Answer { chunked: true, ..Answer::body(Body::Bytes(10)) };
    let upstream = Upstream::with(Script { otherwise: chunked, ..Script::default() }).await.unwrap();
    let reply = get(&upstream, "/").await;
    assert_eq!((reply.body.len(), reply.header("transfer-encoding")), (10, "chunked"));
    assert_eq!(reply.headers.get("content-length"), None);
}

#[tokio::test]
async fn an_answer_that_cannot_be_sent_says_so() {
    let wrong = Answer::default().with_header("not a name", "1");
    let upstream = Upstream::with(Script { otherwise: wrong, ..Script::default() }).await.unwrap();
    let reply = get(&upstream, "/").await;
    assert_eq!(reply.status, 500);
    assert!(reply.body.starts_with(b"the script's answer cannot be sent: `not a name: 1`"), "{reply:?}");
}
