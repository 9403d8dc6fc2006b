//! The request bodies that the proxy sends: whole ones, which can be sent again, and streams.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep, timeout};

use crate::clock;
use crate::desk::Departure;
use crate::replay::Replay;

/// A request's body on its way out.
pub(crate) struct Outgoing {
    kind: Kind,
    departure: Option<Arc<Departure>>,
}

enum Kind {
    /// At hand; `None` is empty, or has been sent.
    Whole(Option<Bytes>),
    /// As it comes.
    Stream(Box<Stream>),
}

/// Limits of one request's body.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// No more than this, in bytes.
    pub(crate) max: u64,
    /// No longer without a piece.
    pub(crate) stall: Duration,
}

/// A body that is sent as it comes.
pub(crate) struct Stream {
    ahead: VecDeque<Frame<Bytes>>,
    body: Incoming,
    limits: Limits,
    taken: u64,
    /// Set while the client sends nothing.
    silence: Option<Pin<Box<Sleep>>>,
    upload: Arc<Upload>,
}

/// When a streamed body moved last.
pub(crate) struct Upload {
    since: Instant,
    moved_ms: AtomicU64,
}

/// What is wrong with a request's body.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum BodyFault {
    #[error("the request's body has more than {0} bytes")]
    TooLarge(u64),
    #[error("the request's body did not move for {} s", .0.as_secs_f64())]
    Silent(Duration),
    #[error("the request's body broke off: {0}")]
    Broke(Arc<hyper::Error>),
}

impl Outgoing {
    /// A body that is at hand.
    pub(crate) fn of(bytes: Bytes) -> Self {
        Self::whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Passes a body on as it comes.
    pub(crate) fn stream(body: Incoming, limits: Limits) -> Self {
        if body.is_end_stream() { Self::whole(None) } else { Self::behind(VecDeque::new(), body, limits) }
    }

    /// Reads a body that may be needed twice, if it has at most `whole_max` bytes; a longer one is passed on as it
    /// comes.
    pub(crate) async fn gather(mut body: Incoming, whole_max: usize, limits: Limits) -> Result<Self, BodyFault> {
        let mut ahead = VecDeque::new();
        let mut bytes = 0;
        let too_long = body.size_hint().lower() > whole_max as u64;
        while !too_long && bytes <= whole_max {
            match timeout(limits.stall, body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    bytes += frame.data_ref().map_or(0, Bytes::len);
                    // Trailers cannot be sent twice by what is whole.
                    let last = frame.is_trailers();
                    ahead.push_back(frame);
                    if last {
                        return Ok(Self::behind(ahead, body, limits));
                    }
                }
                Ok(Some(Err(error))) => return Err(BodyFault::Broke(Arc::new(error))),
                Ok(None) if bytes as u64 > limits.max => return Err(BodyFault::TooLarge(limits.max)),
                Ok(None) => return Ok(Self::whole(join(ahead, bytes))),
                Err(_elapsed) => return Err(BodyFault::Silent(limits.stall)),
            }
        }
        Ok(Self::behind(ahead, body, limits))
    }

    fn behind(ahead: VecDeque<Frame<Bytes>>, body: Incoming, limits: Limits) -> Self {
        let upload = Arc::new(Upload { since: clock::now(), moved_ms: AtomicU64::new(0) });
        let stream = Stream { ahead, body, limits, taken: 0, silence: None, upload };
        Self { kind: Kind::Stream(Box::new(stream)), departure: None }
    }

    fn whole(bytes: Option<Bytes>) -> Self {
        Self { kind: Kind::Whole(bytes), departure: None }
    }

    /// Lets the desk know when the request leaves.
    pub(crate) fn tell(&mut self, departure: Option<Departure>) {
        self.departure = departure.map(Arc::new);
    }

    /// What is to be told by whoever writes the request.
    pub(crate) fn departure(&self) -> Option<Arc<Departure>> {
        self.departure.clone()
    }

    /// How the upload of a stream goes.
    pub(crate) fn upload(&self) -> Option<Arc<Upload>> {
        match &self.kind {
            Kind::Whole(_) => None,
            Kind::Stream(stream) => Some(Arc::clone(&stream.upload)),
        }
    }
}

/// One piece of many; most often there is only one.
fn join(mut frames: VecDeque<Frame<Bytes>>, bytes: usize) -> Option<Bytes> {
    if frames.len() == 1 {
        return frames.pop_front()?.into_data().ok();
    }
    let mut whole = Vec::with_capacity(bytes);
    frames.iter().filter_map(Frame::data_ref).for_each(|data| whole.extend_from_slice(data));
    Some(whole.into()).filter(|whole: &Bytes| !whole.is_empty())
}

impl Upload {
    /// When its last piece passed.
    pub(crate) fn moved(&self) -> Instant {
        self.since + Duration::from_millis(self.moved_ms.load(Ordering::Relaxed))
    }

    fn note(&self) {
        let ms = clock::now().saturating_duration_since(self.since).as_millis();
        self.moved_ms.store(u64::try_from(ms).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Stream {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFault>>> {
        let polled = match self.ahead.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => Pin::new(&mut self.body).poll_frame(cx),
        };
        match polled {
            Poll::Pending => self.poll_silence(cx),
            Poll::Ready(Some(Ok(frame))) => {
                self.silence = None;
                self.upload.note();
                self.taken += frame.data_ref().map_or(0, |data| data.len() as u64);
                let fits = self.taken <= self.limits.max;
                Poll::Ready(Some(if fits { Ok(frame) } else { Err(BodyFault::TooLarge(self.limits.max)) }))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(BodyFault::Broke(Arc::new(error))))),
            Poll::Ready(None) => Poll::Ready(None),
        }
    }

    /// A client that stalls would keep its call's slot.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFault>>> {
        let stall = self.limits.stall;
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(stall)));
        silence.as_mut().poll(cx).map(|()| Some(Err(BodyFault::Silent(stall))))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BodyFault;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFault>>> {
        match &mut self.get_mut().kind {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Stream(stream) => stream.poll(cx),
        }
    }

    /// hyper asks this for the first time as it writes the request's head, and its socket is next.
    fn is_end_stream(&self) -> bool {
        self.departure.iter().for_each(|departure| departure.begin());
        match &self.kind {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Stream(stream) => stream.ahead.is_empty() && stream.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Stream(stream) => {
                let ahead: u64 = stream.ahead.iter().filter_map(Frame::data_ref).map(|data| data.len() as u64).sum();
                stream.body.size_hint().exact().map_or_else(SizeHint::new, |rest| SizeHint::with_exact(rest + ahead))
            }
        }
    }
}

impl Replay for Outgoing {
    fn again(&self) -> Option<Self> {
        match &self.kind {
            Kind::Whole(bytes) => Some(Self::whole(bytes.clone())),
            Kind::Stream(_) => None,
        }
    }

    fn bytes(&self) -> Option<Bytes> {
        match &self.kind {
            Kind::Whole(bytes) => Some(bytes.clone().unwrap_or_default()),
            Kind::Stream(_) => None,
        }
    }
}
