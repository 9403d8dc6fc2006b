//! Who runs a shared call: its first caller, or a task.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::task::AbortHandle;

/// The future of a shared call, wherever it runs.
#[derive(Default)]
pub(crate) struct Course {
    place: Mutex<Place>,
    /// Once true, for ever: apart from `place`, which is locked while the first caller runs it.
    in_task: AtomicBool,
}

pub(super) type Run = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
enum Place {
    /// Not begun, ended, or dropped.
    #[default]
    Nowhere,
    WithFirst(Run),
    InTask(AbortHandle),
}

impl Course {
    pub(super) fn begin(&self, run: Run) {
        *self.place() = Place::WithFirst(run);
    }

    /// Lets the first caller run it further, if that is the first caller's to do.
    pub(super) fn run(&self, cx: &mut Context<'_>) {
        let mut place = self.place();
        *place = match std::mem::take(&mut *place) {
            // Out of its place meanwhile: if it panics it is dropped, and tells its callers so.
            Place::WithFirst(mut run) => match run.as_mut().poll(cx) {
                Poll::Pending => Place::WithFirst(run),
                Poll::Ready(()) => Place::Nowhere,
            },
            elsewhere @ (Place::InTask(_) | Place::Nowhere) => elsewhere,
        };
    }

    /// Somebody else waits for it now, who must not wait for its first caller.
    pub(super) fn give_a_task(&self) {
        let mut place = self.place();
        *place = match std::mem::take(&mut *place) {
            Place::WithFirst(run) => {
                self.in_task.store(true, Ordering::Release);
                Place::InTask(tokio::spawn(run).abort_handle())
            }
            elsewhere @ (Place::InTask(_) | Place::Nowhere) => elsewhere,
        };
    }

    /// Whether a task runs it, which goes on by itself.
    pub(super) fn is_in_task(&self) -> bool {
        self.in_task.load(Ordering::Acquire)
    }

    /// Nobody waits for it any more.
    pub(super) fn abandon(&self) {
        // Dropped when the mutex is free again: it holds what holds this.
        let place = std::mem::take(&mut *self.place());
        match place {
            Place::InTask(task) => task.abort(),
            Place::WithFirst(_) | Place::Nowhere => {}
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
