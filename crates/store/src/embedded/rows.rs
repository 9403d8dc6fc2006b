//! What is kept of each change, and how it is written.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rusqlite::{CachedStatement, Connection, OptionalExtension, named_params, params};
use tidegate_seats::{
    Change, DepartedRecord, Departure, EntryRecord, StandingRecord, StreamId, StreamRecord, TenantId, TurnKind,
};

use crate::{KeyDigest, TenantSettings};

/// One change on its way to the file.
#[derive(Clone, Debug)]
pub(super) enum Row {
    /// The tenant's settings are now these.
    Tenant { id: TenantId, settings: TenantSettings },
    /// The key opens the tenant; with `only`, no other does.
    Key { tenant: TenantId, digest: KeyDigest, only: bool },
    /// The stream's row is now this.
    Stream { tenant: TenantId, record: StreamRecord },
    /// Any other change of a house.
    Seats(Change),
}

impl Row {
    /// Gives a house's change its tenant's name where the row needs it.
    pub(super) fn of(tenant: &TenantId, change: Change) -> Self {
        if let Change::Stream(record) = change {
            Self::Stream { tenant: tenant.clone(), record }
        } else {
            Self::Seats(change)
        }
    }
}

/// Each stream's number in the file.
pub(super) type Numbers = HashMap<StreamId, i64, RandomState>;

/// Writes rows within one transaction.
///
/// The two statements of every seat given and freed are looked up once for all rows; the others are rare.
pub(super) struct Pen<'c> {
    conn: &'c Connection,
    put_entry: CachedStatement<'c>,
    drop_entry: CachedStatement<'c>,
    put_departed: CachedStatement<'c>,
    peaks: HashMap<i64, u32, RandomState>,
}

impl<'c> Pen<'c> {
    pub(super) fn new(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            conn,
            put_entry: conn.prepare_cached("REPLACE INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?,
            drop_entry: conn.prepare_cached("DELETE FROM entries WHERE stream = ?1 AND arrival = ?2")?,
            put_departed: conn.prepare_cached("INSERT INTO departed VALUES (?1, ?2, ?3, ?4)")?,
            peaks: HashMap::default(),
        })
    }

    /// Writes one row. A row of a stream that was deleted meanwhile has nowhere to go and is passed over.
    pub(super) fn write(&mut self, row: &Row, numbers: &mut Numbers) -> rusqlite::Result<()> {
        match row {
            Row::Tenant { id, settings } => self.put_tenant(id, settings),
            Row::Key { tenant, digest, only } => self.put_key(tenant, digest, *only),
            Row::Stream { tenant, record } => {
                numbers.insert(record.id.clone(), self.put_stream(tenant, record)?);
                Ok(())
            }
            Row::Seats(change) => self.write_change(change, numbers),
        }
    }

    /// Writes what was saved up for the end: of many rises of a peak only the last one matters.
    pub(super) fn finish(self) -> rusqlite::Result<()> {
        let mut raise = self.conn.prepare_cached("UPDATE streams SET peak = max(peak, ?2) WHERE number = ?1")?;
        for (number, peak) in &self.peaks {
            raise.execute(params![number, peak])?;
        }
        Ok(())
    }

    fn write_change(&mut self, change: &Change, numbers: &mut Numbers) -> rusqlite::Result<()> {
        match change {
            Change::Entry(entry) => match numbers.get(&entry.stream) {
                Some(number) => self.put_entry(*number, entry),
                None => Ok(()),
            },
            Change::Departed { arrival, departed } => match numbers.get(&departed.stream) {
                Some(number) => {
                    self.drop_entry.execute(params![number, arrival.0.cast_signed()])?;
                    self.put_departed(*number, departed)
                }
                None => Ok(()),
            },
            Change::Remembered(departed) => match numbers.get(&departed.stream) {
                Some(number) => self.put_departed(*number, departed),
                None => Ok(()),
            },
            Change::ViewerKicked { stream, viewer, until } => self.put_kicked(stream, viewer, *until),
            Change::Peak { stream, peak } => {
                if let Some(number) = numbers.get(stream) {
                    self.peaks.insert(*number, *peak);
                }
                Ok(())
            }
            Change::EntriesCleared { stream } => self.clear_entries(stream),
            Change::StreamDeleted(stream) => {
                self.delete_stream(stream)?;
                numbers.remove(stream);
                Ok(())
            }
            // A tenant's limits are part of its settings, whose row the catalogue writes beside this.
            Change::Stream(_) | Change::Limits(_) => Ok(()),
        }
    }

    fn put_entry(&mut self, number: i64, entry: &EntryRecord) -> rusqlite::Result<()> {
        self.put_entry.execute(params![
            number,
            entry.arrival.0.cast_signed(),
            entry.seat.bytes(),
            entry.nonce.as_ref().map(|nonce| nonce.0),
            entry.viewer,
            standing_number(entry.standing),
            seconds(entry.since),
            entry.hidden,
            entry.hls,
            seconds(entry.token_until),
        ])?;
        Ok(())
    }

    fn put_departed(&mut self, number: i64, departed: &DepartedRecord) -> rusqlite::Result<()> {
        let why = departure_number(departed.why);
        self.put_departed.execute(params![number, departed.seat.bytes(), why, seconds(departed.until)])?;
        Ok(())
    }

    fn put_kicked(&self, stream: &StreamId, viewer: &str, until: u64) -> rusqlite::Result<()> {
        let sql = "REPLACE INTO kicked_viewers SELECT number, ?2, ?3 FROM streams WHERE id = ?1";
        self.conn.prepare_cached(sql)?.execute(params![stream.as_str(), viewer, seconds(until)])?;
        Ok(())
    }

    fn put_tenant(&self, id: &TenantId, settings: &TenantSettings) -> rusqlite::Result<()> {
        let TenantSettings { name, viewer_cap, max_sessions, publishers } = settings;
        let mut put = self.conn.prepare_cached("REPLACE INTO tenants VALUES (?1, ?2, ?3, ?4, ?5)")?;
        put.execute(params![id.as_str(), name, viewer_cap, max_sessions, publishers])?;
        Ok(())
    }

    fn put_key(&self, tenant: &TenantId, digest: &KeyDigest, only: bool) -> rusqlite::Result<()> {
        if only {
            self.conn.execute("DELETE FROM tenant_keys WHERE tenant = ?1", [tenant.as_str()])?;
        }
        self.conn.execute("REPLACE INTO tenant_keys VALUES (?1, ?2)", params![digest, tenant.as_str()])?;
        Ok(())
    }

    fn put_stream(&self, tenant: &TenantId, record: &StreamRecord) -> rusqlite::Result<i64> {
        let settings = &record.settings;
        self.conn.prepare_cached(PUT_STREAM)?.query_row(
            named_params! {
                ":id": record.id.as_str(),
                ":tenant": tenant.as_str(),
                ":name": settings.name,
                ":viewer_cap": settings.viewer_cap,
                ":queue_max": settings.queue_max,
                ":public": settings.public,
                ":region": settings.region,
                ":estimate": settings.estimate,
                ":created_at": seconds(record.created_at),
                ":ended_at": record.ended_at.map(seconds),
                ":ingest_token_at": record.ingest_token_at.map(seconds),
                ":peak": record.peak,
            },
            |row| row.get(0),
        )
    }

    fn clear_entries(&self, stream: &StreamId) -> rusqlite::Result<()> {
        if let Some(number) = number_of(self.conn, stream)? {
            self.conn.execute("DELETE FROM entries WHERE stream = ?1", [number])?;
        }
        Ok(())
    }

    /// Rows of `departed` stay until their time is over: they name nothing any more, and finding them needs a scan.
    fn delete_stream(&self, stream: &StreamId) -> rusqlite::Result<()> {
        if let Some(number) = number_of(self.conn, stream)? {
            self.conn.execute("DELETE FROM entries WHERE stream = ?1", [number])?;
            self.conn.execute("DELETE FROM kicked_viewers WHERE stream = ?1", [number])?;
            self.conn.execute("DELETE FROM streams WHERE number = ?1", [number])?;
        }
        Ok(())
    }
}

/// Deletes at most `at_most` departures and as many names whose time is over; returns whether more may be left.
pub(super) fn purge(conn: &Connection, unix_s: u64, at_most: usize) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM departed WHERE rowid IN (SELECT rowid FROM departed WHERE until < ?1 LIMIT ?2)";
    let departed = conn.prepare_cached(sql)?.execute(params![seconds(unix_s), at_most.min(1 << 20) as i64])?;
    // Names are few: only backends kick by name.
    conn.prepare_cached("DELETE FROM kicked_viewers WHERE until < ?1")?.execute([seconds(unix_s)])?;
    Ok(departed >= at_most)
}

fn number_of(conn: &Connection, stream: &StreamId) -> rusqlite::Result<Option<i64>> {
    let mut number = conn.prepare_cached("SELECT number FROM streams WHERE id = ?1")?;
    number.query_row([stream.as_str()], |row| row.get(0)).optional()
}

/// Unix seconds as SQLite counts; a time beyond its range means "for ever".
fn seconds(unix_s: u64) -> i64 {
    i64::try_from(unix_s).unwrap_or(i64::MAX)
}

const fn standing_number(standing: StandingRecord) -> i64 {
    match standing {
        StandingRecord::Waiting { turn: None } => 0,
        StandingRecord::Waiting { turn: Some(TurnKind::Offer) } => 1,
        StandingRecord::Waiting { turn: Some(TurnKind::Hold) } => 2,
        StandingRecord::Offered => 3,
        StandingRecord::Seated => 4,
    }
}

/// Reads what [`standing_number`] wrote.
pub(super) const fn standing_of(number: i64) -> Option<StandingRecord> {
    match number {
        0 => Some(StandingRecord::Waiting { turn: None }),
        1 => Some(StandingRecord::Waiting { turn: Some(TurnKind::Offer) }),
        2 => Some(StandingRecord::Waiting { turn: Some(TurnKind::Hold) }),
        3 => Some(StandingRecord::Offered),
        4 => Some(StandingRecord::Seated),
        _ => None,
    }
}

const fn departure_number(why: Departure) -> i64 {
    match why {
        Departure::Expired => 0,
        Departure::Left => 1,
        Departure::Kicked => 2,
    }
}

/// Reads what [`departure_number`] wrote.
pub(super) const fn departure_of(number: i64) -> Option<Departure> {
    match number {
        0 => Some(Departure::Expired),
        1 => Some(Departure::Left),
        2 => Some(Departure::Kicked),
        _ => None,
    }
}

const PUT_STREAM: &str = "
INSERT INTO streams (id, tenant, name, viewer_cap, queue_max, public, region, estimate, created_at, ended_at,
                     ingest_token_at, peak)
VALUES (:id, :tenant, :name, :viewer_cap, :queue_max, :public, :region, :estimate, :created_at, :ended_at,
        :ingest_token_at, :peak)
ON CONFLICT (id) DO UPDATE SET
    tenant = excluded.tenant, name = excluded.name, viewer_cap = excluded.viewer_cap,
    queue_max = excluded.queue_max, public = excluded.public, region = excluded.region,
    estimate = excluded.estimate, created_at = excluded.created_at, ended_at = excluded.ended_at,
    ingest_token_at = excluded.ingest_token_at, peak = excluded.peak
RETURNING number";
