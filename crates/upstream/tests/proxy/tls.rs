//! G28: TLS towards upstreams, HTTP/2 where both speak it, and whom it trusts; G1: spacing, however long that takes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tidegate_upstream::{Gate, ServerSettings};
use tidegate_upstreams::Upstream;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;

use crate::stage::{Stage, settings};

type Body = StreamBody<futures_util::stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, std::convert::Infallible>>>>;

/// Says when and what it was asked, in which version and by which host, with a trailer behind.
async fn answer(since: Instant, request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
    let at_ms = since.elapsed().as_millis().to_string();
    let (parts, body) = request.into_parts();
    let body = body.collect().await?;
    let host = parts.headers.get("host").map(|host| host.to_str().unwrap().to_owned());
    let said = format!("{:?} {} host={host:?} {} bytes", parts.version, parts.uri, body.to_bytes().len());
    let trailers = HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from_static("7"))]);
    let frames = vec![Ok(Frame::data(Bytes::from(said))), Ok(Frame::trailers(trailers))];
    let response = Response::builder().header("trailer", "x-sum").header("x-at-ms", at_ms);
    Ok(response.body(StreamBody::new(futures_util::stream::iter(frames))).unwrap())
}

/// A server of its own certificate authority that offers these protocols.
async fn serve(protocols: &[&[u8]]) -> (SocketAddr, String) {
    serve_after(protocols, Duration::ZERO).await
}

/// The same; the handshake of the first connection begins after a pause.
async fn serve_after(protocols: &[&[u8]], pause: Duration) -> (SocketAddr, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let since = Instant::now();
    let answer = move |request| answer(since, request);
    let mut pauses = std::iter::once(pause);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, pause) = (acceptor.clone(), pauses.next());
            tokio::spawn(async move {
                sleep(pause.unwrap_or_default()).await;
                let Ok(socket) = acceptor.accept(socket).await else { return };
                let http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
                let io = TokioIo::new(socket);
                if http2 {
                    let serving = http2::Builder::new(TokioExecutor::new()).serve_connection(io, service_fn(answer));
                    drop(serving.await);
                } else {
                    drop(http1::Builder::new().serve_connection(io, service_fn(answer)).await);
                }
            });
        }
    });
    (address, cert.pem())
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tidegate-{}-{name}.pem", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

async fn stage(address: SocketAddr, ca: &std::path::Path) -> Stage {
    let base = format!("base_url = \"https://localhost:{}\"\nmin_interval_ms = 0\n", address.port());
    let trusting = settings(&format!("{base}ca_file = {:?}", ca.display().to_string()));
    let gate = Gate::new([("api", trusting), ("public", settings(&base))]).unwrap();
    Stage::of(Upstream::start().await.unwrap(), gate, ServerSettings::default()).await
}

#[tokio::test(start_paused = true)]
async fn g28_an_upstream_is_called_in_http_2_where_it_offers_that_and_else_in_http_1() {
    for (protocols, version) in
        [(&[&b"h2"[..], b"http/1.1"][..], "HTTP/2.0"), (&[&b"http/1.1"[..]][..], "HTTP/1.1"), (&[][..], "HTTP/1.1")]
    {
        let (address, pem) = serve(protocols).await;
        let ca = file(version.trim_start_matches("HTTP/"), &pem);
        let stage = stage(address, &ca).await;
        for _ in 0..2 {
            let request = Request::post(stage.url("/api/x?y=1")).header("te", "trailers");
            let answer = stage.ask_with(request, "hello").await;
            let said = String::from_utf8(answer.body.to_vec()).unwrap();
            assert!(said.starts_with(version) && said.ends_with("5 bytes"), "{said}");
            assert!(said.contains("/x?y=1"), "{said}");
            let host = format!("localhost:{}", address.port());
            assert!(said.contains(&host), "{said}");
            assert_eq!(answer.trailers.unwrap()["x-sum"], "7");
            let via = answer.headers["via"].to_str().unwrap();
            assert_eq!(via, if version == "HTTP/2.0" { "2.0 tidegate" } else { "1.1 tidegate" });
        }
        std::fs::remove_file(ca).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn g28_a_server_that_nobody_vouches_for_is_502_with_the_cause() {
    let (address, pem) = serve(&[b"http/1.1"]).await;
    let ca = file("unknown", &pem);
    let stage = stage(address, &ca).await;
    let answer = stage.ask(stage.get("/public/x")).await;
    assert_eq!((answer.status, answer.problem().as_str()), (502, "upstream_unreachable"));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("certificate"), "{detail}");
    std::fs::remove_file(ca).unwrap();
}

#[tokio::test(start_paused = true)]
async fn g1_a_call_that_connects_for_longer_than_the_spacing_still_leaves_alone() {
    let (address, pem) = serve_after(&[b"http/1.1"], Duration::from_millis(700)).await;
    let ca = file("slow", &pem);
    let base = format!("base_url = \"https://localhost:{}\"\ndedupe = []", address.port());
    let api = settings(&format!("{base}\nca_file = {:?}", ca.display().to_string()));
    let gate = Gate::new([("api", api)]).unwrap();
    let stage = Stage::of(Upstream::start().await.unwrap(), gate, ServerSettings::default()).await;
    let calls: Vec<_> = (0..5).map(|_| stage.asking(stage.get("/api/x"), "")).collect();
    let mut arrivals: Vec<u64> = Vec::new();
    for call in calls {
        arrivals.push(call.await.unwrap().header("x-at-ms").unwrap().parse().unwrap());
    }
    arrivals.sort();
    assert!(arrivals[0] >= 700, "somebody overtook the first: {arrivals:?}");
    assert!(arrivals.windows(2).all(|pair| pair[1] - pair[0] >= 250), "{arrivals:?}");
    std::fs::remove_file(ca).unwrap();
}

#[tokio::test(start_paused = true)]
async fn g1_a_handshake_that_stands_still_is_502_and_keeps_the_others_no_longer() {
    let (address, pem) = serve_after(&[b"http/1.1"], Duration::from_secs(60)).await;
    let ca = file("still", &pem);
    let base = format!("base_url = \"https://localhost:{}\"\ndedupe = []\nconnect_timeout_ms = 2000", address.port());
    let api = settings(&format!("{base}\nca_file = {:?}", ca.display().to_string()));
    let gate = Gate::new([("api", api)]).unwrap();
    let stage = Stage::of(Upstream::start().await.unwrap(), gate, ServerSettings::default()).await;
    let first = stage.asking(stage.get("/api/x"), "");
    stage.until(|gate| gate.running == 1).await;
    let since = Instant::now();
    let second = stage.ask(stage.get("/api/y")).await;
    // Its own handshake comes over a socket, during which the tests' time passes at the machine's speed.
    assert!((1.9..30.0).contains(&since.elapsed().as_secs_f64()), "{:?}", since.elapsed());
    assert_eq!(second.status, 200);
    let first = first.await.unwrap();
    assert_eq!((first.status, first.problem().as_str()), (502, "upstream_unreachable"));
    let detail = first.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("no connection within 2 s"), "{detail}");
    std::fs::remove_file(ca).unwrap();
}

#[test]
fn o3_a_ca_file_that_is_none_is_refused_when_it_is_read() {
    let empty = file("empty", "no certificate");
    for ca in [empty.as_path(), std::path::Path::new("/nowhere/ca.pem")] {
        let api = settings(&format!("base_url = \"https://x\"\nca_file = {:?}", ca.display().to_string()));
        let error = Gate::new([("api", api)]).err().unwrap().to_string();
        assert!(error.starts_with("upstream api: ca_file /"), "{error}");
    }
    std::fs::remove_file(empty).unwrap();
}
