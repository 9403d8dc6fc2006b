//! Who gets a free seat (S5, S7, S10, S11, S13).

use tidegate_seats::{StreamId, TurnKind};

use super::{Place, Reference};

impl Reference {
    /// Keeps each free seat for the longest-waiting place that has nothing kept for it yet.
    pub(super) fn deal(&mut self, kind: TurnKind) {
        while !self.spend_capped && self.used_by_tenant() < self.tenant_cap {
            let next = self.entries.iter().position(|entry| {
                entry.place == Place::Waiting(None) && self.used(&entry.stream) < self.cap(&entry.stream)
            });
            match next {
                Some(index) => self.entries[index].place = Place::Waiting(Some(kind)),
                None => return,
            }
        }
    }

    /// Takes back what nobody was told of yet, from the latest comer on, until the caps hold or nothing is left (S10).
    pub(super) fn withdraw_over_caps(&mut self) {
        let streams: Vec<StreamId> = self.streams.iter().map(|record| record.id.clone()).collect();
        for stream in streams {
            while self.used(&stream) > self.cap(&stream) && self.withdraw_last(Some(&stream)) {}
        }
        while self.used_by_tenant() > self.tenant_cap && self.withdraw_last(None) {}
    }

    fn withdraw_last(&mut self, stream: Option<&StreamId>) -> bool {
        let last = self.entries.iter_mut().rev().find(|entry| {
            matches!(entry.place, Place::Waiting(Some(_))) && stream.is_none_or(|stream| entry.stream == *stream)
        });
        match last {
            Some(entry) => {
                entry.place = Place::Waiting(None);
                true
            }
            None => false,
        }
    }
}
