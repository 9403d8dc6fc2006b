//! The gate as a `tower` layer, around any HTTP client.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tidegate_gate::{Key, Resource};
use tower::{Layer, Service};

use crate::body::GateBody;
use crate::client::Gate;
use crate::desk::{Departure, Desk};
use crate::error::{Failure, GateError, UnknownUpstream};
use crate::exchange::{Carrier, Outing, exchange};
use crate::options::{CallOptions, Usual};
use crate::replay::Replay;
use crate::{clock, inside};

/// Puts the gate to one upstream around a client.
///
/// Requests carry their [`CallOptions`] as an extension; responses carry a [`crate::Report`]. A request whose body
/// can be had twice ([`Replay`]) is retried by the upstream's policy whatever its method is, and shared where the
/// upstream's settings name its route. The slot ends with the response's body.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::Full;
/// use tidegate_upstream::{Gate, GateLayer, Preset, Report};
/// use tower::{Layer, Service};
///
/// // Stands for any client: hyper-util's, or reqwest's as in examples/reqwest.rs.
/// let client = tower::service_fn(|_request: Request<Full<Bytes>>| async {
///     Ok::<_, std::io::Error>(Response::new(Full::new(Bytes::from_static(b"hello"))))
/// });
/// let gate = Gate::new([("api", Preset::Generic.settings())])?;
/// let mut paced = GateLayer::new(&gate, "api")?.layer(client);
///
/// let response = paced.call(Request::new(Full::default())).await?;
/// assert_eq!(response.extensions().get::<Report>().map(|report| report.attempts), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct GateLayer {
    desk: Arc<Desk>,
}

impl GateLayer {
    /// A layer of this gate's upstream.
    ///
    /// # Errors
    /// When no upstream has this name.
    pub fn new(gate: &Gate, upstream: &str) -> Result<Self, UnknownUpstream> {
        Ok(Self { desk: Arc::clone(&gate.known(upstream)?.desk) })
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = GateService<S>;

    fn layer(&self, service: S) -> GateService<S> {
        GateService { desk: Arc::clone(&self.desk), service }
    }
}

/// A client behind the gate, made by a [`GateLayer`].
#[derive(Clone)]
pub struct GateService<S> {
    desk: Arc<Desk>,
    service: S,
}

impl<S, B, R> Service<Request<B>> for GateService<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<Box<dyn Error + Send + Sync>>, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Replay + Send + 'static,
    R: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin + Send + 'static,
{
    type Response = Response<GateBody<R>>;
    type Error = GateError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, GateError>> + Send>>;

    /// Always ready: the client inside is asked when the call's turn has come.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), GateError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let desk = Arc::clone(&self.desk);
        let outing = outing(&desk, &request);
        let mut carrier = Inner { desk: Arc::clone(&desk), service: self.service.clone() };
        Box::pin(async move {
            let (mut response, report) = exchange(&desk, &mut carrier, outing, Box::new(request)).await?;
            response.extensions_mut().insert(report);
            Ok(response)
        })
    }
}

fn outing<B>(desk: &Arc<Desk>, request: &Request<B>) -> Outing {
    let settings = desk.settings();
    let route = settings.route(request.method(), request.uri().path());
    let none = CallOptions::default();
    let options = request.extensions().get().unwrap_or(&none);
    let resource = Resource::of(request.uri().path_and_query().map_or("/", |path| path.as_str()));
    let usual = Usual { key: Key::of(""), operation: route.operation.clone(), resource };
    Outing {
        call: options.call(usual, &settings.retry, inside::is_in(desk), clock::now()),
        policy: options.policy(&settings.retry),
        route,
    }
}

/// The client inside, as the gate's carrier.
#[derive(Clone)]
struct Inner<S> {
    desk: Arc<Desk>,
    service: S,
}

impl<S, B, R> Carrier<B> for Inner<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<Box<dyn Error + Send + Sync>>, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Send + 'static,
    R: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin + Send + 'static,
{
    type Body = R;

    /// To be handed to the client is all the leaving that can be seen here.
    async fn carry(&mut self, request: Box<Request<B>>, _departure: Option<Departure>) -> Result<Response<R>, Failure> {
        let service = &mut self.service;
        let call = async {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(Failure::new)?;
            service.call(*request).await.map_err(Failure::new)
        };
        inside::scope(&self.desk, call).await
    }
}
