//! Reads back everything that the file keeps.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::FromSql;
use rusqlite::{Connection, Row as SqlRow};
use tidegate_seats::{
    Arrival, DepartedRecord, EntryRecord, HouseRecord, NonceHash, SeatId, StreamId, StreamRecord, StreamSettings,
    TenantId, TenantLimits,
};

use super::rows::{Numbers, departure_of, standing_of};
use crate::{KeyDigest, TenantSettings};

/// Everything that was kept.
pub(super) struct Kept {
    /// Names this file: a store that lost its memory has another.
    pub(super) epoch: String,
    /// When its memory began, Unix seconds (T5).
    pub(super) birth: u64,
    /// The tenants, by id.
    pub(super) tenants: Vec<KeptTenant>,
    /// Each stream's number in the file.
    pub(super) numbers: Numbers,
}

/// One tenant.
pub(super) struct KeptTenant {
    pub(super) settings: TenantSettings,
    pub(super) keys: Vec<KeyDigest>,
    pub(super) house: HouseRecord,
}

/// Why the file could not be read.
pub(super) enum LoadError {
    /// SQLite's word.
    Sqlite(rusqlite::Error),
    /// A value that was never written here.
    Damaged(String),
}

impl From<rusqlite::Error> for LoadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Reads the whole file; departures and blocked names whose time is over by `unix_s` stay behind.
pub(super) fn load(conn: &Connection, unix_s: u64) -> Result<Kept, LoadError> {
    let birth: i64 = meta(conn, "birth")?;
    let birth = u64::try_from(birth).map_err(|_| damaged("meta", "birth", birth))?;
    let mut reader = Reader { conn, unix_s: count(unix_s), tenants: BTreeMap::new(), streams: HashMap::new() };
    reader.read_tenants(birth)?;
    reader.read_keys()?;
    reader.read_streams()?;
    reader.read_entries()?;
    reader.read_departed()?;
    reader.read_kicked()?;
    Ok(Kept {
        epoch: meta(conn, "epoch")?,
        birth,
        numbers: reader.streams.into_iter().map(|(number, (id, _))| (id, number)).collect(),
        tenants: reader.tenants.into_values().collect(),
    })
}

struct Reader<'c> {
    conn: &'c Connection,
    unix_s: i64,
    tenants: BTreeMap<TenantId, KeptTenant>,
    streams: HashMap<i64, (StreamId, TenantId)>,
}

impl Reader<'_> {
    fn read_tenants(&mut self, birth: u64) -> Result<(), LoadError> {
        let mut select = self.conn.prepare("SELECT id, name, viewer_cap, max_sessions, publishers FROM tenants")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let id = tenant_id(row, "id")?;
            let settings = TenantSettings {
                name: row.get("name")?,
                viewer_cap: row.get("viewer_cap")?,
                max_sessions: row.get("max_sessions")?,
                publishers: row.get("publishers")?,
            };
            let limits = TenantLimits { viewer_cap: settings.viewer_cap };
            let house = empty_house(id.clone(), limits, birth);
            self.tenants.insert(id, KeptTenant { settings, keys: Vec::new(), house });
        }
        Ok(())
    }

    fn read_keys(&mut self) -> Result<(), LoadError> {
        let mut select = self.conn.prepare("SELECT digest, tenant FROM tenant_keys ORDER BY digest")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let digest = row.get("digest")?;
            self.tenant(&tenant_id(row, "tenant")?)?.keys.push(digest);
        }
        Ok(())
    }

    fn read_streams(&mut self) -> Result<(), LoadError> {
        let mut select = self.conn.prepare("SELECT * FROM streams ORDER BY number")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let tenant = tenant_id(row, "tenant")?;
            let record = stream_record(row)?;
            self.streams.insert(row.get("number")?, (record.id.clone(), tenant.clone()));
            self.tenant(&tenant)?.house.streams.push(record);
        }
        Ok(())
    }

    fn read_entries(&mut self) -> Result<(), LoadError> {
        let mut select = self.conn.prepare("SELECT * FROM entries ORDER BY stream, arrival")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get("stream")?;
            let (stream, tenant) = self.stream(number).ok_or_else(|| damaged("entries", "stream", number))?;
            let entry = entry_record(row, stream)?;
            self.tenant(&tenant)?.house.entries.push(entry);
        }
        Ok(())
    }

    /// The rows of a stream that was deleted wait here for their time: they name nothing any more.
    fn read_departed(&mut self) -> Result<(), LoadError> {
        let mut select = self.conn.prepare("SELECT * FROM departed WHERE until >= ?1 ORDER BY rowid")?;
        let mut rows = select.query([self.unix_s])?;
        while let Some(row) = rows.next()? {
            let Some((stream, tenant)) = self.stream(row.get("stream")?) else { continue };
            let why = row.get("why")?;
            let departed = DepartedRecord {
                stream,
                seat: SeatId::from_random(row.get("seat")?),
                why: departure_of(why).ok_or_else(|| damaged("departed", "why", why))?,
                until: unsigned(row, "until")?,
            };
            self.tenant(&tenant)?.house.departed.push(departed);
        }
        Ok(())
    }

    fn read_kicked(&mut self) -> Result<(), LoadError> {
        let mut select = self.conn.prepare("SELECT * FROM kicked_viewers WHERE until >= ?1")?;
        let mut rows = select.query([self.unix_s])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get("stream")?;
            let (stream, tenant) = self.stream(number).ok_or_else(|| damaged("kicked_viewers", "stream", number))?;
            let kicked = (stream, row.get("viewer")?, unsigned(row, "until")?);
            self.tenant(&tenant)?.house.kicked_viewers.push(kicked);
        }
        Ok(())
    }

    fn stream(&self, number: i64) -> Option<(StreamId, TenantId)> {
        self.streams.get(&number).cloned()
    }

    fn tenant(&mut self, id: &TenantId) -> Result<&mut KeptTenant, LoadError> {
        self.tenants.get_mut(id).ok_or_else(|| LoadError::Damaged(format!("rows of an unknown tenant {id}")))
    }
}

/// A house in which nothing has happened yet.
pub(super) const fn empty_house(tenant: TenantId, limits: TenantLimits, birth: u64) -> HouseRecord {
    HouseRecord {
        tenant,
        limits,
        birth,
        streams: Vec::new(),
        entries: Vec::new(),
        departed: Vec::new(),
        kicked_viewers: Vec::new(),
    }
}

fn stream_record(row: &SqlRow<'_>) -> Result<StreamRecord, LoadError> {
    let id: String = row.get("id")?;
    Ok(StreamRecord {
        id: StreamId::parse(&id).ok_or_else(|| damaged("streams", "id", &id))?,
        settings: StreamSettings {
            name: row.get("name")?,
            viewer_cap: row.get("viewer_cap")?,
            queue_max: row.get("queue_max")?,
            public: row.get("public")?,
            region: row.get("region")?,
            estimate: row.get("estimate")?,
        },
        created_at: unsigned(row, "created_at")?,
        ended_at: optional_unsigned(row, "ended_at")?,
        ingest_token_at: optional_unsigned(row, "ingest_token_at")?,
        peak: row.get("peak")?,
    })
}

fn entry_record(row: &SqlRow<'_>, stream: StreamId) -> Result<EntryRecord, LoadError> {
    let standing = row.get("standing")?;
    Ok(EntryRecord {
        arrival: Arrival(unsigned(row, "arrival")?),
        stream,
        seat: SeatId::from_random(row.get("seat")?),
        nonce: row.get::<_, Option<[u8; 16]>>("nonce")?.map(NonceHash),
        viewer: row.get("viewer")?,
        standing: standing_of(standing).ok_or_else(|| damaged("entries", "standing", standing))?,
        since: unsigned(row, "since")?,
        hidden: row.get("hidden")?,
        hls: row.get("hls")?,
        token_until: unsigned(row, "token_until")?,
    })
}

fn tenant_id(row: &SqlRow<'_>, column: &str) -> Result<TenantId, LoadError> {
    let text: String = row.get(column)?;
    TenantId::parse(&text).ok_or_else(|| damaged("tenants", column, &text))
}

fn unsigned(row: &SqlRow<'_>, column: &str) -> Result<u64, LoadError> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| damaged("a row", column, value))
}

fn optional_unsigned(row: &SqlRow<'_>, column: &str) -> Result<Option<u64>, LoadError> {
    let value: Option<i64> = row.get(column)?;
    value.map(|value| u64::try_from(value).map_err(|_| damaged("a row", column, value))).transpose()
}

fn meta<T: FromSql>(conn: &Connection, key: &str) -> Result<T, LoadError> {
    Ok(conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))?)
}

fn count(unix_s: u64) -> i64 {
    i64::try_from(unix_s).unwrap_or(i64::MAX)
}

fn damaged(table: &str, column: &str, value: impl std::fmt::Display) -> LoadError {
    LoadError::Damaged(format!("{table}: {column} is {value}"))
}
