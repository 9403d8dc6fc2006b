//! The timer of one upstream: one task, which sleeps until the engine may have something to say by time alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::timeout_at;

use crate::desk::Desk;

/// Started by the first call that has to wait, ends with its desk.
pub(crate) struct Timer {
    desk: Weak<Desk>,
    bell: Arc<Notify>,
    running: Arc<AtomicBool>,
}

impl Timer {
    pub(crate) fn new(desk: Weak<Desk>) -> Self {
        Self { desk, bell: Arc::default(), running: Arc::default() }
    }

    /// The alarm was set to an earlier time.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
        if self.running.load(Ordering::Relaxed) {
            return;
        }
        // Outside of a runtime nothing waits that this could wake: whoever waits has come through here inside one.
        if let Ok(runtime) = Handle::try_current()
            && !self.running.swap(true, Ordering::AcqRel)
        {
            let running = Running(Arc::clone(&self.running));
            runtime.spawn(run(self.desk.clone(), Arc::clone(&self.bell), running));
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.bell.notify_one();
    }
}

async fn run(desk: Weak<Desk>, bell: Arc<Notify>, _running: Running) {
    while let Some(alarm) = desk.upgrade().map(|desk| desk.on_time()) {
        match alarm {
            // Whether the time came or the bell rang: the desk knows what to do.
            Some(at) => drop(timeout_at(at.into(), bell.notified()).await),
            None => bell.notified().await,
        }
    }
}

/// Says that the task has ended, also when its runtime has: the next alarm starts another.
struct Running(Arc<AtomicBool>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
