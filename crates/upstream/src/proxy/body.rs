//! The body of an answer of the proxy.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::connection::Busy;
use crate::body::GateBody;
use crate::error::Failure;

/// A body, and its connection's mark that a request is under way.
pub struct ProxyBody {
    kind: Kind,
    busy: Option<Busy>,
}

enum Kind {
    Relayed(GateBody<Incoming>),
    Whole(Option<Bytes>),
}

impl ProxyBody {
    pub(crate) fn relayed(body: GateBody<Incoming>) -> Self {
        Self { kind: Kind::Relayed(body), busy: None }
    }

    /// A body that is at hand.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { kind: Kind::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())), busy: None }
    }

    /// The connection is busy until this body has ended.
    pub(crate) fn until_sent(mut self, busy: Busy) -> Self {
        self.busy = Some(busy);
        self
    }
}

impl Body for ProxyBody {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match &mut self.get_mut().kind {
            Kind::Relayed(body) => Pin::new(body).poll_frame(cx),
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Relayed(body) => body.is_end_stream(),
            Kind::Whole(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Relayed(body) => body.size_hint(),
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
