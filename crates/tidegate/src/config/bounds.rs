//! Values that the reader takes one by one and that would do harm, alone or together.

use std::ops::RangeInclusive;

use crate::config::{Config, Seats};
use crate::telemetry::{endpoint_fault, parse_filter};

/// The first key that is wrong, and why.
pub(super) fn fault(config: &Config) -> Option<(&'static str, String)> {
    outside(config).or_else(|| hidden_tabs(&config.seats)).or_else(|| tokens(config)).or_else(|| telemetry(config))
}

/// Numbers of `[control]`, `[tokens]`, `[gate]` and `[relay]`, whose own types know no bounds.
fn outside(config: &Config) -> Option<(&'static str, String)> {
    let (control, tokens, gate, relay) = (&config.control, &config.tokens, &config.gate, &config.relay);
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let numbers: [(&str, u64, RangeInclusive<u64>); 26] = [
        ("control.page_burst", control.page_burst.get().into(), 5..=10_000),
        ("control.page_refill_ms", control.page_refill_ms.get().into(), 1..=60_000),
        ("control.addresses_max", count(control.addresses_max), 100..=10_000_000),
        ("control.connections_max", count(control.connections_max), 10..=1_000_000),
        ("control.connections_per_address", count(control.connections_per_address), 1..=1_000_000),
        ("control.header_timeout_ms", control.header_timeout_ms, 100..=600_000),
        ("control.body_timeout_ms", control.body_timeout_ms, 100..=600_000),
        ("control.write_timeout_ms", control.write_timeout_ms, 100..=600_000),
        ("control.idle_timeout_ms", control.idle_timeout_ms, 100..=3_600_000),
        ("control.stop_notice_ms", control.stop_notice_ms, 0..=60_000),
        ("control.stop_grace_ms", control.stop_grace_ms, 0..=600_000),
        ("control.away_spread_ms", control.away_spread_ms, 0..=60_000),
        ("tokens.viewer_life_s", tokens.viewer_life_s.get().into(), 30..=3600),
        ("gate.connections_max", count(gate.connections_max), 10..=1_000_000),
        ("gate.connections_per_address", count(gate.connections_per_address), 1..=1_000_000),
        ("gate.streams_max", gate.streams_max.into(), 1..=10_000),
        ("gate.header_timeout_ms", gate.header_timeout_ms, 100..=600_000),
        ("gate.write_timeout_ms", gate.write_timeout_ms, 100..=600_000),
        ("gate.idle_timeout_ms", gate.idle_timeout_ms, 100..=3_600_000),
        ("gate.stop_notice_ms", gate.stop_notice_ms, 0..=60_000),
        ("gate.stop_grace_ms", gate.stop_grace_ms, 0..=600_000),
        ("relay.admission_retry_ms", relay.admission_retry_ms, 100..=60_000),
        ("relay.admission_burst", relay.admission_burst.into(), 1..=100_000),
        ("relay.connections_max", count(relay.connections_max), 10..=1_000_000),
        ("relay.connections_per_address", count(relay.connections_per_address), 1..=1_000_000),
        ("relay.cache_mb", relay.cache_mb, 1..=1_000_000),
    ];
    let (key, number, bounds) = numbers.into_iter().find(|(_, number, bounds)| !bounds.contains(number))?;
    Some((key, format!("{number} is not between {} and {}", bounds.start(), bounds.end())))
}

fn hidden_tabs(seats: &Seats) -> Option<(&'static str, String)> {
    let pairs = [
        ("seats.silence_hidden_s", seats.silence_hidden_s.get(), seats.silence_s.get()),
        ("seats.place_silence_hidden_s", seats.place_silence_hidden_s.get(), seats.place_silence_s.get()),
    ];
    let (key, hidden, visible) = pairs.into_iter().find(|(_, hidden, visible)| hidden < visible)?;
    Some((key, format!("{hidden} is shorter than a visible tab's {visible}")))
}

/// A key that retires before its tokens end would close the door on seated viewers (S1).
fn tokens(config: &Config) -> Option<(&'static str, String)> {
    let (overlap, life) = (config.tokens.key_overlap_s, config.tokens.viewer_life_s.get());
    let said = || format!("{overlap} is shorter than a viewer token's life of {life}");
    (overlap < life).then(|| ("tokens.key_overlap_s", said()))
}

fn telemetry(config: &Config) -> Option<(&'static str, String)> {
    let telemetry = &config.telemetry;
    let log = telemetry.log.as_deref().and_then(|words| parse_filter(words).err());
    let endpoint = || Some(("telemetry.otlp_endpoint", endpoint_fault(telemetry.otlp_endpoint.as_deref()?)?));
    log.map(|said| ("telemetry.log", said)).or_else(endpoint)
}
