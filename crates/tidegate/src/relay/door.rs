//! The relay's port: media over UDP, its pages over TCP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metrics_exporter_prometheus::PrometheusHandle;
use tidegate_relay::{Control, Crowd, Keys, OpenError, Relay, Site};
use tidegate_token::PublicKeys;
use tokio::net::TcpListener;

use crate::config::Config;
use crate::failure::{Failure, OrSay, Outcome};
use crate::listen;
use crate::relay::pages::{self, Pages};

/// An open port, and what is behind it.
pub(crate) struct Door {
    listener: TcpListener,
    address: SocketAddr,
    relay: Relay,
    keys: Arc<Keys>,
    /// Whose tokens are taken.
    control: Control,
    /// How the control is to know it; `None` where it has no secret to report with.
    site: Option<Site>,
    metrics: PrometheusHandle,
    /// Who is connected over TCP.
    crowd: Arc<Crowd>,
}

impl Door {
    /// Takes the port; `None` where the relay is off. Until it knows keys it lets nobody in.
    pub(crate) fn open(config: &Config, control: Control, metrics: PrometheusHandle) -> Outcome<Option<Self>> {
        let Some(listener) = listen::bind(config.relay_listen, listen::RELAY)? else { return Ok(None) };
        // Of port 0 the system chose one for the pages; media gets the same.
        let address = listener.local_addr().or_say(|| "the listener has no address".to_owned())?;
        let keys = Arc::new(Keys::new(PublicKeys::default()));
        let relay = Relay::open(address, &config.relay, Arc::clone(&keys)).map_err(not_opened)?;
        let site = control.has_secret().then(|| site(config, address));
        let crowd = Crowd::new(config.relay.connections_max, config.relay.connections_per_address);
        Ok(Some(Self { listener, address, relay, keys, control, site, metrics, crowd }))
    }

    /// Where it is; with port 0 the system chose one.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    pub(crate) fn set_keys(&self, keys: PublicKeys) {
        self.keys.set(keys);
    }

    pub(crate) fn relay(&self) -> &Relay {
        &self.relay
    }

    /// Serves until `stop` is ready, then ends gracefully (O9).
    pub(crate) async fn serve(&self, stop: impl Future<Output = ()>) {
        let ready = Arc::new(AtomicBool::new(true));
        let pages = Pages {
            ready: Arc::clone(&ready),
            keys: Arc::clone(&self.keys),
            metrics: self.metrics.clone(),
            certificate_sha256: self.relay.certificate_sha256().map(str::to_owned),
            hls: self.relay.hls(),
            crowd: Arc::clone(&self.crowd),
        };
        let stop = async {
            stop.await;
            ready.store(false, Ordering::Relaxed);
        };
        let reporting = async {
            match &self.site {
                Some(site) => self.relay.report(&self.control, site).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.relay.serve(stop) => {}
            never = self.control.follow(&self.keys) => match never {},
            never = reporting => match never {},
            never = pages::serve(&self.listener, pages) => match never {},
        }
    }
}

/// How the control is to know the relay, and viewers to reach it.
fn site(config: &Config, address: SocketAddr) -> Site {
    let relay = &config.relay;
    let public_url = relay.public_url.clone().unwrap_or_else(|| format!("https://{address}"));
    let public_url = public_url.trim_end_matches('/').to_owned();
    let place = public_url.split_once("://").map_or(&*public_url, |(_, place)| place);
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name = relay.name.clone().unwrap_or_else(|| place.chars().take(64).map(letter).collect());
    let hls_url = relay.hls_url.clone().unwrap_or_else(|| format!("http://{address}/hls"));
    let hls_url = hls_url.trim_end_matches('/').to_owned();
    Site { name, region: relay.region.clone(), public_url, hls_url }
}

fn not_opened(error: OpenError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        OpenError::Port { .. } => failure.hint("choose another with --relay-listen ADDR:PORT or [relay] listen"),
        OpenError::Certificate(_) => failure,
    }
}

/// What cannot change in a running relay, and whether it did in the file.
pub(crate) fn waiting_for_a_start(running: &Config, new: &Config) -> [(&'static str, bool); 11] {
    let (old, now) = (&running.relay, &new.relay);
    [
        ("relay.listen", running.relay_listen != new.relay_listen),
        ("relay.control", old.control != now.control),
        ("relay.name", old.name != now.name),
        ("relay.region", old.region != now.region),
        ("relay.public_url", old.public_url != now.public_url),
        ("relay.hls_url", old.hls_url != now.hls_url),
        ("relay.certificate", old.certificate != now.certificate),
        ("relay.private_key", old.private_key != now.private_key),
        ("relay.connections_max", old.connections_max != now.connections_max),
        ("relay.connections_per_address", old.connections_per_address != now.connections_per_address),
        ("relay.cache_mb", old.cache_mb != now.cache_mb),
    ]
}
