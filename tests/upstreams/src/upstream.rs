//! One running stand-in, in this process.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::log::Log;
use crate::script::Script;
use crate::serve::{Shared, serve};

/// A stand-in; dropping it closes its port and all its connections.
#[derive(Debug)]
pub struct Upstream {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Its end ends every task.
    _closing: watch::Sender<()>,
}

impl Upstream {
    /// Starts one on a free port of 127.0.0.1 with the script [`Script::menu`].
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start() -> io::Result<Self> {
        Self::with(Script::menu()).await
    }

    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn with(script: Script) -> io::Result<Self> {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), script).await
    }

    /// Starts one at an address.
    ///
    /// # Errors
    /// When the address cannot be taken.
    pub async fn listen(address: SocketAddr, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (closing, closed) = watch::channel(());
        let shared = Arc::new(Shared::new(script, closed));
        tokio::spawn(serve(shared.clone(), listener));
        Ok(Self { shared, address, _closing: closing })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path: `url("/echo")`; `url("")` is the base.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Replaces the script, and forgets what the old one counted; the log stays.
    pub fn set_script(&self, script: Script) {
        self.shared.set_script(script);
    }

    /// Forgets what was counted and logged; the script begins anew. Latches close.
    pub fn reset(&self) {
        self.shared.reset();
    }

    /// Throttles every address for a time.
    pub fn throttle_for(&self, hold: Duration) {
        self.shared.throttle_for(hold);
    }

    /// Opens a latch: all answers that wait at it, or come to it later, go on.
    pub fn release(&self, latch: &str) {
        self.shared.latches.release(latch);
    }

    /// Lets so many answers pass a latch.
    pub fn release_some(&self, latch: &str, calls: usize) {
        self.shared.latches.release_some(latch, calls);
    }

    /// What was received so far.
    #[must_use]
    pub fn log(&self) -> Log {
        self.shared.journal.log()
    }

    /// Waits until the log is so, and returns it; looks again whenever it changes.
    pub async fn wait_until(&self, so: impl Fn(&Log) -> bool) -> Log {
        self.shared.journal.wait_until(so).await
    }

    /// Waits until so many requests have arrived.
    pub async fn wait_for_arrivals(&self, count: usize) -> Log {
        self.wait_until(|log| log.len() >= count).await
    }

    /// Waits until no request is running.
    pub async fn wait_until_idle(&self) -> Log {
        self.wait_until(|log| log.entries.iter().all(|entry| entry.ended_ns.is_some())).await
    }
}
