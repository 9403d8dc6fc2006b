//! A connector that gives up: the name, the TCP connection and TLS together have one time.
//!
//! A paced call that connects keeps the others from starting (G1), so a handshake that stands still must end.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use tokio::time::timeout;
use tower::Service;

/// Connects within a time, or fails.
#[derive(Clone)]
pub(super) struct InTime<C> {
    pub(super) connector: C,
    pub(super) time: Duration,
}

/// It took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no connection within {} s", .0.as_secs_f64())]
struct Unconnected(Duration);

type Fault = Box<dyn Error + Send + Sync>;

impl<C> Service<Uri> for InTime<C>
where
    C: Service<Uri, Error: Into<Fault>, Future: Send + 'static>,
{
    type Response = C::Response;
    type Error = Fault;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, Fault>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let (connecting, time) = (self.connector.call(to), self.time);
        Box::pin(async move {
            match timeout(time, connecting).await {
                Ok(connected) => connected.map_err(Into::into),
                Err(_elapsed) => Err(Unconnected(time).into()),
            }
        })
    }
}
