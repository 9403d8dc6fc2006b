//! The file's schema, by version.
//!
//! `application_id` says whose file it is, `user_version` which schema it has. A migration is one transaction, so
//! a process that dies in it leaves the older schema whole.

use rusqlite::{Connection, TransactionBehavior};

/// Written into the file's header: "TdGt".
pub(super) const APPLICATION_ID: u32 = 0x5464_4774;

/// The newest schema known here.
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Brings a file from `version` to the newest schema.
pub(super) fn migrate(conn: &mut Connection, version: u32) -> rusqlite::Result<()> {
    migrate_by(conn, version, MIGRATIONS)
}

fn migrate_by(conn: &mut Connection, version: u32, migrations: &[&str]) -> rusqlite::Result<()> {
    for (to, migration) in (1..).zip(migrations).skip(version as usize) {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(migration)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", to)?;
        tx.commit()?;
    }
    Ok(())
}

/// `MIGRATIONS[n]` makes schema n + 1 of schema n. Never edited once released; a change is a new one.
const MIGRATIONS: &[&str] = &[SCHEMA_1];

/// Streams are numbered so that an entry's row is short and a stream's entries lie side by side in order of
/// arrival; the numbers are never used again (`AUTOINCREMENT`), so that a late row can never fall to another stream.
/// `departed` is only appended to and purged by time: keyed by the random seat id it would touch a page per row.
const SCHEMA_1: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(16)))), ('opened', 0);

CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    viewer_cap INTEGER NOT NULL,
    max_sessions INTEGER,
    publishers INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant_keys (digest BLOB PRIMARY KEY, tenant TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE streams (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    viewer_cap INTEGER NOT NULL,
    queue_max INTEGER NOT NULL,
    public INTEGER NOT NULL,
    region TEXT,
    estimate INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    ingest_token_at INTEGER,
    peak INTEGER NOT NULL
) STRICT;

CREATE TABLE entries (
    stream INTEGER NOT NULL,
    arrival INTEGER NOT NULL,
    seat BLOB NOT NULL,
    nonce BLOB,
    viewer TEXT,
    standing INTEGER NOT NULL,
    since INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    hls INTEGER NOT NULL,
    token_until INTEGER NOT NULL,
    PRIMARY KEY (stream, arrival)
) STRICT, WITHOUT ROWID;

CREATE TABLE departed (
    stream INTEGER NOT NULL,
    seat BLOB NOT NULL,
    why INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
CREATE INDEX departed_until ON departed (until);

CREATE TABLE kicked_viewers (
    stream INTEGER NOT NULL,
    viewer TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (stream, viewer)
) STRICT, WITHOUT ROWID;
";

#[cfg(test)]
mod tests {
    use super::*;

    fn version(conn: &Connection) -> u32 {
        conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn d1_a_migration_starts_where_the_file_is_and_keeps_its_rows() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, 0).unwrap();
        assert_eq!(version(&conn), VERSION);
        conn.execute("INSERT INTO tenants VALUES ('acme', 'Acme', 200, NULL, 20)", []).unwrap();

        let later = [SCHEMA_1, "ALTER TABLE tenants ADD COLUMN spend_cap INTEGER NOT NULL DEFAULT 7"];
        migrate_by(&mut conn, 1, &later).unwrap();
        assert_eq!(version(&conn), 2);
        let kept: (String, i64) =
            conn.query_row("SELECT name, spend_cap FROM tenants", [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
        assert_eq!(kept, ("Acme".into(), 7));
    }

    #[test]
    fn d1_a_migration_that_fails_leaves_the_older_schema() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, 0).unwrap();
        let broken = [SCHEMA_1, "CREATE TABLE half (x INTEGER); SELECT nonsense FROM nowhere"];
        migrate_by(&mut conn, 1, &broken).unwrap_err();
        assert_eq!(version(&conn), 1);
        conn.execute("INSERT INTO half VALUES (1)", []).unwrap_err();
    }
}
