//! A stand-in upstream, the proxy in front of it, and a client.
//!
//! Time is paused, and a ticker lets it pass a millisecond at a time whenever every task waits for a timer or a
//! socket: hours pass in seconds, and what comes over a socket takes a few milliseconds of the tests' time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tidegate_upstream::{Gate, Proxy, ServerSettings, Snapshot, Stopped, UpstreamSettings, UpstreamToml, serve};
use tidegate_upstreams::{Script, Upstream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

pub(crate) struct Stage {
    pub(crate) upstream: Upstream,
    pub(crate) gate: Gate,
    pub(crate) address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) server: JoinHandle<Stopped>,
}

/// An answer that was read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The code of a problem, which it must be.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!(self.header("tidegate-synthetic"), Some("1"));
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl Stage {
    /// The stand-in's menu behind an upstream `api` with these settings.
    pub(crate) async fn new(toml: &str) -> Self {
        Self::with(Script::menu(), toml).await
    }

    pub(crate) async fn with(script: Script, toml: &str) -> Self {
        Self::limited(script, toml, ServerSettings::default()).await
    }

    pub(crate) async fn limited(script: Script, toml: &str, limits: ServerSettings) -> Self {
        let upstream = Upstream::with(script).await.unwrap();
        let settings = settings(&format!("base_url = \"{}\"\n{toml}", upstream.url("")));
        // Nobody listens at port 9 of this machine.
        let absent = self::settings("base_url = \"http://127.0.0.1:9\"");
        let gate = Gate::new([("api", settings), ("absent", absent)]).unwrap();
        Self::of(upstream, gate, limits).await
    }

    pub(crate) async fn of(upstream: Upstream, gate: Gate, limits: ServerSettings) -> Self {
        tokio::spawn(async {
            loop {
                sleep(Duration::from_millis(1)).await;
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = Arc::new(Proxy::new(gate.clone(), limits));
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(serve(listener, proxy, async move { drop(stopped.await) }));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { upstream, gate, address, client, stop: Some(stop), server }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn get(&self, path: &str) -> http::request::Builder {
        Request::get(self.url(path))
    }

    /// Sends a request and reads its answer's head.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        self.client.request(request).await.unwrap()
    }

    pub(crate) async fn ask(&self, request: http::request::Builder) -> Answer {
        self.ask_with(request, "").await
    }

    pub(crate) async fn ask_with(&self, request: http::request::Builder, body: impl Into<Bytes>) -> Answer {
        read(self.send(request.body(Full::new(body.into())).unwrap()).await).await
    }

    /// Asks in a task of its own, on a connection of its own or a free one.
    pub(crate) fn asking(&self, request: http::request::Builder, body: &'static str) -> JoinHandle<Answer> {
        let client = self.client.clone();
        let request = request.body(Full::from(body)).unwrap();
        tokio::spawn(async move { read(client.request(request).await.unwrap()).await })
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.gate.snapshot("api").unwrap()
    }

    /// Waits until the gate stands so.
    pub(crate) async fn until(&self, so: impl Fn(&Snapshot) -> bool) -> Snapshot {
        for _ in 0..120_000 {
            let snapshot = self.snapshot();
            if so(&snapshot) {
                return snapshot;
            }
            sleep(Duration::from_millis(1)).await;
        }
        panic!("it never came so: {:?}", self.snapshot());
    }

    /// Sends bytes as they are and reads until the proxy closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let _reset = socket.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

pub(crate) fn settings(toml: &str) -> UpstreamSettings {
    toml::from_str::<UpstreamToml>(toml).unwrap().resolve().unwrap()
}

pub(crate) async fn read(response: Response<Incoming>) -> Answer {
    let (parts, body) = response.into_parts();
    let collected = body.collect().await.unwrap();
    let trailers = collected.trailers().cloned();
    Answer { status: parts.status.as_u16(), headers: parts.headers, body: collected.to_bytes(), trailers }
}

/// The value of one header in an echo.
pub(crate) fn echoed(echo: &Value, name: &str) -> Vec<String> {
    let pairs = echo["headers"].as_array().unwrap().iter();
    pairs.filter(|pair| pair[0] == name).map(|pair| pair[1].as_str().unwrap().to_owned()).collect()
}
