//! Silence, departures, outages and restarts.

use std::time::{Duration, Instant};

use tidegate_seats::{Arrival, Departure, Now, SeatId, StreamId, TurnKind};

use super::{Departed, Entry, Place, Reference, Until};

impl Reference {
    pub(crate) fn tick(&mut self, now: Now) {
        self.bring_up_to(now);
        self.last_tick = now.at;
    }

    /// Ends whatever is over, in the order of the deadlines, then of coming (S3, S5, S18).
    pub(super) fn bring_up_to(&mut self, now: Now) {
        self.now = now;
        if self.is_outage(now) {
            self.forgive();
        }
        let mut over: Vec<(Instant, Arrival)> = self
            .entries
            .iter()
            .filter(|entry| self.is_over(entry, now))
            .map(|entry| (entry.due, entry.arrival))
            .collect();
        over.sort();
        for (_, arrival) in over {
            self.depart(arrival, Departure::Expired);
        }
    }

    pub(super) fn is_over(&self, entry: &Entry, now: Now) -> bool {
        !matches!(entry.place, Place::Frozen(_)) && entry.due <= now.at
    }

    /// D2: three seconds without a tick.
    pub(super) fn is_outage(&self, now: Now) -> bool {
        now.at > self.last_tick + Duration::from_secs(3)
    }

    /// D2: a full period for everybody, from now.
    fn forgive(&mut self) {
        self.outage_ended = self.now.at;
        for index in 0..self.entries.len() {
            let full = self.now.at + self.period(&self.entries[index]);
            self.entries[index].due = self.entries[index].due.max(full);
        }
    }

    pub(super) fn heard(&mut self, index: usize) {
        self.entries[index].due = self.now.at + self.period(&self.entries[index]);
    }

    fn period(&self, entry: &Entry) -> Duration {
        let settings = &self.settings;
        match (entry.place, entry.hidden) {
            (Place::Seated, false) => settings.seat_silence,
            (Place::Seated, true) => settings.seat_silence_hidden,
            // Lines here are short: three retries of two seconds and a tenth are less than any silence.
            (Place::Waiting(_), false) => settings.place_silence,
            (Place::Waiting(_), true) => settings.place_silence_hidden,
            (Place::Offered | Place::Frozen(_), _) => settings.offer,
        }
    }

    pub(super) fn depart(&mut self, arrival: Arrival, why: Departure) {
        let index = self.index_of(arrival).expect("whoever departs was there");
        let entry = self.entries.remove(index);
        self.remember(&entry.stream, entry.seat, why);
        match entry.place {
            Place::Waiting(None) => {}
            Place::Waiting(Some(kind)) => self.deal(kind),
            Place::Offered | Place::Frozen(_) | Place::Seated => self.deal(TurnKind::Offer),
        }
    }

    pub(super) fn remember(&mut self, stream: &StreamId, seat: SeatId, why: Departure) {
        let memory = match why {
            Departure::Kicked => self.settings.kick_block,
            Departure::Left | Departure::Expired => self.settings.departure_memory,
        };
        self.departed.retain(|departed| departed.stream != *stream || departed.seat != seat);
        let until = self.until(memory);
        self.departed.push(Departed { stream: stream.clone(), seat, why, until });
    }

    pub(super) fn departure(&self, stream: &StreamId, seat: SeatId) -> Option<&Departed> {
        let mine = |departed: &&Departed| departed.stream == *stream && departed.seat == seat;
        self.departed.iter().filter(mine).find(|departed| departed.until.at > self.now.at)
    }

    pub(super) fn until(&self, time: Duration) -> Until {
        Until { at: self.now.at + time, unix_s: self.now.unix_s + time.as_secs() }
    }

    pub(crate) fn set_spend_capped(&mut self, capped: bool, now: Now) {
        self.bring_up_to(now);
        if capped == self.spend_capped {
            return;
        }
        self.spend_capped = capped;
        let earliest = self.outage_ended + self.settings.offer;
        for entry in &mut self.entries {
            match entry.place {
                Place::Offered if capped => entry.place = Place::Frozen(entry.due - now.at),
                Place::Frozen(left) => {
                    entry.place = Place::Offered;
                    entry.due = earliest.max(now.at + left);
                }
                Place::Waiting(_) | Place::Offered | Place::Seated => {}
            }
        }
        self.deal(TurnKind::Offer);
    }

    /// The process began again with its rows: a full fresh period for everybody (D1).
    pub(crate) fn restart(&mut self, now: Now) {
        self.now = now;
        self.last_tick = now.at;
        self.outage_ended = now.at;
        self.spend_capped = false;
        self.next_arrival = self.entries.last().map_or(1, |entry| entry.arrival.0 + 1);
        for index in 0..self.entries.len() {
            if let Place::Frozen(_) = self.entries[index].place {
                self.entries[index].place = Place::Offered;
            }
            self.heard(index);
        }
        let reread = |until: &mut Until| {
            until.at = now.at + Duration::from_secs(until.unix_s.saturating_sub(now.unix_s));
        };
        self.departed.iter_mut().for_each(|departed| reread(&mut departed.until));
        self.blocked.iter_mut().for_each(|blocked| reread(&mut blocked.until));
        self.deal(TurnKind::Offer);
    }

    /// The store lost its viewers, and its memory begins now (T5).
    pub(crate) fn lose_memory(&mut self, now: Now) {
        self.birth = now.unix_s;
        self.entries.clear();
        self.departed.clear();
        self.blocked.clear();
        self.restart(now);
    }
}
