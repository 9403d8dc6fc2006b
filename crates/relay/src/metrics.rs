//! What the relay counts (O4).

use metrics::{counter, describe_counter, describe_gauge, gauge};
use tidegate_edge::{End, Entry, Full, State};
use tidegate_wire::Code;
use tidegate_wire::relay::CloseCode;

use crate::desk::Standing;

/// Describes the series; call it after the recorder is installed.
pub(crate) fn describe() {
    describe_gauge!(BUSY, "Share of the last second that the work threads were busy.");
    describe_gauge!(LAG, "How late timers fired in the last second (p90).");
    describe_gauge!(SATURATED, "1 while the relay is saturated.");
    describe_gauge!(SESSIONS, "Open sessions.");
    describe_gauge!(HLS, "Open sessions over LL-HLS, also among the open sessions.");
    describe_counter!(ADMITTED, "Sessions let in, by why.");
    describe_counter!(
        OBSERVED,
        "Sessions that admission = observe let in and on would have refused, by what was full."
    );
    describe_counter!(REFUSED, "Sessions refused, by code.");
    describe_counter!(ENDED, "Sessions that the relay ended, by why.");
    describe_counter!(UNANSWERED, "Handshakes left unanswered, so that refusals alone cannot saturate the relay.");
    describe_counter!(TURNED_AWAY, "Connections over connections_max or connections_per_address.");
}

pub(crate) fn admitted(entry: Entry, observed: Option<Full>) {
    let entry = match entry {
        Entry::New => "new",
        Entry::Returning => "returning",
        Entry::Publisher => "publisher",
        Entry::Peer => "peer",
    };
    counter!(ADMITTED, "entry" => entry).increment(1);
    if let Some(full) = observed {
        let full = match full {
            Full::Saturated => "saturated",
            Full::Share => "share",
        };
        counter!(OBSERVED, "full" => full).increment(1);
    }
}

pub(crate) fn refused(code: CloseCode) {
    counter!(REFUSED, "code" => code.as_str()).increment(1);
}

/// A refusal over HTTP, by the same names.
pub(crate) fn refused_hls(code: Code) {
    counter!(REFUSED, "code" => code.as_str()).increment(1);
}

pub(crate) fn hls(sessions: usize) {
    gauge!(HLS).set(f64::from(u32::try_from(sessions).unwrap_or(u32::MAX)));
}

pub(crate) fn ended(end: End) {
    let end = match end {
        End::Replaced => "replaced",
        End::Renewed => "renewed",
        End::Expired => "expired",
        End::Removed => "removed",
    };
    counter!(ENDED, "end" => end).increment(1);
}

pub(crate) fn unanswered() {
    counter!(UNANSWERED).increment(1);
}

pub(crate) fn turned_away() {
    counter!(TURNED_AWAY).increment(1);
}

pub(crate) fn standing(standing: &Standing) {
    gauge!(BUSY).set(standing.load.busy.share());
    gauge!(LAG).set(standing.load.lag.as_secs_f64());
    gauge!(SATURATED).set(if standing.state == State::Saturated { 1.0 } else { 0.0 });
    gauge!(SESSIONS).set(f64::from(u32::try_from(standing.sessions).unwrap_or(u32::MAX)));
}

const BUSY: &str = "tidegate_relay_busy";
const LAG: &str = "tidegate_relay_lag_seconds";
const SATURATED: &str = "tidegate_relay_saturated";
const SESSIONS: &str = "tidegate_relay_sessions";
const HLS: &str = "tidegate_relay_hls_sessions";
const ADMITTED: &str = "tidegate_relay_admitted_total";
const OBSERVED: &str = "tidegate_relay_observed_total";
const REFUSED: &str = "tidegate_relay_refused_total";
const ENDED: &str = "tidegate_relay_ended_total";
const UNANSWERED: &str = "tidegate_relay_handshakes_unanswered_total";
const TURNED_AWAY: &str = "tidegate_relay_turned_away_total";
