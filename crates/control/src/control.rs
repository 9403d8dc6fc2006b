//! The control: what its routes share, and its life from start to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use metrics_exporter_prometheus::PrometheusHandle;
use tidegate_chat::Rooms;
use tidegate_store::{Catalogue, KeyDigest, Seats, StoreAway};
use tidegate_wire::Problem;
use tokio::net::TcpListener;

use crate::addresses::TrustedProxies;
use crate::buckets::Buckets;
use crate::cors::Origins;
use crate::departures::Departures;
use crate::metrics::Metrics;
use crate::outage::{self, Outage};
use crate::relays::Relays;
use crate::tokens::{Tokens, unix_now};
use crate::{ControlSettings, openapi, routes, server};

/// The HTTP API of seats over one store.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

/// What all routes share.
pub(crate) struct Shared {
    pub(crate) seats: Arc<dyn Seats>,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) metrics: Metrics,
    pub(crate) outage: Outage,
    pub(crate) departures: Departures,
    pub(crate) description: Bytes,
    pub(crate) relays: Relays,
    /// The rooms of live chats, where there are any.
    pub(crate) rooms: OnceLock<Rooms>,
    /// Held while a stream's settings are read, merged and written.
    pub(crate) changes: tokio::sync::Mutex<()>,
    policy: RwLock<Arc<Policy>>,
    stopping: AtomicBool,
}

/// The settings in force, with what follows from them.
pub(crate) struct Policy {
    pub(crate) settings: ControlSettings,
    pub(crate) trusted: TrustedProxies,
    pub(crate) origins: Origins,
    pub(crate) buckets: Arc<Buckets>,
}

impl Control {
    /// Makes a control over a store.
    ///
    /// Install the recorder that `prometheus` belongs to before (see [`crate::recorder`]): the series are registered
    /// here.
    #[must_use]
    pub fn new(
        settings: ControlSettings,
        seats: Arc<dyn Seats>,
        catalogue: Arc<dyn Catalogue>,
        tokens: Arc<Tokens>,
        prometheus: PrometheusHandle,
    ) -> Self {
        let shared = Shared {
            seats,
            catalogue,
            tokens,
            metrics: Metrics::register(prometheus),
            outage: Outage::default(),
            departures: Departures::default(),
            relays: Relays::default(),
            description: openapi::written(routes::all().into_openapi()),
            rooms: OnceLock::new(),
            changes: tokio::sync::Mutex::new(()),
            policy: RwLock::new(Arc::new(Policy::new(settings, None))),
            stopping: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The routes, without what the server puts around them: request ids, headers for pages of other origins, limits
    /// on sockets. More routes may be merged in; [`Control::serve_router`] serves them all.
    pub fn router(&self) -> Router {
        let (router, _description) = routes::all().split_for_parts();
        router
            .route("/openapi.json", axum::routing::get(routes::description))
            .method_not_allowed_fallback(routes::no_method)
            .fallback(routes::no_route)
            .with_state(Arc::clone(&self.shared))
    }

    /// Serves the routes on a listener until `stop` is ready, then ends gracefully (O9): readiness falls, accepting
    /// ends, requests in flight finish within the grace time, idle connections close.
    pub async fn serve(&self, listener: TcpListener, stop: impl Future<Output = ()>) {
        self.serve_router(self.router(), listener, stop).await;
    }

    /// The same with a router that holds [`Control::router`] and others' routes.
    pub async fn serve_router(&self, router: Router, listener: TcpListener, stop: impl Future<Output = ()>) {
        server::serve(Arc::clone(&self.shared), router, listener, stop).await;
    }

    /// Opens the rooms of live chats to the chat's routes. The first rooms stay.
    pub fn open_rooms(&self, rooms: Rooms) {
        self.shared.rooms.get_or_init(|| rooms);
    }

    /// Lets relays in that show the fleet's secret, of which this is [`crate::auth::key_digest`]. Without it no relay
    /// may report, and answers list none. The first secret stays.
    pub fn admit_relays(&self, secret: KeyDigest) {
        self.shared.relays.admit(secret);
    }

    /// Puts other settings in force; requests and connections under way keep what they began with.
    pub fn reload(&self, settings: ControlSettings) {
        let mut policy = self.shared.policy.write().unwrap_or_else(PoisonError::into_inner);
        *policy = Arc::new(Policy::new(settings, Some(&policy)));
    }
}

impl Policy {
    fn new(settings: ControlSettings, before: Option<&Self>) -> Self {
        // Other limits need other buckets; the same limits keep what was drawn.
        let limits = |s: &ControlSettings| (s.page_burst, s.page_refill_ms, s.addresses_max);
        let kept = before.filter(|before| limits(&before.settings) == limits(&settings));
        let (burst, refill_ms, addresses_max) = limits(&settings);
        Self {
            trusted: TrustedProxies { networks: settings.trusted_proxies.clone(), header: settings.forwarded_header },
            origins: Origins::new(&settings.cors_origins),
            buckets: kept.map_or_else(
                || Arc::new(Buckets::new(burst, refill_ms, addresses_max)),
                |before| Arc::clone(&before.buckets),
            ),
            settings,
        }
    }
}

impl Shared {
    /// The settings in force.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the process is ending (O9).
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// The refusal while the store is away.
    pub(crate) fn store_away(&self, away: StoreAway) -> Problem {
        self.outage.note(Err(away), unix_now());
        outage::store_away(away, self.policy().settings.away_spread_ms)
    }

    /// Reads gauges that change without a request.
    pub(crate) fn note_gauges(&self) {
        self.rooms.get().into_iter().for_each(Rooms::publish);
        self.metrics.note(self.policy().buckets.held(), self.outage.is_on());
    }

    /// The regular look at the store, and what has to be forgotten from time to time.
    pub(crate) async fn tick(&self) {
        let now = unix_now();
        self.outage.note(self.seats.writable().await, now);
        if !self.outage.is_on() {
            self.departures.sweep(now);
        }
        self.relays.tick();
        if now.is_multiple_of(SWEEP_S) {
            self.policy().buckets.sweep();
            self.metrics.upkeep();
        }
    }
}

/// Between two looks at the store. Rule S20: an outage is known about this late, and a token that ended in between
/// is not excused.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// Seconds between two sweeps of the buckets and the samples.
const SWEEP_S: u64 = 5;
