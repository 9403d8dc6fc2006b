//! What the gate's port answers itself: whether it lives, takes calls, and what it counted (O4, O9).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use metrics_exporter_prometheus::PrometheusHandle;
use tidegate_upstream::Gate;
use tidegate_wire::health::Healthy;
use tidegate_wire::{Code, Problem};

use crate::config::RESERVED;
use crate::page::{metrics, write};

/// The pages, named by [`RESERVED`].
pub(super) struct Pages {
    pub(super) gate: Gate,
    pub(super) ready: Arc<AtomicBool>,
    pub(super) metrics: PrometheusHandle,
}

impl Pages {
    /// `None` for every other path.
    pub(super) fn answer(&self, request: &Parts) -> Option<Response<Bytes>> {
        if ![Method::GET, Method::HEAD].contains(&request.method) {
            return None;
        }
        let [healthz, readyz, metrics] = RESERVED;
        match request.uri.path().strip_prefix('/')? {
            page if page == healthz => Some(write(&Healthy { status: "ok" })),
            page if page == readyz => Some(self.readiness()),
            page if page == metrics => Some(self.counted()),
            _ => None,
        }
    }

    fn readiness(&self) -> Response<Bytes> {
        if self.ready.load(Ordering::Relaxed) {
            return write(&Healthy { status: "ok" });
        }
        write(&Problem::new(Code::NotReady, "the process is stopping; ask another").retry(ASK_ANOTHER))
    }

    fn counted(&self) -> Response<Bytes> {
        self.gate.publish();
        metrics(self.metrics.render())
    }
}

/// When to look again after a process that is stopping said so; by then another listens in its place.
const ASK_ANOTHER: Duration = Duration::from_secs(2);
