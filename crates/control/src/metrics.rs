//! What is counted (O4): answers by route and kind, the time they took, and gauges read at each scrape.

use std::fmt::Write as _;
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tidegate_seats::{StreamRecord, StreamStats, TenantId};
use tidegate_store::{Catalogue, Seats};

use crate::connection::Overdue;
use crate::routes::Route;

/// The Prometheus recorder with this house's buckets: install it before [`crate::Control::new`], which registers
/// every series, so that counting an answer is one addition.
///
/// Without an HTTP listener of its own: `/metrics` renders the handle.
#[must_use]
pub fn recorder() -> PrometheusBuilder {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS_BUCKETS)
        .expect("the list of buckets is not empty")
}

/// The series of this process.
pub(crate) struct Metrics {
    handle: PrometheusHandle,
    routes: Vec<RouteSeries>,
    pub(crate) connections: ConnectionSeries,
    address_buckets: Gauge,
    seat_buckets: Gauge,
    store_away: Gauge,
}

struct RouteSeries {
    answers: Vec<(&'static str, Counter)>,
    /// For a label that the route's table does not have; stays 0, which a test checks.
    other: Counter,
    seconds: Histogram,
}

/// The series of sockets.
#[derive(Clone)]
pub(crate) struct ConnectionSeries {
    pub(crate) open: Gauge,
    pub(crate) refused_address: Counter,
    pub(crate) refused_all: Counter,
    closed: [Counter; 3],
}

impl ConnectionSeries {
    pub(crate) fn closed(&self, why: Overdue) {
        let [header, idle, write] = &self.closed;
        match why {
            Overdue::Header => header.increment(1),
            Overdue::Idle => idle.increment(1),
            Overdue::Write => write.increment(1),
        }
    }
}

impl Metrics {
    pub(crate) fn register(handle: PrometheusHandle) -> Self {
        describe();
        Self {
            handle,
            routes: Route::ALL.iter().map(|route| RouteSeries::register(*route)).collect(),
            connections: ConnectionSeries {
                open: gauge!("tidegate_connections"),
                refused_address: counter!("tidegate_connections_refused_total", "limit" => "address"),
                refused_all: counter!("tidegate_connections_refused_total", "limit" => "all"),
                closed: ["header_timeout", "idle_timeout", "write_timeout"]
                    .map(|why| counter!("tidegate_connections_closed_total", "why" => why)),
            },
            address_buckets: gauge!("tidegate_rate_buckets", "of" => "address"),
            seat_buckets: gauge!("tidegate_rate_buckets", "of" => "seat"),
            store_away: gauge!("tidegate_store_away"),
        }
    }

    /// Counts one answer and the time that it took.
    pub(crate) fn answered(&self, route: Route, label: &'static str, took: Duration) {
        let series = &self.routes[route as usize];
        let known = series.answers.iter().find(|(known, _)| *known == label);
        known.map_or(&series.other, |(_, counter)| counter).increment(1);
        series.seconds.record(took);
    }

    /// Moves finished samples out of the way; call it every few seconds, scraped or not.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    pub(crate) fn note(&self, (address_buckets, seat_buckets): (usize, usize), store_away: bool) {
        #[expect(clippy::cast_precision_loss, reason = "gauges are floats; counts of buckets fit them")]
        {
            self.address_buckets.set(address_buckets as f64);
            self.seat_buckets.set(seat_buckets as f64);
        }
        self.store_away.set(if store_away { 1.0 } else { 0.0 });
    }

    /// The text of a scrape: what was counted, and every open stream as it is now.
    pub(crate) async fn render(&self, catalogue: &dyn Catalogue, seats: &dyn Seats) -> String {
        let mut text = self.handle.render();
        let streams = open_streams(catalogue, seats).await;
        // Written here and not as handles: a series must end with its stream.
        for (name, help, value) in STREAM_GAUGES {
            let _infallible = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
            for (tenant, stream, stats) in &streams {
                let value = value(stats);
                let _infallible = writeln!(text, "{name}{{tenant=\"{tenant}\",stream=\"{}\"}} {value}", stream.id);
            }
        }
        text
    }
}

impl RouteSeries {
    fn register(route: Route) -> Self {
        let name = route.name();
        let answer = |label| counter!("tidegate_requests_total", "route" => name, "answer" => label);
        Self {
            answers: route.labels().map(|label| (label, answer(label))).collect(),
            other: answer("other"),
            seconds: histogram!("tidegate_request_seconds", "route" => name),
        }
    }
}

fn describe() {
    metrics::describe_counter!("tidegate_requests_total", "Answers by route and kind.");
    metrics::describe_histogram!("tidegate_request_seconds", "From a request's headers to its answer.");
    metrics::describe_gauge!("tidegate_connections", "Open connections.");
    metrics::describe_counter!("tidegate_connections_refused_total", "Connections closed at once, by the limit met.");
    metrics::describe_counter!("tidegate_connections_closed_total", "Connections closed for taking too long.");
    metrics::describe_gauge!("tidegate_rate_buckets", "Buckets of page calls held in memory (S16).");
    metrics::describe_gauge!("tidegate_store_away", "1 while the store cannot be written (D2).");
}

async fn open_streams(catalogue: &dyn Catalogue, seats: &dyn Seats) -> Vec<(TenantId, StreamRecord, StreamStats)> {
    let mut open = Vec::new();
    for tenant in catalogue.tenants().await {
        for stream in catalogue.streams(&tenant.id).await {
            if stream.ended_at.is_some() {
                continue;
            }
            if let Some(stats) = seats.stats(&stream.id).await {
                open.push((tenant.id.clone(), stream, stats));
            }
        }
    }
    open
}

type StreamGauge = (&'static str, &'static str, fn(&StreamStats) -> u32);

const STREAM_GAUGES: [StreamGauge; 7] = [
    ("tidegate_seats", "Seats taken.", |stats| stats.seats),
    ("tidegate_seats_cap", "Seats there are.", |stats| stats.cap),
    ("tidegate_seats_hls", "Seats watched over LL-HLS.", |stats| stats.hls),
    ("tidegate_seats_peak", "Most seats at once since creation.", |stats| stats.peak),
    ("tidegate_queued", "Places taken in line.", |stats| stats.queued),
    ("tidegate_queue_max", "Places there are in line.", |stats| stats.queue_max),
    ("tidegate_turns", "Offers and holds open.", |stats| stats.turns),
];

/// Seconds; an answer from memory takes tens of microseconds, one that waits for the disk some milliseconds.
const SECONDS_BUCKETS: &[f64] = &[
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
