//! From one room to its viewers (C9).
//!
//! A viewer is a cursor into the room's ring and a place for its waker: no queue and no buffer of its own. It is read
//! piece by piece ([`Viewer::next`]), or hands itself to a socket until one of the two ends ([`send`]).

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use slab::Slab;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use crate::event::{ErrorCode, Event, Failure};
use crate::frame::{COMMENT, GREETING, notice_frame};
use crate::room::{Cursor, Read, Ring, Start};

/// A room's ring and who reads it.
#[derive(Debug)]
pub(crate) struct Hub {
    inside: Mutex<Inside>,
    /// Told when a viewer comes and when the last one leaves.
    pub(crate) moved: Notify,
}

#[derive(Debug)]
struct Inside {
    ring: Ring,
    /// One place for each viewer; what waits for the next frame has its waker there.
    viewers: Slab<Option<Waker>>,
    /// Until when a rate limit holds the room.
    limited_until: Option<Instant>,
}

/// One viewer of a room. Dropping it leaves the room.
#[derive(Debug)]
pub struct Viewer {
    hub: Arc<Hub>,
    place: usize,
    cursor: Cursor,
    /// What it gets ahead of the ring.
    first: Option<Bytes>,
}

/// Why a viewer's stream of frames ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The room is over, and everything was sent (C5).
    Over,
    /// The viewer went away.
    Gone,
    /// It took nothing for [`STALL`] (C9).
    Stalled,
}

impl Hub {
    pub(crate) fn new(ring: Ring) -> Arc<Self> {
        let inside = Inside { ring, viewers: Slab::new(), limited_until: None };
        Arc::new(Self { inside: Mutex::new(inside), moved: Notify::new() })
    }

    /// Lets a viewer in. During a rate limit it is told at once how long that still lasts (C4).
    pub(crate) fn enter(self: &Arc<Self>, start: Start) -> Viewer {
        let now = Instant::now();
        let mut inside = self.inside();
        let cursor = inside.ring.enter(start, now.into_std());
        let place = inside.viewers.insert(None);
        let mut first = GREETING.to_vec();
        if let Some(left) =
            inside.limited_until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
        {
            first.extend_from_slice(&notice_frame(limited(left)));
        }
        drop(inside);
        self.moved.notify_one();
        Viewer { hub: Arc::clone(self), place, cursor, first: Some(first.into()) }
    }

    /// Hands on what a room gave out.
    pub(crate) fn publish(&self, events: &[Event], notice: Option<Failure>, limited_until: Option<Instant>) {
        self.change(|inside| {
            inside.limited_until = limited_until;
            let is_news = notice.is_some() || !events.is_empty();
            if !events.is_empty() {
                inside.ring.push(events, Instant::now().into_std());
            }
            if let Some(notice) = notice {
                inside.ring.notify(notice);
            }
            is_news
        });
    }

    /// Ends it: each viewer leaves once it has read everything.
    pub(crate) fn close(&self) {
        self.change(|inside| {
            inside.ring.close();
            true
        });
    }

    pub(crate) fn viewers(&self) -> usize {
        self.inside().viewers.len()
    }

    /// Changes what is inside, and wakes those who wait if it is of interest to them.
    fn change(&self, change: impl FnOnce(&mut Inside) -> bool) {
        let mut inside = self.inside();
        let is_news = change(&mut inside);
        let wakers: Vec<Waker> = match is_news {
            true => inside.viewers.iter_mut().filter_map(|(_, waker)| waker.take()).collect(),
            false => Vec::new(),
        };
        // Woken without the lock, which each of them takes at once.
        drop(inside);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Viewer {
    /// The next whole frames to send, shared with all who are sent the same; `None` when the room is over.
    pub async fn next(&mut self) -> Option<Bytes> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same for a body that is polled.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        let mut inside = self.hub.inside();
        match inside.ring.read(&mut self.cursor) {
            Read::Frames(frames) => Poll::Ready(Some(frames)),
            Read::Over => Poll::Ready(None),
            Read::Nothing => {
                if let Some(waker) = inside.viewers.get_mut(self.place) {
                    *waker = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let mut inside = self.hub.inside();
        inside.viewers.try_remove(self.place);
        let is_last = inside.viewers.is_empty();
        drop(inside);
        if is_last {
            self.hub.moved.notify_one();
        }
    }
}

/// Sends a viewer's frames as they are, until the room is over, the other side closes, or it takes nothing for
/// [`STALL`]. The head of the response is the caller's; the body ends with the connection.
pub async fn send<S: AsyncRead + AsyncWrite + Unpin>(mut viewer: Viewer, socket: &mut S) -> Left {
    let mut silent_until = Instant::now() + COMMENT_EVERY;
    loop {
        // A viewer has nothing more to say: a few bytes are enough to see it close.
        let mut said = [0; 16];
        let frames = tokio::select! {
            frames = viewer.next() => match frames {
                Some(frames) => frames,
                None => return Left::Over,
            },
            read = socket.read(&mut said) => match read {
                Ok(0) | Err(_) => return Left::Gone,
                Ok(_) => continue,
            },
            () = sleep_until(silent_until) => Bytes::from_static(COMMENT),
        };
        if let Err(left) = write(socket, frames).await {
            return left;
        }
        silent_until = Instant::now() + COMMENT_EVERY;
    }
}

/// Writes whole frames. The time counts from the last byte that was taken, however few at a time.
async fn write<S: AsyncWrite + Unpin>(socket: &mut S, mut frames: Bytes) -> Result<(), Left> {
    while !frames.is_empty() {
        match timeout(STALL, socket.write_buf(&mut frames)).await {
            Ok(Ok(1..)) => {}
            Ok(Ok(0) | Err(_)) => return Err(Left::Gone),
            Err(_) => return Err(Left::Stalled),
        }
    }
    Ok(())
}

fn limited(left: Duration) -> Failure {
    Failure {
        code: ErrorCode::RateLimited,
        message: "YouTube limits our calls; the room waits and goes on by itself".to_owned(),
        retry_after_ms: Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
        is_final: false,
    }
}

/// The time between two signs of life. Rule C9.
pub const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// A viewer that takes nothing for so long is cut. Rule C9.
pub const STALL: Duration = Duration::from_secs(30);

#[cfg(test)]
#[path = "fanout_tests.rs"]
mod tests;
