//! The body of an answer on its way out: in slices, slowly, to its end or not, and the flight that ends with it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

use crate::answer::{Fault, Pieces};
use crate::journal::Flight;

/// A body that tells its flight when its last frame is handed over, which is before the caller can see the end:
/// the next call of a well-behaved caller never overlaps with this one.
pub(crate) struct Outgoing {
    source: Source,
    flight: Option<Flight>,
}

enum Source {
    Paced(Paced),
    Through(Incoming),
}

impl Outgoing {
    /// Without a flight: an answer to whoever controls the stand-in.
    pub(crate) fn plain(bytes: impl Into<Bytes>) -> Self {
        Self { source: Source::Paced(Paced::whole(bytes.into())), flight: None }
    }

    pub(crate) fn paced(paced: Paced, flight: Flight) -> Self {
        Self { source: Source::Paced(paced), flight: Some(flight) }
    }

    /// The request's own body.
    pub(crate) fn through(body: Incoming, flight: Flight) -> Self {
        Self { source: Source::Through(body), flight: Some(flight) }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = self.get_mut();
        let frame = match &mut this.source {
            Source::Paced(paced) => ready!(paced.poll(cx)),
            Source::Through(body) => ready!(Pin::new(body).poll_frame(cx)).map(|frame| frame.map_err(|_| Broken)),
        };
        if let (Source::Through(_), Some(Ok(frame)), Some(flight)) = (&this.source, &frame, &this.flight) {
            flight.read(frame.data_ref().map_or(0, Bytes::len));
        }
        let ended = frame.is_none() || (matches!(frame, Some(Ok(_))) && this.is_end_stream());
        if let (true, Some(flight)) = (ended, &mut this.flight) {
            flight.finish();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Paced(paced) => paced.is_done(),
            Source::Through(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Paced(paced) => paced.announced.map(SizeHint::with_exact).unwrap_or_default(),
            Source::Through(body) => body.size_hint(),
        }
    }
}

/// The connection is to be closed: the script said so, or the other side did.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("broken off")]
pub(crate) struct Broken;

/// Slices with time between them, then an end.
pub(crate) struct Paced {
    next: Option<Bytes>,
    rest: Box<dyn Iterator<Item = Bytes> + Send>,
    every: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    /// What `Content-Length` says, of what is still to come.
    announced: Option<u64>,
    trailers: Option<HeaderMap>,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Hang,
    Break { flushed: bool },
}

impl Paced {
    /// All at once.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::known(bytes, None)
    }

    /// Bytes that are known, in slices if there are any.
    pub(crate) fn known(bytes: Bytes, pieces: Option<Pieces>) -> Self {
        let announced = Some(bytes.len() as u64);
        let slice = pieces.map_or(bytes.len(), |pieces| pieces.bytes).max(1);
        let every = Duration::from_millis(pieces.map_or(0, |pieces| pieces.every_ms));
        Self { announced, ..Self::stream(slices(bytes, slice), every) }
    }

    /// Frames without a known length.
    pub(crate) fn stream(mut frames: impl Iterator<Item = Bytes> + Send + 'static, every: Duration) -> Self {
        Self {
            next: frames.next(),
            rest: Box::new(frames),
            every,
            pause: None,
            announced: None,
            trailers: None,
            end: End::Whole,
        }
    }

    /// With trailers, which HTTP/1.1 can only send after chunks.
    pub(crate) fn with_trailers(mut self, trailers: HeaderMap) -> Self {
        if !trailers.is_empty() {
            self.trailers = Some(trailers);
            self.announced = None;
        }
        self
    }

    /// Without a `Content-Length`.
    pub(crate) fn chunked(self) -> Self {
        Self { announced: None, ..self }
    }

    /// Ending early, after what `Content-Length` promised more of.
    pub(crate) fn failing(self, fault: Option<Fault>) -> Self {
        let (bytes, end) = match fault {
            Some(Fault::HangAfter(bytes)) => (bytes, End::Hang),
            Some(Fault::BreakAfter(bytes)) => (bytes, End::Break { flushed: false }),
            // Those fail before the head.
            Some(Fault::Never | Fault::Close) | None => return self,
        };
        let mut frames = cut(self.next.into_iter().chain(self.rest), bytes);
        Self { next: frames.next(), rest: Box::new(frames), end, ..self }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        if let Some(piece) = self.next.take() {
            self.next = self.rest.next();
            self.announced = self.announced.map(|left| left.saturating_sub(piece.len() as u64));
            if self.next.is_some() && !self.every.is_zero() {
                self.pause = Some(Box::pin(sleep(self.every)));
            }
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.end {
            End::Whole => Poll::Ready(self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers)))),
            End::Hang => Poll::Pending,
            // An error drops what the server has not written yet; one more turn lets it write.
            End::Break { flushed: false } => {
                self.end = End::Break { flushed: true };
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            End::Break { flushed: true } => Poll::Ready(Some(Err(Broken))),
        }
    }

    fn is_done(&self) -> bool {
        self.next.is_none() && self.trailers.is_none() && self.end == End::Whole
    }
}

fn slices(mut bytes: Bytes, size: usize) -> impl Iterator<Item = Bytes> + Send {
    std::iter::from_fn(move || (!bytes.is_empty()).then(|| bytes.split_to(size.min(bytes.len()))))
}

/// The first so many bytes.
fn cut(mut frames: impl Iterator<Item = Bytes> + Send, mut left: usize) -> impl Iterator<Item = Bytes> + Send {
    std::iter::from_fn(move || {
        let mut frame = if left > 0 { frames.next()? } else { return None };
        frame.truncate(left);
        left -= frame.len();
        Some(frame)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(paced: Paced) -> Vec<usize> {
        paced.next.into_iter().chain(paced.rest).map(|piece| piece.len()).collect()
    }

    #[test]
    fn a_body_is_sliced_and_cut_to_the_byte() {
        let known = || Paced::known(Bytes::from_static(&[7; 10]), Some(Pieces { bytes: 4, every_ms: 0 }));
        assert_eq!(lengths(known()), [4, 4, 2]);
        assert_eq!(lengths(known().failing(Some(Fault::HangAfter(5)))), [4, 1]);
        assert_eq!(lengths(known().failing(Some(Fault::BreakAfter(0)))), Vec::<usize>::new());
        assert_eq!(known().failing(Some(Fault::BreakAfter(5))).announced, Some(10));
        assert_eq!(lengths(Paced::whole(Bytes::new())), Vec::<usize>::new());
    }
}
