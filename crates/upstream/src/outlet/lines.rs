//! The HTTP/1.1 connections to one upstream that nobody uses now, and the bodies that bring them back.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use tower::Service;

use super::POOL_IDLE;
use super::in_time::InTime;
use super::line::Line;
use crate::clock;
use crate::error::Failure;
use crate::outgoing::Outgoing;
use crate::socket::Socket;

/// The free connections, those that were used last at the end.
pub(super) struct Lines {
    connector: InTime<HttpConnector>,
    to: Uri,
    free: Mutex<Vec<Free>>,
}

struct Free {
    line: Box<Line>,
    since: Instant,
}

impl Lines {
    pub(super) fn new(connector: InTime<HttpConnector>, to: Uri) -> Arc<Self> {
        Arc::new(Self { connector, to, free: Mutex::default() })
    }

    /// Sends a request on a free connection, or on a new one.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Box<Request<Outgoing>>,
    ) -> Result<Response<Answering>, Failure> {
        loop {
            let free = self.take();
            let is_new = free.is_none();
            let mut line = match free {
                Some(line) => line,
                // Boxed: most requests find a free one, and need not carry the space for connecting.
                None => Box::pin(self.connect()).await?,
            };
            match line.ask(request).await {
                Ok(response) => return Ok(response.map(|body| Answering::on(line, body, self))),
                Err(mut error) => match error.take_message() {
                    // The upstream had hung up, and has seen nothing of it.
                    Some(unsent) if !is_new => request = Box::new(unsent),
                    Some(_) | None => return Err(Failure::new(error.into_error())),
                },
            }
        }
    }

    /// Closes what nobody has used for long, or the upstream has closed.
    pub(super) fn tidy(&self) {
        let now = clock::now();
        self.free().retain_mut(|free| !free.is_old(now) && free.line.is_open());
    }

    async fn connect(&self) -> Result<Box<Line>, Failure> {
        let mut connector = self.connector.clone();
        std::future::poll_fn(|cx| connector.poll_ready(cx)).await.map_err(Failure::new)?;
        let socket = connector.call(self.to.clone()).await.map_err(Failure::new)?;
        Line::new(Socket::new(socket.into_inner())).await.map_err(Failure::new)
    }

    /// The one used last: it is the least likely to be closed, and those left over grow old and are tidied up.
    fn take(&self) -> Option<Box<Line>> {
        Some(self.free().pop()?.line)
    }

    fn put(&self, line: Box<Line>) {
        self.free().push(Free { line, since: clock::now() });
    }

    fn free(&self) -> MutexGuard<'_, Vec<Free>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Free {
    fn is_old(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= POOL_IDLE
    }
}

/// An answer's body. It runs its connection, if that has no task of its own, and gives it back at its end; a body that
/// is dropped before closes it.
pub(crate) struct Answering {
    body: Incoming,
    line: Option<Box<Line>>,
    lines: Option<Arc<Lines>>,
}

impl Answering {
    /// Of a connection that runs by itself.
    pub(super) fn by_itself(body: Incoming) -> Self {
        Self { body, line: None, lines: None }
    }

    fn on(line: Box<Line>, body: Incoming, lines: &Arc<Lines>) -> Self {
        let mut answering = Self { body, line: Some(line), lines: Some(Arc::clone(lines)) };
        answering.free_if_over();
        answering
    }

    fn free_if_over(&mut self) {
        if self.body.is_end_stream() {
            self.free();
        }
    }

    fn free(&mut self) {
        if let (Some(mut line), Some(lines)) = (self.line.take(), self.lines.take())
            && line.is_free()
        {
            lines.put(line);
        }
    }
}

impl Body for Answering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let body = &mut this.body;
        let Some(line) = &mut this.line else { return Pin::new(body).poll_frame(cx) };
        let polled = line.poll(cx, |cx| Pin::new(&mut *body).poll_frame(cx));
        match &polled {
            Poll::Ready(Some(Ok(_))) => this.free_if_over(),
            Poll::Ready(None) => this.free(),
            Poll::Ready(Some(Err(_))) => this.line = None,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
