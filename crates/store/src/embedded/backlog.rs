//! The rows that wait to be written, in order.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;
use tidegate_seats::{Arrival, Change, StandingRecord, StreamId};

use super::rows::Row;

/// Rows in order, each known by its number: the first one ever is 1.
#[derive(Default)]
pub(super) struct Backlog {
    rows: VecDeque<Row>,
    /// The number of the last row that was taken.
    taken: u64,
    /// The numbers with which pushes ended: what one call changed is never parted by a crash between two commits.
    ends: VecDeque<u64>,
    /// While rows are folded: the number of each entry's last row.
    latest: Option<HashMap<(StreamId, Arrival), u64, RandomState>>,
}

impl Backlog {
    /// The number of the last row.
    pub(super) fn last(&self) -> u64 {
        self.taken + self.rows.len() as u64
    }

    /// The number of the last row that was taken.
    pub(super) const fn taken(&self) -> u64 {
        self.taken
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds what one call changed.
    pub(super) fn push(&mut self, rows: impl Iterator<Item = Row>) {
        for row in rows {
            if let Some(row) = self.fold(row) {
                self.rows.push_back(row);
                self.note_last();
            }
        }
        let last = self.last();
        if last > self.ends.back().copied().unwrap_or(self.taken) {
            self.ends.push_back(last);
        }
    }

    /// Takes whole pushes: as many as have at most so many rows, but at least one. Empty when there is none.
    pub(super) fn take(&mut self, at_most: usize) -> Vec<Row> {
        let most = self.taken + at_most as u64;
        let mut end = self.taken;
        while let Some(next) = self.ends.front().copied().filter(|next| *next <= most || end == self.taken) {
            end = next;
            self.ends.pop_front();
        }
        let n = usize::try_from(end - self.taken).expect("no more rows are taken than memory holds");
        self.taken = end;
        self.rows.drain(..n).collect()
    }

    /// Puts back what was taken last; it is taken in one piece again.
    pub(super) fn put_back(&mut self, batch: Vec<Row>) {
        self.ends.push_front(self.taken);
        self.taken -= batch.len() as u64;
        for row in batch.into_iter().rev() {
            self.rows.push_front(row);
        }
    }

    /// From now on one row is kept of each entry that only goes on as it stands, so that the renewals of an outage
    /// take no more memory than there are seats.
    pub(super) fn fold_from_now(&mut self) {
        if self.latest.is_none() {
            let numbered = (self.taken + 1..).zip(&self.rows);
            self.latest = Some(numbered.filter_map(|(number, row)| Some((key_of(row)?, number))).collect());
        }
    }

    /// Keeps every row again: the usual way, which costs no look-up.
    pub(super) fn fold_no_more(&mut self) {
        self.latest = None;
    }

    /// Forgets all rows; returns how many there were.
    pub(super) fn clear(&mut self) -> usize {
        self.ends.clear();
        self.rows.drain(..).count()
    }

    /// Lets a row take the place of the same entry's older one; gives back a row that has to stand by itself.
    ///
    /// Only where the entry stands as it stood: a row that tells of a new standing must not overtake those
    /// before it, or a crash between two commits could keep a seat given and not the one freed for it.
    fn fold(&mut self, row: Row) -> Option<Row> {
        let older = self.latest.as_ref().and_then(|latest| latest.get(&key_of(&row)?).copied());
        let older = older.and_then(|number| usize::try_from(number.checked_sub(self.taken + 1)?).ok());
        match older.and_then(|index| self.rows.get_mut(index)) {
            Some(older) if standing_in(older) == standing_in(&row) => {
                *older = row;
                None
            }
            Some(_) | None => Some(row),
        }
    }

    fn note_last(&mut self) {
        let last = self.last();
        if let (Some(latest), Some(key)) = (&mut self.latest, self.rows.back().and_then(key_of)) {
            latest.insert(key, last);
        }
    }
}

fn key_of(row: &Row) -> Option<(StreamId, Arrival)> {
    match row {
        Row::Seats(Change::Entry(entry)) => Some((entry.stream.clone(), entry.arrival)),
        Row::Seats(_) | Row::Tenant { .. } | Row::Key { .. } | Row::Stream { .. } => None,
    }
}

fn standing_in(row: &Row) -> Option<StandingRecord> {
    match row {
        Row::Seats(Change::Entry(entry)) => Some(entry.standing),
        Row::Seats(_) | Row::Tenant { .. } | Row::Key { .. } | Row::Stream { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use tidegate_seats::{EntryRecord, SeatId, TurnKind};

    use super::*;

    const WAITING: StandingRecord = StandingRecord::Waiting { turn: None };

    #[test]
    fn d1_what_one_call_changed_goes_into_one_commit() {
        let mut backlog = Backlog::default();
        backlog.push([row(1, WAITING, 0), row(2, WAITING, 0)].into_iter());
        backlog.push([row(3, WAITING, 0), row(4, WAITING, 0)].into_iter());
        backlog.push([row(5, WAITING, 0)].into_iter());
        assert_eq!(arrivals(&backlog.take(3)), [1, 2]);
        assert_eq!(backlog.taken(), 2);
        // Even where one call alone is more than a commit should have.
        assert_eq!(arrivals(&backlog.take(1)), [3, 4]);
        assert_eq!(arrivals(&backlog.take(3)), [5]);
        assert!(backlog.take(3).is_empty());
    }

    #[test]
    fn d2_rows_put_back_come_again_first_and_in_one_piece() {
        let mut backlog = Backlog::default();
        backlog.push([row(1, WAITING, 0)].into_iter());
        backlog.push([row(2, WAITING, 0)].into_iter());
        let batch = backlog.take(10);
        backlog.push([row(3, WAITING, 0)].into_iter());
        backlog.put_back(batch);
        assert_eq!((backlog.taken(), backlog.last()), (0, 3));
        assert_eq!(arrivals(&backlog.take(1)), [1, 2]);
        assert_eq!(arrivals(&backlog.take(1)), [3]);
    }

    #[test]
    fn d2_an_outage_keeps_one_row_of_each_seat_that_is_renewed() {
        let mut backlog = Backlog::default();
        backlog.push([row(1, StandingRecord::Seated, 0), row(2, StandingRecord::Seated, 0)].into_iter());
        let batch = backlog.take(10);
        backlog.put_back(batch);
        backlog.fold_from_now();
        for token_until in 1..=100 {
            backlog.push([row(1, StandingRecord::Seated, token_until)].into_iter());
            backlog.push([row(7, StandingRecord::Seated, token_until)].into_iter());
        }
        let rows = backlog.take(10);
        assert_eq!(arrivals(&rows), [1, 2, 7]);
        assert_eq!((token_until(&rows[0]), token_until(&rows[2])), (100, 100));
    }

    #[test]
    fn d1_a_new_standing_never_overtakes_what_came_before_it() {
        let mut backlog = Backlog::default();
        let offered = StandingRecord::Waiting { turn: Some(TurnKind::Offer) };
        backlog.fold_from_now();
        backlog.push([row(1, WAITING, 0)].into_iter());
        backlog.push([row(2, WAITING, 0)].into_iter());
        backlog.push([row(1, offered, 0)].into_iter());
        backlog.push([row(1, offered, 9)].into_iter());
        let rows = backlog.take(10);
        assert_eq!(arrivals(&rows), [1, 2, 1]);
        assert_eq!(token_until(&rows[2]), 9);
    }

    fn row(arrival: u64, standing: StandingRecord, token_until: u64) -> Row {
        Row::Seats(Change::Entry(EntryRecord {
            arrival: Arrival(arrival),
            stream: StreamId::parse("s").unwrap(),
            seat: SeatId::from_random([0; 16]),
            nonce: None,
            viewer: None,
            standing,
            since: 0,
            hidden: false,
            hls: false,
            token_until,
        }))
    }

    fn arrivals(rows: &[Row]) -> Vec<u64> {
        rows.iter().map(|row| entry(row).arrival.0).collect()
    }

    fn token_until(row: &Row) -> u64 {
        entry(row).token_until
    }

    fn entry(row: &Row) -> &EntryRecord {
        let Row::Seats(Change::Entry(entry)) = row else { panic!("only entries here") };
        entry
    }
}
