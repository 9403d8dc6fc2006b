//! Request bodies that may be sent again.

use bytes::Bytes;
use futures_util::FutureExt;
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};

/// A request's body, as far as it can be had twice: for a retry (G20), and to tell whether two requests are the same
/// (G5). A stream can be neither.
pub trait Replay: Sized {
    /// The body once more, if it can be sent again.
    fn again(&self) -> Option<Self>;

    /// All its bytes, if they are at hand.
    fn bytes(&self) -> Option<Bytes>;
}

impl Replay for Full<Bytes> {
    fn again(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn bytes(&self) -> Option<Bytes> {
        if self.is_end_stream() {
            return Some(Bytes::new());
        }
        self.clone().frame().now_or_never()??.ok()?.into_data().ok()
    }
}

impl Replay for Empty<Bytes> {
    fn again(&self) -> Option<Self> {
        Some(Self::new())
    }

    fn bytes(&self) -> Option<Bytes> {
        Some(Bytes::new())
    }
}

/// Makes any body one that is sent once: never retried, never shared.
#[derive(Clone, Debug)]
pub struct Once<B>(pub B);

impl<B> Replay for Once<B> {
    fn again(&self) -> Option<Self> {
        None
    }

    fn bytes(&self) -> Option<Bytes> {
        None
    }
}

impl<B: Body + Unpin> Body for Once<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<B::Data>, B::Error>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.0.size_hint()
    }
}
