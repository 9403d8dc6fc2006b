//! A tenant's streams and caps: the machine that answers.
//!
//! ```text
//!              ask                    told            join
//!   newcomer ──────▶ waiting ─(turn)─────▶ offered ────────▶ seated ──▶ gone (left, kicked, silent)
//!      └──(free seat, nobody waits without a turn)─────────────▲
//! ```

mod admission;
mod silence;
mod spend;
mod streams;
mod turns;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use foldhash::quality::RandomState;

use crate::deadlines::{Deadlines, Tick};
use crate::departed::Departed;
use crate::entries::{Entries, Entry, Place, Slot, StreamNo};
use crate::line::Ticket;
use crate::stream::Stream;
use crate::{
    Arrival, Change, DepartedRecord, Departure, EntryRecord, HouseRecord, Now, SeatSettings, StandingRecord, StreamId,
    TenantId, TenantLimits, TurnKind, retry,
};

/// One tenant's streams, their seats and lines, and the caps over them.
///
/// Every `handle_*` first ends what is due by `now`, so a late timer never changes an answer. What must outlive
/// the process is collected as [`Change`]s, in order, for [`House::take_changes`]; an answer may be given to its
/// asker once they are durable (D1). It never blocks, and memory follows the living entries plus at most
/// [`SeatSettings::departures_max`] remembered departures.
#[derive(Clone, Debug)]
pub struct House {
    tenant: TenantId,
    limits: TenantLimits,
    birth: u64,
    settings: SeatSettings,
    spend_capped: bool,
    origin: Instant,
    last_tick: Tick,
    /// The end of the last outage: no deadline is earlier than a full period after it (D2).
    forgiven: Tick,
    stream_numbers: HashMap<StreamId, StreamNo, RandomState>,
    streams: BTreeMap<StreamNo, Stream>,
    entries: Entries,
    deadlines: Deadlines,
    departed: Departed,
    next_stream: u32,
    next_arrival: u64,
    /// Seats, offers and holds over all streams (S13).
    used: u32,
    /// Streams with a free seat and somebody who waits for one: none, unless the tenant is at its cap (S13).
    hungry: BTreeSet<StreamNo>,
    changes: Vec<Change>,
}

impl House {
    /// Rebuilds a house from a store's rows; with none, a new one. Everybody gets a full fresh period (D1).
    #[must_use]
    pub fn restore(record: HouseRecord, settings: SeatSettings, now: Now) -> Self {
        let mut house = Self {
            tenant: record.tenant,
            limits: record.limits,
            birth: record.birth,
            settings,
            spend_capped: false,
            origin: now.at,
            last_tick: Tick::default(),
            forgiven: Tick::default(),
            stream_numbers: HashMap::default(),
            streams: BTreeMap::new(),
            entries: Entries::default(),
            deadlines: Deadlines::default(),
            departed: Departed::default(),
            next_stream: 0,
            next_arrival: 1,
            used: 0,
            hungry: BTreeSet::new(),
            changes: Vec::new(),
        };
        for stream in record.streams {
            house.add_stream(stream);
        }
        let mut entries = record.entries;
        entries.sort_by_key(|entry| entry.arrival);
        for entry in entries {
            house.restore_entry(entry);
        }
        for departed in record.departed {
            house.restore_departure(&departed, now);
        }
        for (stream, viewer, until) in record.kicked_viewers {
            if let Some(no) = house.stream_numbers.get(&stream).copied() {
                let until = house.tick_of(until, now);
                house.departed.block_viewer(no, &viewer, until);
            }
        }
        house.allot_everywhere(TurnKind::Offer);
        house
    }

    fn restore_entry(&mut self, record: EntryRecord) {
        let Some((no, stream)) =
            self.stream_numbers.get(&record.stream).and_then(|no| Some((*no, self.streams.get_mut(no)?)))
        else {
            return;
        };
        let place = match record.standing {
            StandingRecord::Waiting { turn } => {
                // Turns belong to the head of the line; a row that says otherwise loses its turn, not its place.
                let turn = turn.filter(|_| stream.turnless() == 0);
                let ahead = stream.line.len();
                Place::Waiting { turn, retry_ms: millis_u32(retry::of_a_place(position_behind(ahead), record.seat).0) }
            }
            StandingRecord::Offered => Place::Offered,
            StandingRecord::Seated => Place::Seated,
        };
        let entry = Entry {
            seat: record.seat,
            nonce: record.nonce,
            arrival: record.arrival,
            stream: no,
            place,
            ticket: Ticket::default(),
            due: Tick::NEVER,
            alarm: Tick::NEVER,
            since: seconds_u32(record.since),
            token_until: seconds_u32(record.token_until),
            hidden: record.hidden,
            hls: record.hls,
        };
        self.next_arrival = self.next_arrival.max(record.arrival.0 + 1);
        self.add_entry(entry, record.viewer.as_deref(), Tick::default());
    }

    fn restore_departure(&mut self, departed: &DepartedRecord, now: Now) {
        if let Some(no) = self.stream_numbers.get(&departed.stream).copied() {
            let until = self.tick_of(departed.until, now);
            self.departed.remember(no, departed.seat, departed.why, until, self.settings.departures_max);
        }
    }

    /// Whose house this is.
    #[must_use]
    pub const fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Seats, offers and holds in use over all streams (S13, S23).
    #[must_use]
    pub const fn seats_used(&self) -> u32 {
        self.used
    }

    /// Moves the times and bounds; what was promised before stays.
    pub fn set_settings(&mut self, settings: SeatSettings) {
        self.settings = settings;
    }

    /// What has to become durable since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Adds an entry wherever its place says, and counts it there.
    fn add_entry(&mut self, entry: Entry, viewer: Option<&str>, now: Tick) -> Slot {
        let (no, arrival, place) = (entry.stream, entry.arrival, entry.place);
        let (hls, token_until) = (entry.hls, entry.token_until);
        let slot = self.entries.insert(entry, viewer);
        let stream = self.stream_mut(no);
        match place {
            Place::Waiting { turn, .. } => {
                let ticket = stream.line.push_back(slot);
                stream.untold += u32::from(turn.is_some());
                self.entries.get_mut(slot).ticket = ticket;
                self.used += u32::from(turn.is_some());
            }
            Place::Offered | Place::OfferedFrozen { .. } => {
                stream.offered.insert(arrival, slot);
                self.used += 1;
            }
            Place::Seated => {
                stream.seated.insert(arrival, slot);
                stream.hls += u32::from(hls);
                stream.tokens.add(token_until);
                self.used += 1;
            }
        }
        self.heard(slot, now);
        slot
    }

    /// Takes an entry out of wherever it stands, remembers why, and passes on what was kept for it.
    fn remove_entry(&mut self, slot: Slot, why: Departure, now: Now) {
        let entry = self.entries.remove(slot);
        let stream = self.stream_mut(entry.stream);
        let freed = match entry.place {
            Place::Waiting { turn, .. } => {
                stream.line.remove(entry.ticket);
                stream.untold -= u32::from(turn.is_some());
                turn
            }
            Place::Offered | Place::OfferedFrozen { .. } => {
                stream.offered.remove(&entry.arrival);
                Some(TurnKind::Offer)
            }
            Place::Seated => {
                stream.seated.remove(&entry.arrival);
                stream.hls -= u32::from(entry.hls);
                stream.tokens.remove(entry.token_until);
                Some(TurnKind::Offer)
            }
        };
        self.used -= u32::from(freed.is_some());
        let departed = self.remember(entry.stream, entry.seat, why, now);
        self.changes.push(Change::Departed { arrival: entry.arrival, departed });
        self.allot(entry.stream, freed.unwrap_or(TurnKind::Offer));
    }

    fn remember(&mut self, no: StreamNo, seat: crate::SeatId, why: Departure, now: Now) -> DepartedRecord {
        let memory = match why {
            Departure::Kicked => self.settings.kick_block,
            Departure::Left | Departure::Expired => self.settings.departure_memory,
        };
        let until = self.tick(now).after(memory);
        self.departed.remember(no, seat, why, until, self.settings.departures_max);
        DepartedRecord { stream: self.stream_at(no).record.id.clone(), seat, why, until: now.unix_s + memory.as_secs() }
    }

    /// Notes the entry's row as it is now.
    fn entry_changed(&mut self, slot: Slot) {
        let entry = self.entries.get(slot);
        let record = entry.record(self.stream_at(entry.stream).record.id.clone(), self.entries.viewer(slot));
        self.changes.push(Change::Entry(record));
    }

    fn new_arrival(&mut self) -> Arrival {
        let arrival = Arrival(self.next_arrival);
        self.next_arrival += 1;
        arrival
    }

    fn stream_at(&self, no: StreamNo) -> &Stream {
        self.streams.get(&no).expect("a living entry's stream is there: both go together")
    }

    fn stream_mut(&mut self, no: StreamNo) -> &mut Stream {
        self.streams.get_mut(&no).expect("a living entry's stream is there: both go together")
    }

    fn tick(&self, now: Now) -> Tick {
        Tick::since(self.origin, now.at)
    }

    fn tick_of(&self, unix_s: u64, now: Now) -> Tick {
        self.tick(now).after(std::time::Duration::from_secs(unix_s.saturating_sub(now.unix_s)))
    }
}

/// The position of somebody with so many ahead.
fn position_behind(ahead: u32) -> crate::Position {
    crate::Position(std::num::NonZeroU32::MIN.saturating_add(ahead))
}

fn millis_u32(time: std::time::Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

fn seconds_u32(unix_s: u64) -> u32 {
    u32::try_from(unix_s).unwrap_or(u32::MAX)
}
