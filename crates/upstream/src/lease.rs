//! A slot that a body holds, for as long as it moves (G3).
//!
//! A client that stops reading keeps its body from being polled at all, so no timer inside the body could end it:
//! the desk looks at all bodies a few times in the stall time and takes the slot of those that stand still.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;

use crate::clock;
use crate::desk::HeldSlot;

/// When a body moved last.
#[derive(Default)]
pub(crate) struct Progress {
    /// When the body began; none of a call without one, which is not looked at.
    since: OnceLock<Instant>,
    /// Milliseconds from `since`.
    moved: AtomicU64,
    stalled: AtomicBool,
    waker: AtomicWaker,
}

impl Progress {
    /// Whether nothing has moved for this time.
    pub(crate) fn still_for(&self, time: Duration, now: Instant) -> bool {
        let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
        self.since.get().is_some_and(|&since| now.saturating_duration_since(since + moved) >= time)
    }

    /// A piece of the body passed, or it begins.
    fn note(&self) {
        let now = clock::now();
        let ms = now.saturating_duration_since(*self.since.get_or_init(|| now)).as_millis();
        self.moved.store(u64::try_from(ms).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Ends the body. Answers whom to wake, if it waits for its upstream.
    pub(crate) fn stall(&self) -> Option<Waker> {
        self.stalled.store(true, Ordering::Release);
        self.waker.take()
    }
}

/// A body's hold on its slot.
pub(crate) struct Lease {
    progress: Arc<Progress>,
    _slot: HeldSlot,
}

impl Lease {
    pub(crate) fn new(progress: Arc<Progress>, slot: HeldSlot) -> Self {
        progress.note();
        Self { progress, _slot: slot }
    }

    /// A piece of the body passed.
    pub(crate) fn moved(&self) {
        self.progress.note();
    }

    /// Whether the body stood still for too long, and lost its slot.
    pub(crate) fn is_stalled(&self) -> bool {
        self.progress.stalled.load(Ordering::Acquire)
    }

    /// Whom to wake when it does.
    pub(crate) fn wake_on_stall(&self, waker: &Waker) {
        self.progress.waker.register(waker);
    }
}
