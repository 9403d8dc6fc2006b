//! What the tests share: a control on a store of its own, and a client that holds every answer to the description.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_control::{Control, ControlSettings, Networks, TokenSettings, Tokens, auth, fresh_seed, recorder};
use tidegate_seats::{SeatSettings, TenantId};
use tidegate_store::{Catalogue, Embedded, EmbeddedSettings, TenantSettings};
use tidegate_token::KeySet;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The secret key of tenant `acme`, whose viewer cap is 200.
pub(crate) const KEY: &str = "sk-acme-0123456789abcdef0123456789abcdef";

/// The secret key of tenant `other`.
pub(crate) const OTHER_KEY: &str = "sk-other-0123456789abcdef0123456789abcdef";

/// A control over a store in a directory of its own, served on a port of its own.
pub(crate) struct House {
    pub(crate) store: Arc<Embedded>,
    pub(crate) control: Control,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) address: SocketAddr,
    pub(crate) prometheus: PrometheusHandle,
    _dir: TempDir,
    description: Value,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// An answer as the client read it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn seat(&self) -> String {
        self.body["seat"].as_str().unwrap_or_else(|| panic!("no seat in {self:?}")).to_owned()
    }

    pub(crate) fn token(&self) -> String {
        self.body["token"].as_str().unwrap_or_else(|| panic!("no token in {self:?}")).to_owned()
    }

    /// Status and state of an answer to an ask.
    pub(crate) fn state(&self) -> (u16, &str) {
        (self.status, self.body["state"].as_str().unwrap_or_else(|| panic!("no state in {self:?}")))
    }

    /// Status and code of a problem, which must be whole.
    pub(crate) fn problem(&self) -> (u16, &str) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        for text in ["title", "detail"] {
            assert!(self.body[text].as_str().is_some_and(|text| !text.is_empty()), "{text} of {self:?}");
        }
        (self.status, self.body["code"].as_str().expect("a problem has a code"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap_or("?"))
    }

    /// S25: what says when to come back says it twice, and never too early.
    fn retry_is_told_twice(&self) {
        let ms = self.body["retry_after_ms"].as_u64();
        let header = self.header("retry-after").parse::<u64>().ok();
        assert_eq!(ms.map(|ms| ms.div_ceil(1000)), header, "{self:?}");
        if [429, 503].contains(&self.status) {
            assert!(ms.is_some(), "{self:?}");
        }
    }
}

impl House {
    /// Default settings, with loopback exempt so that rules under test are not hidden by the rate limit.
    pub(crate) async fn open() -> Self {
        Self::with(unlimited(), EmbeddedSettings::default()).await
    }

    pub(crate) async fn with(settings: ControlSettings, store: EmbeddedSettings) -> Self {
        Self::unserved(settings, store).await.served().await
    }

    /// The same without a socket: its routes are called as they are.
    pub(crate) async fn unserved(settings: ControlSettings, store: EmbeddedSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Embedded::open(dir.path(), store).unwrap();
        for (id, key) in [("acme", KEY), ("other", OTHER_KEY)] {
            let tenant =
                TenantSettings { name: id.to_uppercase(), viewer_cap: 200, max_sessions: None, publishers: 20 };
            store.add_tenant(&TenantId::parse(id).unwrap(), tenant, auth::key_digest(key)).await.unwrap();
        }
        Self::over(store, dir, settings, KeySet::generate(fresh_seed(), 0))
    }

    /// A control over a store that is there already.
    pub(crate) fn over(store: Arc<Embedded>, dir: TempDir, settings: ControlSettings, keys: KeySet) -> Self {
        let recorder = recorder().build_recorder();
        let prometheus = recorder.handle();
        let tokens = Arc::new(Tokens::new(keys, TokenSettings::default()));
        let control = metrics::with_local_recorder(&recorder, || {
            Control::new(settings, store.clone(), store.clone(), Arc::clone(&tokens), prometheus.clone())
        });
        Self {
            store,
            control,
            tokens,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            prometheus,
            _dir: dir,
            description: Value::Null,
            stop: None,
            serving: None,
        }
    }

    /// Serves on a port of its own.
    pub(crate) async fn served(mut self) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = self.control.clone();
        self.stop = Some(stop);
        self.serving = Some(tokio::spawn(async move { served.serve(listener, async { drop(stopped.await) }).await }));
        self.description = self.get("/openapi.json").await.body;
        self
    }

    /// Begins a stop; the handle is ready when it is over.
    pub(crate) fn stop(&mut self) -> JoinHandle<()> {
        drop(self.stop.take());
        self.serving.take().expect("not stopped before")
    }

    /// Makes a stream and says its id.
    pub(crate) async fn stream(&self, viewer_cap: u32, queue_max: u32) -> String {
        self.stream_of(KEY, json!({"name": "live", "viewer_cap": viewer_cap, "queue_max": queue_max})).await
    }

    pub(crate) async fn stream_of(&self, key: &str, settings: Value) -> String {
        let made = self.send(Method::POST, "/v1/streams", Some(key), &settings.to_string()).await;
        assert_eq!(made.status, 201, "{made:?}");
        made.body["id"].as_str().unwrap().to_owned()
    }

    /// A page's call: `admit`, `token`, `hb`, `leave`.
    pub(crate) async fn page(&self, stream: &str, call: &str, body: Value) -> Answer {
        self.send(Method::POST, &format!("/v1/play/{stream}/{call}"), None, &body.to_string()).await
    }

    /// An ask for a seat.
    pub(crate) async fn admit(&self, stream: &str, body: Value) -> Answer {
        self.page(stream, "admit", body).await
    }

    /// A tenant's call with a body.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(KEY), &body.to_string()).await
    }

    pub(crate) async fn patch(&self, stream: &str, body: Value) -> Answer {
        self.send(Method::PATCH, &format!("/v1/streams/{stream}"), Some(KEY), &body.to_string()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Some(KEY), "").await
    }

    pub(crate) async fn stats(&self, stream: &str) -> Value {
        let stats = self.get(&format!("/v1/streams/{stream}/stats")).await;
        assert_eq!(stats.status, 200, "{stats:?}");
        stats.body
    }

    pub(crate) async fn send(&self, method: Method, path: &str, key: Option<&str>, body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "test");
        // What `curl -d` says of every body.
        request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        self.request(request.body(body.to_owned()).unwrap()).await
    }

    /// Sends any request from 127.0.0.1, and holds the answer to the description.
    pub(crate) async fn request(&self, request: Request<String>) -> Answer {
        self.request_from("127.0.0.1".parse().unwrap(), request).await
    }

    pub(crate) async fn request_from(&self, from: IpAddr, request: Request<String>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let socket = connect_from(from, self.address).await;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.unwrap();
        let connection = tokio::spawn(connection);
        let response = sender.send_request(request.map(|body| Full::new(Bytes::from(body)))).await.unwrap();
        let (head, body) = response.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        connection.abort();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        let answer = Answer { status: head.status.as_u16(), headers: head.headers, text, body };
        answer.retry_is_told_twice();
        if self.description.is_object() {
            self.is_described(&method, &path, &answer);
        }
        answer
    }

    /// O8: every status and code that a route answers stands in its description.
    fn is_described(&self, method: &Method, path: &str, answer: &Answer) {
        let paths = self.description["paths"].as_object().unwrap();
        let same = |template: &str| {
            let (ours, theirs) = (template.split('/'), path.split('/'));
            ours.clone().count() == theirs.clone().count()
                && ours.zip(theirs).all(|(a, b)| a == b || (a.starts_with('{') && !b.is_empty()))
        };
        let Some((template, item)) = paths.iter().find(|(template, _)| same(template)) else { return };
        let Some(operation) = item.get(method.as_str().to_ascii_lowercase()) else { return };
        let described = &operation["responses"][answer.status.to_string()];
        assert!(described.is_object(), "{method} {template}: {} is not described", answer.status);
        if answer.header("content-type") == "application/problem+json" {
            let code = answer.problem().1;
            assert!(described["content"]["application/problem+json"].is_object(), "{method} {template} {described}");
            let codes = described["description"].as_str().unwrap();
            assert!(codes.contains(&format!("`{code}`")), "{method} {template}: {code} is not described");
        }
    }

    /// Sends raw bytes and reads until the server closes or `enough` says so.
    pub(crate) async fn raw(&self, bytes: &[u8], enough: impl Fn(&str) -> bool) -> String {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        // The server may answer and close before it has read everything.
        let _written = socket.write_all(bytes).await;
        read_until(&mut socket, enough).await
    }
}

/// Reads until the server closes or `enough` says so.
pub(crate) async fn read_until(socket: &mut TcpStream, enough: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !enough(&text) {
        match socket.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => text.push_str(&String::from_utf8_lossy(&buffer[..read])),
        }
    }
    text
}

pub(crate) async fn connect_from(from: IpAddr, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from, 0)).unwrap();
    socket.connect(to).await.unwrap()
}

pub(crate) fn networks(list: &[&str]) -> Networks {
    list.iter().map(|text| text.parse::<IpNet>().unwrap()).collect()
}

/// Default settings without limits by address, and with a stop that does not dawdle.
pub(crate) fn unlimited() -> ControlSettings {
    ControlSettings { exempt_networks: networks(&["127.0.0.0/8"]), stop_notice_ms: 0, ..ControlSettings::default() }
}

/// A store whose seats, places and offers last as long as a test says.
pub(crate) fn lasting(seats: SeatSettings) -> EmbeddedSettings {
    EmbeddedSettings { seats, ..EmbeddedSettings::default() }
}
