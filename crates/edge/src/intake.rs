//! How many newcomers one second may bring: a share of the spare room (E7).
//!
//! What was admitted shows in the load a second later at the earliest. So a second gives away a quarter of what is
//! spare and no more, counts whom it admitted as load until a reading has seen them, and stops at the level.

use crate::saturation::is_over;
use crate::{EdgeSettings, Reading};

/// The room of the current second.
#[derive(Debug)]
pub(crate) struct Intake {
    /// The busy share that one session costs, once it could be measured.
    cost: Option<f64>,
    /// The busy share of the last seconds, the newest first in weight.
    average: f64,
    /// Newcomers that may still come before the next reading.
    left: u32,
    /// Sessions let in since the last reading.
    joined: u32,
}

impl Intake {
    pub(crate) const fn new(settings: &EdgeSettings) -> Self {
        Self { cost: None, average: 0.0, left: settings.burst, joined: 0 }
    }

    /// Whether there is room for one newcomer.
    pub(crate) const fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Counts a session that was let in, whoever it is: it is load.
    pub(crate) const fn join(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.joined = self.joined.saturating_add(1);
    }

    /// What the sessions of the last reading that are still open take, if that is known.
    pub(crate) fn load_of(&self, open: usize) -> Option<f64> {
        Some(self.cost? * count(open))
    }

    /// Takes a second's reading: `handshakes` is the part of it that went into handshakes, which is kept out of
    /// what a session costs. Answers the busy share that is left below the level.
    pub(crate) fn handle_reading(
        &mut self,
        reading: &Reading,
        open: usize,
        handshakes: f64,
        settings: &EdgeSettings,
    ) -> f64 {
        let busy = reading.busy.share();
        self.average += (busy - self.average) * SMOOTHING;
        let joined = f64::from(std::mem::take(&mut self.joined));
        let settled = (count(open) - joined).max(0.0);
        let enough = settled >= MEASURABLE && busy >= VISIBLE;
        if enough && handshakes < busy {
            // In a crowd the cost of its handshakes is being learned, too: what a session costs hardly moves.
            let trust = if handshakes < VISIBLE { 1.0 } else { CROWDED };
            self.learn((busy - handshakes) / (settled + joined / 2.0), trust);
        }
        let level = settings.level.share();
        // A single quiet second between two busy ones is no room.
        let spare = (level - busy.max(self.average)).max(0.0);
        let unmeasured = f64::from(settings.burst) * spare / level - joined;
        let given = match self.cost {
            Some(cost) if enough => (spare / cost - joined) * settings.share,
            Some(cost) => unmeasured.min((spare / cost - joined) * settings.share),
            None => unmeasured,
        };
        let is_over = is_over(reading, settings.level);
        self.left = if is_over { 0 } else { whole(given).max(1) };
        if is_over { 0.0 } else { spare }
    }

    /// Believes a rise at once and a fall slowly: too dear a guess costs some waiting, too cheap a one the picture.
    fn learn(&mut self, sample: f64, trust: f64) {
        let cost = self.cost.unwrap_or(sample);
        let weight = trust * if sample > cost { RISE } else { FALL };
        self.cost = Some((cost + (sample - cost) * weight).max(COST_MIN));
    }
}

fn count(sessions: usize) -> f64 {
    f64::from(u32::try_from(sessions).unwrap_or(u32::MAX))
}

fn whole(number: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to u32's range")]
    let whole = number.floor().clamp(0.0, f64::from(u32::MAX)) as u32;
    whole
}

/// Sessions that it takes to measure what one costs. Rule E7.
const MEASURABLE: f64 = 20.0;
/// Below this share of busy time the cost cannot be told from noise.
const VISIBLE: f64 = 0.02;
/// How much of what a crowded second teaches is believed.
const CROWDED: f64 = 0.1;
/// How much of a dearer, or a cheaper, second is believed.
const RISE: f64 = 0.5;
const FALL: f64 = 0.1;
/// How much one second moves the average.
const SMOOTHING: f64 = 0.5;
/// No session costs less than a millionth of the machine, so that a spare room is a number.
const COST_MIN: f64 = 1e-6;
