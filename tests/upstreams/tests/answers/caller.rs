//! A plain HTTP/1.1 or HTTP/2 caller.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tidegate_upstreams::{Script, Upstream};
use tokio::net::TcpStream;

pub(crate) type Sent = BoxBody<Bytes, std::convert::Infallible>;

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: HeaderMap,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers)).to_str().unwrap()
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Sends one request on a connection of its own; the version is the request's.
pub(crate) async fn send(upstream: &Upstream, request: Request<Sent>) -> hyper::Result<Response<Incoming>> {
    let stream = TokioIo::new(TcpStream::connect(upstream.address()).await.unwrap());
    if request.version() == Version::HTTP_2 {
        let (mut send, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        send.send_request(request).await
    } else {
        let (mut send, connection) = hyper::client::conn::http1::handshake(stream).await?;
        tokio::spawn(connection.with_upgrades());
        send.send_request(request).await
    }
}

pub(crate) async fn read(response: Response<Incoming>) -> hyper::Result<Reply> {
    let (head, body) = response.into_parts();
    let body = body.collect().await?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    Ok(Reply { status: head.status.as_u16(), headers: head.headers, body: body.to_bytes(), trailers })
}

pub(crate) async fn call(upstream: &Upstream, request: Request<Sent>) -> Reply {
    read(send(upstream, request).await.unwrap()).await.unwrap()
}

pub(crate) async fn get(upstream: &Upstream, path: &str) -> Reply {
    call(upstream, ask(upstream, "GET", path, "")).await
}

pub(crate) fn ask(upstream: &Upstream, method: &str, path: &str, body: impl Into<Bytes>) -> Request<Sent> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", upstream.address().to_string())
        .body(Full::new(body.into()).boxed())
        .unwrap()
}

/// The same request for HTTP/2, whose target carries the authority.
pub(crate) fn over_http2(upstream: &Upstream, mut request: Request<Sent>) -> Request<Sent> {
    *request.version_mut() = Version::HTTP_2;
    *request.uri_mut() = upstream.url(&request.uri().to_string()).parse().unwrap();
    request.headers_mut().remove("host");
    request
}

/// A stand-in with a script in JSON, as other languages write it.
pub(crate) async fn scripted(script: Value) -> Upstream {
    let script: Script = serde_json::from_value(script).unwrap();
    Upstream::with(script).await.unwrap()
}
