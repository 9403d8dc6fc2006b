//! A stand-in upstream, the gate's process in front of it, and a client.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::http::request::Builder;
use hyper::{HeaderMap, Request};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tempfile::TempDir;
use tidegate_tests::GateServer;
use tidegate_upstreams::{Script, Upstream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

pub(crate) struct Stage {
    pub(crate) upstream: Upstream,
    pub(crate) gate: GateServer,
    client: Client<HttpConnector, Full<Bytes>>,
    _folder: TempDir,
}

/// An answer that was read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status and code of a problem, which it must be.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!(self.header("tidegate-synthetic"), Some("1"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        (self.status, problem["code"].as_str().unwrap().to_owned())
    }
}

impl Stage {
    /// A stand-in behind an upstream `api` with these settings, and `absent`, where nobody listens.
    pub(crate) async fn with(script: Script, toml: &str) -> Self {
        Self::calling(script, toml, false).await
    }

    /// The same for so many calls at once that each cannot have a connection of its own.
    pub(crate) async fn over_http2(script: Script, toml: &str) -> Self {
        Self::calling(script, toml, true).await
    }

    async fn calling(script: Script, toml: &str, http2: bool) -> Self {
        let upstream = Upstream::with(script).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("gate.toml");
        let text = format!(
            "[gate]\nstreams_max = 2000\n[upstreams.absent]\nbase_url = \"http://127.0.0.1:9\"\n\
             [upstreams.api]\nbase_url = \"{}\"\n{toml}",
            upstream.url("")
        );
        std::fs::write(&config, text).unwrap();
        let gate = GateServer::start(&config);
        let client = Client::builder(TokioExecutor::new()).http2_only(http2).build_http();
        Self { upstream, gate, client, _folder: folder }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Builder {
        Request::builder().method(method).uri(self.gate.url(path))
    }

    pub(crate) async fn ask(&self, request: Builder, body: impl Into<Bytes>) -> Answer {
        self.asking(request, body).await.unwrap()
    }

    /// A call in a task of its own; aborting it is a client that hangs up.
    pub(crate) fn asking(&self, request: Builder, body: impl Into<Bytes>) -> JoinHandle<Answer> {
        let client = self.client.clone();
        let request = request.body(Full::from(body.into())).unwrap();
        tokio::spawn(async move {
            let (parts, body) = client.request(request).await.unwrap().into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            Answer { status: parts.status.as_u16(), headers: parts.headers, body }
        })
    }

    /// The sum of the series that begin so, as `/metrics` tells it.
    pub(crate) async fn counted(&self, series: &str) -> f64 {
        let metrics = self.ask(self.request("GET", "/metrics"), "").await;
        let text = std::str::from_utf8(&metrics.body).unwrap();
        let values = text.lines().filter(|line| line.starts_with(series)).map(|line| line.rsplit_once(' ').unwrap().1);
        values.map(|value| value.parse::<f64>().unwrap()).sum()
    }

    /// Waits until that is so.
    pub(crate) async fn until(&self, series: &str, so: impl Fn(f64) -> bool) {
        for _ in 0..PATIENCE {
            if so(self.counted(series).await) {
                return;
            }
            sleep(LOOK_AGAIN).await;
        }
        panic!("{series} never came so, it is {}", self.counted(series).await);
    }
}

/// How often a metric is looked at that is to change, and how many times.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const PATIENCE: usize = 3000;
