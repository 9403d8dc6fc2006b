//! The body of a response that came through the gate.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::error::{Failure, Stalled};
use crate::flight::First;
use crate::lease::Lease;

/// A response's body, small to hand on. Its call's slot goes back when it has ended, or when it is dropped (G3).
pub struct GateBody<B>(Kind<B>);

enum Kind<B> {
    Own(Box<Own<B>>),
    First(Box<First<B>>),
    Copy(Box<Copy>),
}

impl<B> GateBody<B> {
    pub(crate) fn own(own: Box<Own<B>>) -> Self {
        Self(Kind::Own(own))
    }

    pub(crate) fn first(first: First<B>) -> Self {
        Self(Kind::First(Box::new(first)))
    }

    pub(crate) fn copy(copy: Copy) -> Self {
        Self(Kind::Copy(Box::new(copy)))
    }
}

impl<B> Body for GateBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match &mut self.0 {
            Kind::Own(own) => own.poll(cx),
            Kind::First(first) => first.poll(cx),
            Kind::Copy(copy) => Poll::Ready(copy.next()),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Own(own) => own.is_over(),
            Kind::First(_) => false,
            Kind::Copy(copy) => copy.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Own(own) => own.size_hint(),
            Kind::First(first) => first.size_hint(),
            Kind::Copy(copy) => copy.size_hint(),
        }
    }
}

/// One response's body as it comes, behind what was read of it already.
pub(crate) struct Own<B> {
    pub(crate) ahead: Ahead,
    pub(crate) body: B,
    /// `None` when the slot went back with the head, or has gone back since.
    pub(crate) lease: Option<Lease>,
}

/// What was read of a body before it is handed on, and how that ended.
#[derive(Default)]
pub(crate) struct Ahead {
    pub(crate) frames: VecDeque<Frame<Bytes>>,
    pub(crate) end: Option<Result<(), Failure>>,
}

impl<B> Own<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let next = ready!(self.poll_next(cx));
        match &next {
            Some(Ok(_)) if !self.is_over() => self.lease.iter().for_each(Lease::moved),
            Some(Ok(_) | Err(_)) | None => self.lease = None,
        }
        Poll::Ready(next)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if let Some(frame) = self.ahead.frames.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match &mut self.ahead.end {
            // An error is told once; whoever asks again gets the end.
            Some(end) => return Poll::Ready(std::mem::replace(end, Ok(())).err().map(Err)),
            None if self.lease.as_ref().is_some_and(Lease::is_stalled) => return Poll::Ready(Some(self.stall())),
            None => {}
        }
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let (Poll::Pending, Some(lease)) = (&polled, &self.lease) {
            lease.wake_on_stall(cx.waker());
            // It may have stalled since it was asked.
            if lease.is_stalled() {
                return Poll::Ready(Some(self.stall()));
            }
        }
        polled.map(|next| next.map(|frame| frame.map_err(Failure::new)))
    }

    /// Takes in what of the body has come already, if that is not much; whether that was all of it.
    pub(crate) fn is_here(&mut self, cx: &mut Context<'_>) -> bool {
        let mut bytes = 0;
        while self.ahead.end.is_none() && !self.body.is_end_stream() && bytes < AT_ONCE_MAX {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    bytes += frame.data_ref().map_or(0, Bytes::len);
                    self.ahead.frames.push_back(frame);
                }
                Poll::Ready(Some(Err(error))) => self.ahead.end = Some(Err(Failure::new(error))),
                Poll::Ready(None) => self.ahead.end = Some(Ok(())),
                Poll::Pending => return false,
            }
        }
        let is_here = self.ahead.end.is_some() || self.body.is_end_stream();
        if is_here {
            self.lease = None;
        }
        is_here
    }

    fn stall(&mut self) -> Result<Frame<Bytes>, Failure> {
        self.ahead.end = Some(Ok(()));
        Err(Failure::new(Stalled))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ahead.frames.is_empty()
            && match &self.ahead.end {
                Some(end) => end.is_ok(),
                None => self.body.is_end_stream(),
            }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        let rest = if self.ahead.end.is_some() { SizeHint::with_exact(0) } else { self.body.size_hint() };
        let ahead: u64 = self.ahead.frames.iter().filter_map(Frame::data_ref).map(|data| data.len() as u64).sum();
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + ahead);
        }
        hint.set_lower(rest.lower() + ahead);
        hint
    }
}

/// A copy of a shared response's body, which is whole already.
pub(crate) struct Copy {
    pub(crate) chunks: VecDeque<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
    /// The shared body broke after these chunks: so does the copy (G5).
    pub(crate) broke: Option<Failure>,
}

impl Copy {
    fn next(&mut self) -> Option<Result<Frame<Bytes>, Failure>> {
        if let Some(chunk) = self.chunks.pop_front() {
            return Some(Ok(Frame::data(chunk)));
        }
        let trailers = self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers)));
        trailers.or_else(|| self.broke.take().map(Err))
    }

    fn is_over(&self) -> bool {
        self.chunks.is_empty() && self.trailers.is_none() && self.broke.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let here = self.chunks.iter().map(|chunk| chunk.len() as u64).sum();
        if self.broke.is_none() {
            return SizeHint::with_exact(here);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(here);
        hint
    }
}

/// How much of a body is taken in at once before it is asked for, in bytes.
const AT_ONCE_MAX: usize = 64 * 1024;
