//! How many handshakes may begin, so that refusals alone cannot saturate a relay (E7).
//!
//! A refused viewer costs a handshake and comes again. A quarter of the time that the work threads have to spare goes
//! into handshakes, and 4 % of all of it where they have none; one that may not begin yet waits. Who stands behind a
//! handshake is not known before it is done, so this waiting is the same for all of them.

use std::time::{Duration, Instant};

use crate::Reading;

/// The rate of handshakes, and what one costs.
#[derive(Debug)]
pub(crate) struct Handshakes {
    /// What one costs, in seconds of all work threads together; never below what it was assumed to be.
    cost: f64,
    assumed: f64,
    /// The share of the threads' time that they may take now.
    share: f64,
    /// Begun since the last reading.
    begun: u32,
    /// How many may begin now, with a fraction.
    tokens: f64,
    counted: Instant,
}

impl Handshakes {
    pub(crate) fn new(threads: usize, now: Instant) -> Self {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX).max(1);
        let assumed = THREAD_TIME.as_secs_f64() / f64::from(threads);
        let mut fresh = Self { cost: assumed, assumed, share: SHARE, begun: 0, tokens: 0.0, counted: now };
        fresh.tokens = fresh.rate() * HOARD_S;
        fresh
    }

    /// Whether one may begin now.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.counted).as_secs_f64();
        self.counted = self.counted.max(now);
        self.tokens = (self.tokens + passed * self.rate()).min(self.rate() * HOARD_S);
        let may = self.tokens >= 1.0;
        if may {
            self.tokens -= 1.0;
            self.begun = self.begun.saturating_add(1);
        }
        may
    }

    /// The share of the last second that went into handshakes; `sessions` is what the open sessions are known to
    /// take of it, if that is known.
    pub(crate) fn handle_reading(&mut self, reading: &Reading, sessions: Option<f64>) -> f64 {
        let rate = f64::from(std::mem::take(&mut self.begun)) / reading.window.as_secs_f64().max(MOMENT_S);
        if let Some(sessions) = sessions.filter(|_| rate * self.cost >= VISIBLE) {
            let sample = (reading.busy.share() - sessions) / rate;
            let sample = sample.clamp(self.assumed, self.assumed * DEARER_MAX);
            self.cost += (sample - self.cost) * LEARNING;
        }
        rate * self.cost
    }

    /// Takes the busy share that is left below the level.
    pub(crate) fn set_spare(&mut self, spare: f64) {
        self.share = SHARE.max(spare * OF_SPARE);
    }

    /// A second's handshakes.
    fn rate(&self) -> f64 {
        (self.share / self.cost).max(RATE_MIN)
    }
}

/// The share of the work threads' time that handshakes may take in any case. Rule E7: well inside the 0.15 between
/// saturation and a full machine.
const SHARE: f64 = 0.04;
/// The part of the spare time that they may take where that is more: as much as what they lead to may take in a second,
/// so that both together leave half of it.
const OF_SPARE: f64 = 0.25;
/// Of how many seconds handshakes may begin at once.
const HOARD_S: f64 = 0.2;
/// What a handshake of TLS 1.3 over QUIC costs one thread at least: a signature, a key agreement, a dozen packets.
const THREAD_TIME: Duration = Duration::from_millis(1);
/// What it is believed to cost at most, in times of that: a slow machine, not a wrong measurement.
const DEARER_MAX: f64 = 10.0;
/// Even where they are dear, so many a second: renewals are handshakes too.
const RATE_MIN: f64 = 20.0;
/// Below this share of busy time the cost cannot be told from noise.
const VISIBLE: f64 = 0.02;
/// How much one second moves the believed cost.
const LEARNING: f64 = 0.2;
/// No window is shorter, so that a rate is a number.
const MOMENT_S: f64 = 0.001;
