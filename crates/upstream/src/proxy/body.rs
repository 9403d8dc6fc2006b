//! The body of an answer of the proxy.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::connection::Busy;
use crate::body::GateBody;
use crate::error::Failure;
use crate::outlet::Answering;

/// A body, and its connection's mark that a request is under way.
pub struct ProxyBody {
    kind: Kind,
    busy: Option<Busy>,
    /// How the body broke, kept for one poll: with an error the server drops what it has not written yet, and the
    /// client would miss even the head when that and the break come at once.
    broke: Option<Failure>,
}

enum Kind {
    Relayed(GateBody<Answering>),
    Whole(Option<Bytes>),
}

impl ProxyBody {
    pub(crate) fn relayed(body: GateBody<Answering>) -> Self {
        Self { kind: Kind::Relayed(body), busy: None, broke: None }
    }

    /// A body that is at hand.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { kind: Kind::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())), busy: None, broke: None }
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
        let this = self.get_mut();
        if let Some(failure) = this.broke.take() {
            return Poll::Ready(Some(Err(failure)));
        }
        match &mut this.kind {
            Kind::Relayed(body) => match Pin::new(body).poll_frame(cx) {
                Poll::Ready(Some(Err(failure))) => {
                    this.broke = Some(failure);
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                polled @ (Poll::Ready(_) | Poll::Pending) => polled,
            },
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Relayed(body) => self.broke.is_none() && body.is_end_stream(),
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
