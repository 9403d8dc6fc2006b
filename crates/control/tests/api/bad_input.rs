//! "Limits against bad input": whatever comes, the answer is a 4xx problem or a closed connection.

use http::{Method, Request};
use serde_json::json;
use tidegate_control::ControlSettings;
use tidegate_store::EmbeddedSettings;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::*;

#[tokio::test]
async fn limits_a_table_of_bad_bodies() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    let long_token = format!(r#"{{"seat":"x","token":"{}"}}"#, "t".repeat(4097));
    let bodies = [
        ("not json", "nonsense"),
        ("half", r#"{"seat":"#),
        ("an array", r#"["AAAAAAAAAAAAAAAAAAAAAA"]"#),
        ("a number", "5"),
        ("null", "null"),
        ("twice", r#"{"seat":"a","seat":"b"}"#),
        ("a wrong type", r#"{"seat":{"a":1}}"#),
        ("a huge number", r#"{"seat":1e999}"#),
        ("deep", &deep),
        ("a surrogate", r#"{"seat":"\ud800"}"#),
        ("a NUL", "{\"seat\":\"a\0b\"}"),
        ("two values", "{}{}"),
    ];
    for call in ["admit", "token", "hb", "leave"] {
        for (what, body) in bodies {
            let path = format!("/v1/play/{stream}/{call}");
            let refused = house.send(Method::POST, &path, None, body).await;
            assert_eq!(refused.problem(), (400, "bad_request"), "{call}: {what}");
        }
    }
    for call in ["admit", "token", "hb"] {
        let refused = house.send(Method::POST, &format!("/v1/play/{stream}/{call}"), None, &long_token).await;
        assert_eq!(
            (refused.problem(), refused.body["field"].as_str()),
            ((400, "bad_request"), Some("token")),
            "{call}"
        );
    }
    for (what, body) in [
        ("a negative cap", json!({"name": "a", "viewer_cap": -1})),
        ("no seats", json!({"name": "a", "viewer_cap": 0})),
        ("half a seat", json!({"name": "a", "viewer_cap": 1.5})),
        ("a huge cap", json!({"name": "a", "viewer_cap": 18_446_744_073_709_551_615_u64})),
        ("a word", json!({"name": "a", "viewer_cap": "many"})),
        ("no name", json!({"viewer_cap": 1})),
        ("an empty name", json!({"name": "", "viewer_cap": 1})),
        ("a long name", json!({"name": "x".repeat(201), "viewer_cap": 1})),
        ("a line break", json!({"name": "a\nb", "viewer_cap": 1})),
        ("a bad region", json!({"name": "a", "viewer_cap": 1, "region": "../etc"})),
        ("nothing", json!({})),
    ] {
        assert_eq!(house.post("/v1/streams", body).await.problem(), (400, "bad_request"), "{what}");
    }
    assert_eq!(house.stats(&stream).await["viewers"]["seats"], 0, "nothing bad left anything behind");
}

#[tokio::test]
async fn limits_bad_utf8_is_a_400() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    for body in [&b"{\"seat\":\"\xff\xfe\"}"[..], b"\xc3\x28", b"{\"other\":\"\xed\xa0\x80\"}"] {
        let mut request = head(&format!("POST /v1/play/{stream}/admit"), &format!("content-length: {}", body.len()));
        request.extend_from_slice(body);
        let answer = house.raw(&request, |text| text.ends_with('}')).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("bad_request"), "{answer}");
    }
}

#[tokio::test]
async fn limits_a_body_over_64_kib_is_413_with_and_without_its_length() {
    let house = House::open().await;
    let stream = house.stream(5, 0).await;
    let path = format!("/v1/play/{stream}/admit");
    let padded = |bytes: usize| format!(r#"{{"x":"{}"}}"#, "x".repeat(bytes - 8));
    let most = house.send(Method::POST, &path, None, &padded(65_536)).await;
    assert_eq!(most.state(), (201, "in"));
    for bytes in [65_537, 200_000] {
        let refused = house.send(Method::POST, &path, None, &padded(bytes)).await;
        assert_eq!(refused.problem(), (413, "body_too_large"), "{bytes}");
        assert_eq!(refused.header("connection"), "close");
    }
    // A tenant's calls too, and with nothing but a promise of a terabyte.
    let refused = house.send(Method::PATCH, &format!("/v1/streams/{stream}"), Some(KEY), &padded(65_537)).await;
    assert_eq!(refused.problem(), (413, "body_too_large"));
    let promise = head(&format!("POST {path}"), "content-length: 1099511627776");
    let answer = house.raw(&promise, |_| false).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("body_too_large"), "{answer}");
    let mut chunked = head(&format!("POST {path}"), "transfer-encoding: chunked");
    for _ in 0..40 {
        chunked.extend_from_slice(format!("800\r\n{}\r\n", "x".repeat(2048)).as_bytes());
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let answer = house.raw(&chunked, |_| false).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn limits_heads_over_16_kib_are_431() {
    let house = House::open().await;
    let fits = head("GET /healthz", &format!("x-pad: {}", "x".repeat(15_000)));
    assert!(house.raw(&fits, |text| text.contains("ok")).await.starts_with("HTTP/1.1 200 "));
    for head in [
        head("GET /healthz", &format!("x-pad: {}", "x".repeat(17_000))),
        head("GET /healthz", &"x-pad: 1\r\n".repeat(400)),
        head(&format!("GET /{}", "x".repeat(17_000)), "x-pad: 1"),
        // Never ends.
        format!("GET /healthz HTTP/1.1\r\nhost: a\r\nx-pad: {}", "x".repeat(100_000)).into_bytes(),
    ] {
        let answer = house.raw(&head, |_| false).await;
        assert!(
            answer.starts_with("HTTP/1.1 431 ") || answer.starts_with("HTTP/1.1 414 ") || answer.is_empty(),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn limits_what_is_not_http_is_closed() {
    let house = House::open().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nbad header\r\n\r\n",
        b"POST /v1/play/x/admit HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/play/x/admit HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        b"POST /v1/play/x/admit HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let answer = house.raw(bytes, |_| false).await;
        let status = answer.get(9..12).unwrap_or("closed");
        assert!(status == "closed" || status.starts_with('4') || status == "505", "{bytes:?}: {answer}");
    }
    assert_eq!(house.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn s25_unknown_routes_and_methods_are_problems() {
    let house = House::open().await;
    for path in ["/nowhere", "/v1", "/v1/play", "/v1/play/x", "/v1/play/x/y", "/v1/streams/x/y", "//", "/v1/streams/"] {
        assert_eq!(house.get(path).await.problem(), (404, "not_found"), "{path}");
    }
    let wrong = house.send(Method::GET, "/v1/play/x/admit", None, "").await;
    assert_eq!((wrong.problem(), wrong.header("allow")), ((405, "method_not_allowed"), "POST"));
    let wrong = house.send(Method::PUT, "/v1/streams", Some(KEY), "").await;
    assert_eq!(wrong.problem(), (405, "method_not_allowed"));
    let mut allowed: Vec<_> = wrong.header("allow").split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "HEAD", "POST"]);
    let odd = Request::builder().method("BREW").uri("/healthz").header("host", "a").body(String::new()).unwrap();
    assert_eq!(house.request(odd).await.problem(), (405, "method_not_allowed"));
    assert_eq!(house.send(Method::HEAD, "/healthz", None, "").await.status, 200);
}

#[tokio::test]
async fn limits_a_body_that_does_not_come_is_408() {
    let settings = ControlSettings { body_timeout_ms: 100, ..unlimited() };
    let house = House::with(settings, EmbeddedSettings::default()).await;
    let stream = house.stream(5, 0).await;
    let mut half = head(&format!("POST /v1/play/{stream}/hb"), "content-length: 50");
    half.extend_from_slice(b"{\"seat\":");
    let answer = house.raw(&half, |_| false).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("request_timeout"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn limits_pipelined_requests_are_answered_in_order() {
    let house = House::open().await;
    let stream = house.stream(1, 1).await;
    let ask = format!("POST /v1/play/{stream}/admit HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{{}}");
    let last = "GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let answers = house.raw(format!("{ask}{ask}{ask}{last}").as_bytes(), |_| false).await;
    let statuses: Vec<_> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["201", "409", "409", "404"], "{answers}");
    let told: Vec<_> = answers.split("\"state\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(told, ["in", "wait", "full"]);
}

#[tokio::test]
async fn limits_a_body_may_come_in_pieces() {
    let house = House::open().await;
    let stream = house.stream(1, 0).await;
    let mut socket = TcpStream::connect(house.address).await.unwrap();
    let body = json!({"nonce": "0123456789abcdef"}).to_string();
    let mut request = head(&format!("POST /v1/play/{stream}/admit"), &format!("content-length: {}", body.len()));
    request.extend_from_slice(body.as_bytes());
    for byte in request {
        socket.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = read_until(&mut socket, |text| text.contains("relays")).await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}

fn head(start: &str, header: &str) -> Vec<u8> {
    format!("{start} HTTP/1.1\r\nhost: a\r\n{header}\r\n\r\n").into_bytes()
}
