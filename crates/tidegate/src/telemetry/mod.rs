//! What is told about the running process: logs, metrics, traces (O4).

mod otlp;

use std::io::IsTerminal;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, registry};

use crate::config::{self, LogFormat};
use crate::failure::{Failure, OrSay, Outcome};

pub(crate) use otlp::endpoint_fault;

/// The process's recorders. Traces still unsent are sent by [`Telemetry::finish`].
pub(crate) struct Telemetry {
    pub(crate) metrics: PrometheusHandle,
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts them. Must be called within the runtime, and once in a process.
    pub(crate) fn start(settings: &config::Telemetry) -> Outcome<Self> {
        let traces = settings.otlp_endpoint.as_deref().map(|to| otlp::start(to, settings)).transpose()?;
        let to_traces = traces.as_ref().map(|provider| {
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("tidegate")).with_target(false);
            // Requests are spans of DEBUG, so that nobody pays for one that nobody reads; here somebody does.
            layer.with_filter(Targets::new().with_target("tidegate", Level::DEBUG))
        });
        // Logs go to stderr: what a person is to copy, such as the key, stays alone on stdout.
        let lines =
            tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
        let to_lines = match settings.log_format {
            LogFormat::Text => lines.with_target(false).boxed(),
            LogFormat::Json => lines.json().flatten_event(true).boxed(),
        };
        registry().with(to_lines.with_filter(filter(settings)?)).with(to_traces).init();
        Ok(Self { metrics: recorder()?, traces })
    }

    /// Sends the traces that are left, for at most a few seconds.
    pub(crate) async fn finish(self) {
        let Some(traces) = self.traces else { return };
        // It blocks until the exporter, whose calls run on this runtime, has sent.
        let sent = tokio::task::spawn_blocking(move || traces.shutdown_with_timeout(LAST_TRACES)).await;
        if let Ok(Err(error)) = sent {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

fn filter(settings: &config::Telemetry) -> Outcome<Targets> {
    let words = settings.log.as_deref().unwrap_or(USUAL_FILTER);
    // Below INFO it writes whole addresses, and a session's address holds its token (O4).
    parse_filter(words).map(|filter| filter.with_target("web_transport_moq", Level::INFO)).map_err(Failure::new)
}

/// Reads `info`, or `info,tidegate_store=debug`. A lone word that is no level would be the name of a part and turn
/// everything else off, so a typo is refused.
pub(crate) fn parse_filter(words: &str) -> Result<Targets, String> {
    let wrong = || {
        format!(
            "{words:?} is no log filter; write error, warn, info, debug or trace, or levels by part: \
             info,tidegate_store=debug"
        )
    };
    let is_level = |word: &str| !word.trim().is_empty() && word.trim().parse::<LevelFilter>().is_ok();
    if !words.split(',').all(|word| word.contains('=') || is_level(word)) {
        return Err(wrong());
    }
    words.parse().map_err(|_| wrong())
}

fn recorder() -> Outcome<PrometheusHandle> {
    let waits = Matcher::Full("tidegate_gate_wait_seconds".to_owned());
    let builder = tidegate_control::recorder()
        .set_buckets_for_metric(Matcher::Suffix("_rows".to_owned()), ROWS)
        .and_then(|builder| builder.set_buckets_for_metric(waits, WAITS));
    builder.and_then(PrometheusBuilder::install_recorder).or_say(|| "cannot record metrics".to_owned())
}

/// What is logged unless somebody says otherwise. To the media library each session that ends is news.
pub(crate) const USUAL_FILTER: &str = "info,moq_net=error";

/// Upper bounds of `*_rows` histograms.
const ROWS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1000.0, 5000.0];

/// Upper bounds of waits in the gate, in seconds: one spacing, one deadline, the longest cooldown.
const WAITS: &[f64] = &[0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// A stop waits no longer than this for a collector that does not answer.
const LAST_TRACES: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o4_a_filter_is_a_level_or_levels_by_part() {
        for words in ["info", "off", "DEBUG", "info,tidegate_store=debug", "tidegate_store=trace, warn"] {
            assert!(parse_filter(words).is_ok(), "{words:?} was refused");
        }
        for words in ["", "debgu", "info,", "info,tidegate_store=loud", "tidegate_store"] {
            assert!(parse_filter(words).is_err(), "{words:?} was taken");
        }
    }
}
