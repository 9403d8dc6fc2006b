//! The spend cap's effect on seats (S15). What has been spent is counted elsewhere.

use std::time::Duration;

use super::{House, millis_u32};
use crate::deadlines::Tick;
use crate::entries::{Place, Slot};
use crate::{Now, TurnKind};

impl House {
    /// Sets whether the tenant is at its spend cap: then nobody new is seated, and offers' seconds stand still.
    pub fn set_spend_capped(&mut self, capped: bool, now: Now) {
        let tick = self.catch_up(now);
        if capped == self.spend_capped {
            return;
        }
        self.spend_capped = capped;
        let offered: Vec<Slot> = self.streams.values().flat_map(|stream| stream.offered.values().copied()).collect();
        for slot in offered {
            if capped { self.freeze(slot, tick) } else { self.thaw(slot, tick) }
        }
        self.allot_everywhere(TurnKind::Offer);
    }

    fn freeze(&mut self, slot: Slot, tick: Tick) {
        let left_ms = millis_u32(tick.until(self.due_of(self.entries.get(slot))));
        self.entries.get_mut(slot).place = Place::OfferedFrozen { left_ms };
    }

    fn thaw(&mut self, slot: Slot, tick: Tick) {
        let entry = self.entries.get_mut(slot);
        if let Place::OfferedFrozen { left_ms } = entry.place {
            entry.place = Place::Offered;
            self.set_due(slot, tick.after(Duration::from_millis(u64::from(left_ms))));
        }
    }
}
