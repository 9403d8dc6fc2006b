//! How a process is told to stop or to read its settings again.

use std::convert::Infallible;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The signals that mean something here, heeded from its making on: one that comes while the store is still being
/// opened must not end the process in the middle.
pub(crate) struct Signals {
    stop: watch::Receiver<bool>,
    /// Means: read the settings again.
    pub(crate) hangup: Signal,
}

impl Signals {
    /// Heeds them from now on.
    pub(crate) fn heed() -> Self {
        let (stopping, stop) = watch::channel(false);
        tokio::spawn(watch_over(on(SignalKind::interrupt()), on(SignalKind::terminate()), stopping));
        Self { stop, hangup: on(SignalKind::hangup()) }
    }

    /// Comes when the process is to stop, or was told so already.
    pub(crate) fn stop(&self) -> impl Future<Output = ()> + use<> {
        let mut stop = self.stop.clone();
        async move {
            // The task that holds the other end lives as long as the process.
            stop.wait_for(|stop| *stop).await.ok();
        }
    }
}

/// Acts at every such signal, until the task is dropped.
pub(crate) async fn at_every(mut signal: Signal, act: impl Fn()) -> Infallible {
    while signal.recv().await.is_some() {
        act();
    }
    std::future::pending().await
}

/// The first signal asks, the second one ends the process at once.
async fn watch_over(mut interrupt: Signal, mut terminate: Signal, stopping: watch::Sender<bool>) {
    let name = either(&mut interrupt, &mut terminate).await;
    tracing::info!(signal = name, "stopping; once more ends it at once");
    stopping.send_replace(true);
    either(&mut interrupt, &mut terminate).await;
    tracing::warn!("ended at once");
    std::process::exit(ENDED_BY_SIGNAL);
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) -> &'static str {
    tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
    }
}

fn on(kind: SignalKind) -> Signal {
    signal(kind).expect("these signals can be handled on every Unix")
}

/// What a shell expects of a process that ctrl-C ended.
const ENDED_BY_SIGNAL: i32 = 130;
