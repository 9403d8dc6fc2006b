//! What the relay's TCP port answers: whether it lives, takes sessions, what it counted, and its certificate's hash.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::PrometheusHandle;
use tidegate_relay::Keys;
use tidegate_wire::health::Healthy;
use tidegate_wire::{Code, Problem};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::page::{metrics, typed, write};

/// The pages of one relay.
pub(super) struct Pages {
    /// Falls when the process is to stop (O9).
    pub(super) ready: Arc<AtomicBool>,
    pub(super) keys: Arc<Keys>,
    pub(super) metrics: PrometheusHandle,
    pub(super) certificate_sha256: Option<String>,
}

/// Serves the pages. They are for operators and their tools: a few connections at once, none of them for long.
pub(super) async fn serve(listener: &TcpListener, pages: Pages) -> Infallible {
    let (pages, room) = (Arc::new(pages), Arc::new(Semaphore::new(CONNECTIONS_MAX)));
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            // Out of files; they come back.
            sleep(NO_FILES).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            timeout(CONNECTION_LIFE, pages.answer_all(socket)).await.ok();
            drop(permit);
        });
    }
}

impl Pages {
    async fn answer_all(self: Arc<Self>, socket: TcpStream) {
        let answer = service_fn(move |request: Request<Incoming>| {
            let response = self.answer(request.method(), request.uri().path());
            async { Ok::<_, Infallible>(response.map(Full::new)) }
        });
        let mut connection = http1::Builder::new();
        connection.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEADERS_MAX_BYTES);
        // A caller that breaks off is its own affair.
        connection.serve_connection(TokioIo::new(socket), answer).await.ok();
    }

    fn answer(&self, method: &Method, path: &str) -> Response<Bytes> {
        let read = [Method::GET, Method::HEAD].contains(method);
        match (path, &self.certificate_sha256) {
            _ if !read => write(&Problem::new(Code::MethodNotAllowed, "this page is only to be read")),
            ("/healthz", _) => write(&Healthy { status: "ok" }),
            ("/readyz", _) => self.readiness(),
            ("/metrics", _) => metrics(self.metrics.render()),
            ("/certificate.sha256", Some(hash)) => typed("text/plain; charset=utf-8", hash.clone().into()),
            _ => write(&Problem::new(Code::NotFound, "there is /healthz, /readyz, /metrics and /certificate.sha256")),
        }
    }

    fn readiness(&self) -> Response<Bytes> {
        let why = match (self.ready.load(Ordering::Relaxed), self.keys.are_known()) {
            (true, true) => return write(&Healthy { status: "ok" }),
            (true, false) => "the control's keys are not known yet",
            (false, _) => "the process is stopping; ask another",
        };
        write(&Problem::new(Code::NotReady, why).retry(ASK_AGAIN))
    }
}

/// Connections at once; more are closed when they come.
const CONNECTIONS_MAX: usize = 64;
/// No scrape takes longer.
const CONNECTION_LIFE: Duration = Duration::from_secs(60);
/// From a connection's beginning to the end of a request's headers.
const HEADERS: Duration = Duration::from_secs(10);
/// Largest request head that is read. Limits against bad input, 60-operations.
const HEADERS_MAX_BYTES: usize = 16 * 1024;
/// When to look again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How long accepting waits when the system has no file left.
const NO_FILES: Duration = Duration::from_millis(100);
