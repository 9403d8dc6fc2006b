//! A client that is no network: it answers by a closure, counts its calls, and lets a test drive each body.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Full};
use tidegate_upstream::{Failure, Gate, GateBody, GateError, GateLayer, GateService, Report};
use tower::{Layer, Service};

pub(crate) type Pipe = Channel<Bytes, Broken>;
pub(crate) type Reply = Result<Response<Pipe>, Broken>;
type Maker = dyn Fn(usize, Request<Full<Bytes>>) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync;

/// What a broken upstream says.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the upstream broke")]
pub(crate) struct Broken;

impl From<Infallible> for Broken {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    make: Arc<Maker>,
    calls: Arc<Mutex<usize>>,
}

impl Client {
    /// Answers the n-th call, counted from 0.
    pub(crate) fn new<F, A>(make: F) -> Self
    where
        F: Fn(usize, Request<Full<Bytes>>) -> A + Send + Sync + 'static,
        A: Future<Output = Reply> + Send + 'static,
    {
        Self { make: Arc::new(move |n, request| Box::pin(make(n, request))), calls: Arc::default() }
    }

    pub(crate) fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }
}

impl Service<Request<Full<Bytes>>> for Client {
    type Response = Response<Pipe>;
    type Error = Broken;
    type Future = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let mut calls = self.calls.lock().unwrap();
        let n = *calls;
        *calls += 1;
        (self.make)(n, request)
    }
}

/// A response that is whole.
pub(crate) async fn whole(head: http::response::Builder, body: impl Into<Bytes>) -> Reply {
    let (mut sender, channel) = Channel::new(2);
    sender.send_data(body.into()).await.map_err(|_| Broken)?;
    Ok(head.body(channel).unwrap())
}

/// A response whose body the test sends.
pub(crate) fn driven(head: http::response::Builder) -> (Sender<Bytes, Broken>, Response<Pipe>) {
    let (sender, channel) = Channel::new(64);
    (sender, head.body(channel).unwrap())
}

/// Bodies that the test sends, by the number of their call.
pub(crate) type Senders = Arc<Mutex<HashMap<usize, Sender<Bytes, Broken>>>>;

pub(crate) fn service(gate: &Gate, client: &Client) -> GateService<Client> {
    GateLayer::new(gate, "api").unwrap().layer(client.clone())
}

/// A response as its caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) cookies: usize,
    pub(crate) body: Bytes,
    pub(crate) broke: bool,
    pub(crate) report: Report,
}

pub(crate) async fn ask(service: &GateService<Client>, request: Request<Full<Bytes>>) -> Result<Seen, GateError> {
    let response = service.clone().call(request).await?;
    Ok(read(response).await)
}

pub(crate) async fn read(response: Response<GateBody<Pipe>>) -> Seen {
    let (parts, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    let mut broke = false;
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
            Err(Failure { .. }) => broke = true,
        }
    }
    Seen {
        status: parts.status.as_u16(),
        cookies: parts.headers.get_all("set-cookie").iter().count(),
        body: bytes.into(),
        broke,
        report: parts.extensions.get::<Report>().unwrap().clone(),
    }
}

pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(format!("https://api.example{path}")).body(Full::default()).unwrap()
}

pub(crate) fn post(path: &str, body: &'static str) -> Request<Full<Bytes>> {
    Request::post(format!("https://api.example{path}")).body(Full::from(body)).unwrap()
}
