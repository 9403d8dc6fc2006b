//! The service behind the proxies: fixed bodies, a late one, and a count of calls.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

pub(crate) fn serve(address: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        println!("listening on {}", listener.local_addr()?);
        let origin = Arc::new(Origin::new());
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let origin = origin.clone();
            let service = service_fn(move |request| answer(origin.clone(), request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

struct Origin {
    small: Bytes,
    large: Bytes,
    /// Calls of `/late` so far.
    late: AtomicU64,
}

impl Origin {
    fn new() -> Self {
        Self { small: vec![b'x'; 1024].into(), large: vec![b'x'; 1024 * 1024].into(), late: AtomicU64::new(0) }
    }
}

async fn answer(origin: Arc<Origin>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = match request.uri().path() {
        "/1mib" => origin.large.clone(),
        "/late" => {
            origin.late.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(LATE).await;
            origin.small.clone()
        }
        "/late/calls" => origin.late.load(Ordering::Relaxed).to_string().into(),
        _ => origin.small.clone(),
    };
    Ok(Response::new(Full::new(body)))
}

/// How long the late answer takes.
pub(crate) const LATE: Duration = Duration::from_millis(200);
