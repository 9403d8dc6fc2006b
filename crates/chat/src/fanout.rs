//! From one room to its viewers (C9).
//!
//! A viewer is a cursor into the room's ring: no queue and no buffer of its own. It is read piece by piece
//! ([`Viewer::next`]), or hands itself to a socket until one of the two ends ([`send`]).

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use slab::Slab;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep};

use crate::event::{ErrorCode, Event, Failure};
use crate::feed::Feed;
use crate::frame::{GREETING, notice_frame};
use crate::gzip::{Deflated, Gzip, HEADER};
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
    deflated: Deflated,
    /// One place for each viewer.
    viewers: Slab<Reader>,
    /// Until when a rate limit holds the room.
    limited_until: Option<Instant>,
}

/// How a viewer is reached.
#[derive(Debug)]
enum Reader {
    /// It asks, and is woken if there was nothing.
    Asks(Option<Waker>),
    /// It is written to.
    Written(Arc<Feed>),
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

/// How frames are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As they are.
    Identity,
    /// As a gzip stream whose pieces are compressed once for all viewers.
    Gzip,
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
        let inside = Inside { ring, deflated: Deflated::default(), viewers: Slab::new(), limited_until: None };
        Arc::new(Self { inside: Mutex::new(inside), moved: Notify::new() })
    }

    /// Lets a viewer in. During a rate limit it is told at once how long that still lasts (C4).
    pub(crate) fn enter(self: &Arc<Self>, start: Start) -> Viewer {
        let now = Instant::now();
        let mut inside = self.inside();
        let cursor = inside.ring.enter(start, now.into_std());
        let place = inside.viewers.insert(Reader::Asks(None));
        let mut first = Bytes::from_static(GREETING);
        if let Some(left) =
            inside.limited_until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
        {
            first = [GREETING, &notice_frame(limited(left))].concat().into();
        }
        drop(inside);
        self.moved.notify_one();
        Viewer { hub: Arc::clone(self), place, cursor, first: Some(first) }
    }

    /// Hands on what a room gave out, until everybody has it or has been left to its own task.
    pub(crate) async fn publish(
        self: &Arc<Self>,
        events: &[Event],
        notice: Option<Failure>,
        limited_until: Option<Instant>,
    ) {
        let is_news = notice.is_some() || !events.is_empty();
        let feeds = self.change(|inside| {
            inside.limited_until = limited_until;
            if !events.is_empty() {
                inside.ring.push(events, Instant::now().into_std());
            }
            if let Some(notice) = notice {
                inside.ring.notify(notice);
            }
            is_news
        });
        self.write_news(feeds).await;
    }

    /// Ends it: each viewer leaves once it has read everything.
    pub(crate) fn close(&self) {
        let feeds = self.change(|inside| {
            inside.ring.close();
            true
        });
        feeds.iter().for_each(|feed| feed.wake());
    }

    pub(crate) fn viewers(&self) -> usize {
        self.inside().viewers.len()
    }

    /// What comes next for a cursor.
    pub(crate) fn read(&self, cursor: &mut Cursor) -> Read {
        self.inside().ring.read(cursor)
    }

    /// A piece as those are sent it who take gzip.
    pub(crate) fn deflated(&self, piece: &Bytes) -> Bytes {
        self.inside().deflated.of(piece)
    }

    /// Changes what is inside. If that is news, wakes those who asked and answers those who are written to.
    fn change(&self, change: impl FnOnce(&mut Inside) -> bool) -> Vec<Arc<Feed>> {
        let mut inside = self.inside();
        if !change(&mut inside) {
            return Vec::new();
        }
        let (mut wakers, mut feeds) = (Vec::new(), Vec::with_capacity(inside.viewers.len()));
        for (_, reader) in &mut inside.viewers {
            match reader {
                Reader::Asks(waker) => wakers.extend(waker.take()),
                Reader::Written(feed) => feeds.push(Arc::clone(feed)),
            }
        }
        // Woken without the lock, which each of them takes at once.
        drop(inside);
        wakers.into_iter().for_each(Waker::wake);
        feeds
    }

    /// Writes to all, many at once where there are several workers.
    async fn write_news(self: &Arc<Self>, mut feeds: Vec<Arc<Feed>>) {
        let mut crowds = JoinSet::new();
        while feeds.len() > CROWD {
            let (hub, crowd) = (Arc::clone(self), feeds.split_off(feeds.len() - CROWD));
            crowds.spawn(async move { write_each(&hub, &crowd).await });
        }
        write_each(self, &feeds).await;
        while crowds.join_next().await.is_some() {}
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
                if let Some(reader) = inside.viewers.get_mut(self.place) {
                    *reader = Reader::Asks(Some(cx.waker().clone()));
                }
                Poll::Pending
            }
        }
    }

    /// From here on the room writes to its socket.
    fn written(&mut self, head: Vec<u8>, coding: Coding, socket: TcpStream) -> Arc<Feed> {
        let first = self.first.take().unwrap_or_default();
        let (first, gzip) = match coding {
            Coding::Identity => ([&head[..], &first].concat(), None),
            Coding::Gzip => {
                let mut gzip = Gzip::default();
                gzip.add(&first);
                ([&head[..], &HEADER, &self.hub.deflated(&first)].concat(), Some(gzip))
            }
        };
        let feed = Arc::new(Feed::new(socket, first.into(), gzip, self.cursor.clone()));
        // Before it reads for the first time: what is news later finds it there.
        if let Some(reader) = self.hub.inside().viewers.get_mut(self.place) {
            *reader = Reader::Written(Arc::clone(&feed));
        }
        feed
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

/// Sends a response's head and then a viewer's frames, until the room is over, the other side closes, or
/// it takes nothing for [`STALL`]. The body ends with the connection.
pub async fn send(mut viewer: Viewer, head: Vec<u8>, coding: Coding, socket: TcpStream) -> Left {
    let feed = viewer.written(head, coding, socket);
    let mut alarm = pin!(sleep(COMMENT_EVERY));
    let left = poll_fn(|cx| feed.poll(&viewer.hub, alarm.as_mut(), cx)).await;
    if left == Left::Over {
        feed.close();
    }
    left
}

/// Writes to one after the other, and lets others of the same worker have their turn.
async fn write_each(hub: &Hub, feeds: &[Arc<Feed>]) {
    for turn in feeds.chunks(TURN) {
        let now = Instant::now();
        turn.iter().for_each(|feed| feed.write_news(hub, now));
        yield_now().await;
    }
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

/// Viewers that one task writes to: a few milliseconds' work, which another worker may take.
const CROWD: usize = 512;
/// Writes in one turn: a few hundred microseconds, so that a request beside them waits no longer.
const TURN: usize = 64;

#[cfg(test)]
#[path = "fanout_tests.rs"]
mod tests;
