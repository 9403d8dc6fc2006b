//! The gate's port: its upstreams behind a reverse proxy.

use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metrics_exporter_prometheus::PrometheusHandle;
use tidegate_upstream::{Gate, Proxy, serve};
use tokio::net::TcpListener;

use crate::config::{Config, Upstreams};
use crate::failure::{OrSay, Outcome};
use crate::gate::pages::Pages;
use crate::listen;

/// An open port, and what is behind it.
pub(crate) struct Door {
    listener: TcpListener,
    address: SocketAddr,
    proxy: Arc<Proxy>,
    /// Falls when the process is to stop (O9).
    ready: Arc<AtomicBool>,
}

impl Door {
    /// Takes the port; `None` where the gate is off.
    pub(crate) fn open(config: &Config, metrics: PrometheusHandle) -> Outcome<Option<Self>> {
        let Some(listener) = listen::bind(config.gate_listen, listen::GATE)? else { return Ok(None) };
        let address = listener.local_addr().or_say(|| "the listener has no address".to_owned())?;
        let gate = Gate::new(config.upstreams.clone()).or_say(|| "cannot set the gate up".to_owned())?;
        let ready = Arc::new(AtomicBool::new(true));
        let pages = Pages { gate: gate.clone(), ready: Arc::clone(&ready), metrics };
        let proxy = Proxy::new(gate, config.gate.clone()).with_page(move |request| pages.answer(request));
        Ok(Some(Self { listener, address, proxy: Arc::new(proxy), ready }))
    }

    /// Where it is; with port 0 the system chose one.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn gate(&self) -> &Gate {
        self.proxy.gate()
    }

    /// Serves until `stop` is ready, then ends gracefully (O9).
    pub(crate) async fn serve(self, stop: impl Future<Output = ()>) {
        let ready = self.ready;
        let stop = async move {
            stop.await;
            ready.store(false, Ordering::Relaxed);
            tracing::info!("the gate is no longer ready");
        };
        serve(self.listener, self.proxy, stop).await;
    }

    /// How each upstream is called, and what it allows.
    pub(crate) fn upstreams_in_words(&self, upstreams: &Upstreams) -> String {
        let mut text = String::new();
        for (name, settings) in upstreams {
            let url = settings.base_url.as_deref().unwrap_or_default();
            let pace = settings.explain().into_iter().next().unwrap_or_default();
            write!(text, "\nhttp://{}/{name}/…  calls {url}\n  {pace}", self.address).expect("a string takes all");
        }
        text
    }
}

/// Gives a running gate the file's upstreams; says whether it took them.
pub(crate) fn reload(gate: &Gate, config: &Config) -> bool {
    let taken = gate.reload(config.upstreams.clone());
    taken.inspect_err(|fault| tracing::error!(%fault, "settings not reloaded, nothing was changed")).is_ok()
}

/// What cannot change in a running gate, and whether it did in the file.
pub(crate) fn waiting_for_a_start(running: &Config, new: &Config) -> [(&'static str, bool); 9] {
    let (old, now) = (&running.gate, &new.gate);
    [
        ("gate.listen", running.gate_listen != new.gate_listen),
        ("gate.connections_max", old.connections_max != now.connections_max),
        ("gate.connections_per_address", old.connections_per_address != now.connections_per_address),
        ("gate.header_timeout_ms", old.header_timeout_ms != now.header_timeout_ms),
        ("gate.write_timeout_ms", old.write_timeout_ms != now.write_timeout_ms),
        ("gate.idle_timeout_ms", old.idle_timeout_ms != now.idle_timeout_ms),
        ("gate.streams_max", old.streams_max != now.streams_max),
        ("gate.stop_notice_ms", old.stop_notice_ms != now.stop_notice_ms),
        ("gate.stop_grace_ms", old.stop_grace_ms != now.stop_grace_ms),
    ]
}
