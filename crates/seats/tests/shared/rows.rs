//! A store in twenty lines: the rows that an engine's changes leave behind, ready for [`House::restore`].
//!
//! [`House::restore`]: tidegate_seats::House::restore

use std::collections::BTreeMap;

use tidegate_seats::{
    Arrival, Change, DepartedRecord, EntryRecord, HouseRecord, SeatId, StreamId, StreamRecord, TenantId, TenantLimits,
};

/// The rows of one house.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    tenant: TenantId,
    limits: TenantLimits,
    pub(crate) birth: u64,
    streams: BTreeMap<StreamId, StreamRecord>,
    pub(crate) entries: BTreeMap<Arrival, EntryRecord>,
    pub(crate) departed: BTreeMap<(StreamId, SeatId), DepartedRecord>,
    pub(crate) kicked_viewers: BTreeMap<(StreamId, String), u64>,
}

impl Rows {
    pub(crate) fn new(viewer_cap: u32, birth: u64) -> Self {
        Self {
            tenant: TenantId::parse("tenant").unwrap(),
            limits: TenantLimits { viewer_cap },
            birth,
            streams: BTreeMap::new(),
            entries: BTreeMap::new(),
            departed: BTreeMap::new(),
            kicked_viewers: BTreeMap::new(),
        }
    }

    /// Applies changes in their order, as a store's transaction would.
    pub(crate) fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Entry(entry) => {
                    self.entries.insert(entry.arrival, entry);
                }
                Change::Departed { arrival, departed } => {
                    self.entries.remove(&arrival);
                    self.departed.insert((departed.stream.clone(), departed.seat), departed);
                }
                Change::Remembered(departed) => {
                    self.departed.insert((departed.stream.clone(), departed.seat), departed);
                }
                Change::ViewerKicked { stream, viewer, until } => {
                    self.kicked_viewers.insert((stream, viewer), until);
                }
                Change::Stream(stream) => {
                    self.streams.insert(stream.id.clone(), stream);
                }
                Change::Peak { stream, peak } => {
                    self.streams.get_mut(&stream).expect("a peak belongs to a stream with a row").peak = peak;
                }
                Change::EntriesCleared { stream } => self.entries.retain(|_, entry| entry.stream != stream),
                Change::StreamDeleted(stream) => self.delete(&stream),
                Change::Limits(limits) => self.limits = limits,
            }
        }
    }

    fn delete(&mut self, gone: &StreamId) {
        self.streams.remove(gone);
        self.entries.retain(|_, entry| entry.stream != *gone);
        self.departed.retain(|(stream, _), _| stream != gone);
        self.kicked_viewers.retain(|(stream, _), _| stream != gone);
    }

    pub(crate) fn record(&self) -> HouseRecord {
        HouseRecord {
            tenant: self.tenant.clone(),
            limits: self.limits,
            birth: self.birth,
            streams: self.streams.values().cloned().collect(),
            // Restoring must not lean on any order, so the rows come back to front.
            entries: self.entries.values().rev().cloned().collect(),
            departed: self.departed.values().cloned().collect(),
            kicked_viewers: self
                .kicked_viewers
                .iter()
                .map(|((stream, name), until)| (stream.clone(), name.clone(), *until))
                .collect(),
        }
    }
}
