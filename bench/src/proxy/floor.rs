//! The floor: what hyper alone costs to pass a request on and its answer back.

use hyper::body::Incoming;
use hyper::http::uri::{Authority, Scheme};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// Passes everything to an origin, with pooled connections and nothing else: no headers of its own, no metrics.
pub(crate) fn serve(address: &str, origin: &str) -> anyhow::Result<()> {
    let origin: Authority = origin.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        println!("listening on {}", listener.local_addr()?);
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(512).build(connector);
        tokio::spawn(accept(listener, client, origin)).await?
    })
}

async fn accept(
    listener: TcpListener,
    client: Client<HttpConnector, Incoming>,
    origin: Authority,
) -> anyhow::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, origin) = (client.clone(), origin.clone());
        let service = service_fn(move |request| pass(client.clone(), origin.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass(
    client: Client<HttpConnector, Incoming>,
    origin: Authority,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let mut target = std::mem::take(request.uri_mut()).into_parts();
    target.scheme = Some(Scheme::HTTP);
    target.authority = Some(origin);
    *request.uri_mut() = Uri::from_parts(target).expect("scheme, authority and a received path make a URI");
    client.request(request).await
}
