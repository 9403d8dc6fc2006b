//! What the relay's TCP port answers: LL-HLS (E17), whether it lives, takes sessions, what it counted, and its
//! certificate's hash.

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
use tidegate_relay::{Crowd, Hls, Keys};
use tidegate_wire::health::Healthy;
use tidegate_wire::{Code, Problem};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;

use crate::page::{metrics, typed, write};

/// The pages of one relay.
pub(super) struct Pages {
    /// Falls when the process is to stop (O9).
    pub(super) ready: Arc<AtomicBool>,
    pub(super) keys: Arc<Keys>,
    pub(super) metrics: PrometheusHandle,
    pub(super) certificate_sha256: Option<String>,
    pub(super) hls: Arc<Hls>,
    pub(super) crowd: Arc<Crowd>,
}

/// Serves the pages, and the viewers who watch over HTTP.
pub(super) async fn serve(listener: &TcpListener, pages: Pages) -> Infallible {
    let pages = Arc::new(pages);
    loop {
        let Ok((socket, peer)) = listener.accept().await else {
            // Out of files; they come back.
            sleep(NO_FILES).await;
            continue;
        };
        let Some(counted) = pages.crowd.enter(peer.ip()) else { continue };
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            pages.answer_all(socket).await;
            drop(counted);
        });
    }
}

impl Pages {
    async fn answer_all(self: Arc<Self>, socket: TcpStream) {
        let answer = service_fn(move |request: Request<Incoming>| {
            let pages = Arc::clone(&self);
            async move { Ok::<_, Infallible>(pages.answer(request).await.map(Full::new)) }
        });
        // Parts are small and awaited; waiting to fill a packet would only delay them.
        socket.set_nodelay(true).ok();
        let mut socket = TimeoutStream::new(socket);
        socket.set_write_timeout(Some(WRITES));
        let mut connection = http1::Builder::new();
        // Also what ends a connection between two requests.
        connection.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEADERS_MAX_BYTES);
        // A caller that breaks off is its own affair.
        connection.serve_connection(TokioIo::new(Box::pin(socket)), answer).await.ok();
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Bytes> {
        if Hls::serves(request.uri().path()) {
            return self.hls.answer(request).await;
        }
        self.page(request.method(), request.uri().path())
    }

    fn page(&self, method: &Method, path: &str) -> Response<Bytes> {
        let read = [Method::GET, Method::HEAD].contains(method);
        match (path, &self.certificate_sha256) {
            _ if !read => write(&Problem::new(Code::MethodNotAllowed, "this page is only to be read")),
            ("/healthz", _) => write(&Healthy { status: "ok" }),
            ("/readyz", _) => self.readiness(),
            ("/metrics", _) => metrics(self.metrics.render()),
            ("/certificate.sha256", Some(hash)) => typed("text/plain; charset=utf-8", hash.clone().into()),
            _ => write(&Problem::new(
                Code::NotFound,
                "there is /healthz, /readyz, /metrics, /certificate.sha256 and /hls/STREAM/index.m3u8",
            )),
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

/// From a connection's beginning, or from an answer, to the end of a request's headers.
const HEADERS: Duration = Duration::from_secs(10);
/// A caller that takes nothing of its answer for so long is dropped.
const WRITES: Duration = Duration::from_secs(10);
/// Largest request head that is read. Limits against bad input, 60-operations.
const HEADERS_MAX_BYTES: usize = 16 * 1024;
/// When to look again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How long accepting waits when the system has no file left.
const NO_FILES: Duration = Duration::from_millis(100);
