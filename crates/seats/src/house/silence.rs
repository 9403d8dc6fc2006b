//! Whose time is over: silence, lapsed offers, and outages that nobody is blamed for (S3, S5, S18, D2).

use std::time::{Duration, Instant};

use super::House;
use crate::deadlines::Tick;
use crate::entries::{Entry, Place, Slot};
use crate::{Arrival, Departure, Now, Swept, retry};

impl House {
    /// The tick: call it at least once a second, and again at once while it says [`Swept::More`].
    ///
    /// Three seconds without a tick are an outage, and nothing expires before a full period after it (D2).
    pub fn handle_timeout(&mut self, now: Now) -> Swept {
        let tick = self.forgive_an_outage(now);
        self.last_tick = self.last_tick.max(tick);
        let forgotten = self.departed.forget_until(tick, SWEEP);
        match self.sweep(tick, now) {
            Swept::Done if forgotten => Swept::Done,
            Swept::Done | Swept::More => Swept::More,
        }
    }

    /// Holds the time until now against nobody: for a store that cannot write what would end (D2). Nothing ends
    /// before a full period has passed from here.
    pub fn forgive(&mut self, now: Now) {
        self.forgiven = self.tick(now);
    }

    /// The earliest moment at which something may be due; a tick is due each second all the same.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.next().map(|tick| self.origin + Duration::from_millis(tick.0))
    }

    /// Ends what is due, so that a late tick never changes an answer.
    pub(super) fn catch_up(&mut self, now: Now) -> Tick {
        let tick = self.forgive_an_outage(now);
        self.sweep(tick, now);
        tick
    }

    /// Notes a sign of life: the entry's time begins anew.
    pub(super) fn heard(&mut self, slot: Slot, tick: Tick) {
        self.set_due(slot, tick.after(self.period_of(self.entries.get(slot))));
    }

    pub(super) fn set_due(&mut self, slot: Slot, due: Tick) {
        let entry = self.entries.get_mut(slot);
        entry.due = due;
        if due < entry.alarm {
            entry.alarm = due;
            self.deadlines.set(due, slot);
        }
    }

    /// When an entry ends; an outage pushes it to a full period after the outage's end.
    pub(super) fn due_of(&self, entry: &Entry) -> Tick {
        match entry.place {
            Place::OfferedFrozen { .. } => Tick::NEVER,
            Place::Waiting { .. } | Place::Offered | Place::Seated => {
                entry.due.max(self.forgiven.after(self.period_of(entry)))
            }
        }
    }

    fn period_of(&self, entry: &Entry) -> Duration {
        let settings = &self.settings;
        match entry.place {
            Place::Waiting { retry_ms, .. } => {
                let silence = if entry.hidden { settings.place_silence_hidden } else { settings.place_silence };
                silence.max(Duration::from_millis(retry::LAPSE_IN_RETRIES * u64::from(retry_ms)))
            }
            Place::Offered | Place::OfferedFrozen { .. } => settings.offer,
            Place::Seated if entry.hidden => settings.seat_silence_hidden,
            Place::Seated => settings.seat_silence,
        }
    }

    fn forgive_an_outage(&mut self, now: Now) -> Tick {
        let tick = self.tick(now);
        if self.is_outage(tick) {
            self.forgiven = tick;
        }
        tick
    }

    /// While an outage lasts, nobody's time is over (D2).
    pub(super) fn is_outage(&self, tick: Tick) -> bool {
        tick > self.last_tick.after(OUTAGE)
    }

    /// Ends up to [`SWEEP`] entries, in the order of their deadlines, then of their coming.
    fn sweep(&mut self, tick: Tick, now: Now) -> Swept {
        let mut over: Vec<(Tick, Arrival, Slot)> = Vec::new();
        let mut swept = Swept::More;
        for _ in 0..SWEEP {
            let Some((at, slot)) = self.deadlines.pop_due(tick) else {
                swept = Swept::Done;
                break;
            };
            let Some(entry) = self.entries.try_get(slot).filter(|entry| entry.alarm == at) else { continue };
            let due = self.due_of(entry);
            if due <= tick {
                over.push((due, entry.arrival, slot));
                continue;
            }
            self.entries.get_mut(slot).alarm = due;
            if due != Tick::NEVER {
                self.deadlines.set(due, slot);
            }
        }
        over.sort_unstable();
        // Whoever got the slot of an entry that went within the same millisecond has two alarms of one time.
        over.dedup();
        for (_, _, slot) in over {
            self.remove_entry(slot, Departure::Expired, now);
        }
        swept
    }
}

/// Without a tick for longer than this, the time is an outage's. Rule D2.
const OUTAGE: Duration = Duration::from_secs(3);
/// Alarms looked at in one call, so that a mass lapse never holds up one answer for long.
const SWEEP: usize = 1_024;
