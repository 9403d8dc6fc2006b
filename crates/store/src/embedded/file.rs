//! The file `seats.db`: made whole, checked before it is used, written in groups.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tracing::warn;

use super::error::OpenError;
use super::load::{self, Kept, LoadError};
use super::lock::DirLock;
use super::rows::{Numbers, Pen, Row, purge};
use super::{clock, schema};

/// The store's file, open and locked. One writer at a time has it.
pub(super) struct SeatsFile {
    conn: Connection,
    /// After a failed commit it may say what was rolled back; the same rows come again and set it right.
    numbers: Numbers,
    purge_due: Instant,
    max_bytes: Option<u64>,
    _lock: DirLock,
}

impl SeatsFile {
    /// Opens the file in `dir`, making both where there are none, and reads what it keeps.
    pub(super) fn open(dir: &Path) -> Result<(Self, Kept), OpenError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|e| OpenError::from_io(dir, &e))?;
        let lock = DirLock::take(dir)?;
        let file = dir.join(FILE);
        if file.try_exists().map_err(|e| OpenError::from_io(&file, &e))? {
            check_magic(&file)?;
        } else {
            create(dir, &file)?;
        }
        let (conn, mut kept) = open_checked(&file)?;
        let numbers = std::mem::take(&mut kept.numbers);
        Ok((Self { conn, numbers, purge_due: Instant::now(), max_bytes: None, _lock: lock }, kept))
    }

    /// Writes all rows or none of them; they have reached the disk when it returns.
    ///
    /// After an error the next call must bring the same rows again, first and in order.
    pub(super) fn commit(&mut self, rows: &[Row]) -> rusqlite::Result<()> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut pen = Pen::new(&tx)?;
        for row in rows {
            pen.write(row, &mut self.numbers)?;
        }
        pen.finish()?;
        let now = Instant::now();
        if now >= self.purge_due {
            let more = purge(&tx, clock::unix_s(), PURGE_ROWS)?;
            self.purge_due = now + if more { PURGE_AGAIN } else { PURGE_EVERY };
        }
        tx.commit()
    }

    /// Bounds the size of the file, `None` for as far as the disk goes.
    pub(super) fn limit(&mut self, max_bytes: Option<u64>) -> rusqlite::Result<()> {
        if self.max_bytes != max_bytes {
            let pages = max_bytes.map_or(MOST_PAGES, |bytes| (bytes / PAGE_BYTES).clamp(1, MOST_PAGES));
            self.conn.pragma_update(None, "max_page_count", pages.cast_signed())?;
            self.max_bytes = max_bytes;
        }
        Ok(())
    }

    /// Moves the write-ahead log into the file and closes both.
    pub(super) fn close(self) -> rusqlite::Result<()> {
        self.conn.pragma_update(None, "wal_checkpoint", "TRUNCATE")?;
        self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        self.conn.close().map_err(|(_, error)| error)
    }
}

/// Refuses what SQLite might otherwise take for an empty database or touch in looking.
fn check_magic(file: &Path) -> Result<(), OpenError> {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|f| f.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.map_err(|e| OpenError::from_io(file, &e))?;
    if start == MAGIC {
        return Ok(());
    }
    let detail = if start.is_empty() { "it is empty" } else { "it is no SQLite database" };
    Err(OpenError::NotAStore { file: file.to_owned(), detail: detail.into() })
}

/// Makes the file under another name first, so that `seats.db` is never seen half made.
fn create(dir: &Path, file: &Path) -> Result<(), OpenError> {
    set_orphans_aside(file)?;
    let new = dir.join(NEW_FILE);
    remove_if_there(&new)?;
    remove_if_there(&with_suffix(&new, "-journal"))?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
    made.map_err(|e| OpenError::from_io(&new, &e))?;
    fill(&new).map_err(|e| OpenError::from_sqlite(&new, &e))?;
    let kept = fs::rename(&new, file).and_then(|()| File::open(dir)?.sync_all());
    kept.map_err(|e| OpenError::from_io(file, &e))
}

fn fill(new: &Path) -> rusqlite::Result<()> {
    let mut conn = Connection::open_with_flags(new, FLAGS)?;
    schema::migrate(&mut conn, 0)?;
    conn.execute("INSERT INTO meta VALUES ('birth', ?1)", [clock::unix_s().cast_signed()])?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.close().map_err(|(_, error)| error)
}

/// A log whose file was deleted would be replayed into the new file as if it were its own.
fn set_orphans_aside(file: &Path) -> Result<(), OpenError> {
    for suffix in ["-wal", "-shm", "-journal"] {
        let orphan = with_suffix(file, suffix);
        if orphan.try_exists().map_err(|e| OpenError::from_io(&orphan, &e))? {
            let aside = with_suffix(&orphan, &format!(".orphan-{}", clock::unix_s()));
            fs::rename(&orphan, &aside).map_err(|e| OpenError::from_io(&orphan, &e))?;
            warn!(aside = %aside.display(), "set aside a log without its store file");
        }
    }
    Ok(())
}

/// Opens a file that is there, and uses it only if it is sound, ours, and not newer than this program.
fn open_checked(file: &Path) -> Result<(Connection, Kept), OpenError> {
    let failed = |error: &rusqlite::Error| OpenError::from_sqlite(file, error);
    let mut conn = Connection::open_with_flags(file, FLAGS).map_err(|e| failed(&e))?;
    // Without this, closing a file that was refused would rewrite it from its log.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(|e| failed(&e))?;
    let version = check_version(&conn, file)?;
    check_soundness(&conn, file)?;
    make_ready(&mut conn, version).map_err(|e| failed(&e))?;
    let kept = load::load(&conn, clock::unix_s()).map_err(|error| match error {
        LoadError::Sqlite(e) => failed(&e),
        LoadError::Damaged(detail) => OpenError::Corrupt { file: file.to_owned(), detail },
    })?;
    Ok((conn, kept))
}

fn check_version(conn: &Connection, file: &Path) -> Result<u32, OpenError> {
    let pragma = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let read = pragma("application_id").and_then(|id| Ok((id, pragma("user_version")?)));
    let (application, version) = read.map_err(|e| OpenError::from_sqlite(file, &e))?;
    if application != i64::from(schema::APPLICATION_ID) {
        let detail = "another program's database".into();
        return Err(OpenError::NotAStore { file: file.to_owned(), detail });
    }
    match u32::try_from(version) {
        Ok(found) if found > schema::VERSION => {
            Err(OpenError::Newer { file: file.to_owned(), found, known: schema::VERSION })
        }
        Ok(found) if found > 0 => Ok(found),
        _ => Err(OpenError::Corrupt { file: file.to_owned(), detail: format!("schema version {version}") }),
    }
}

fn check_soundness(conn: &Connection, file: &Path) -> Result<(), OpenError> {
    let found: rusqlite::Result<String> = conn.pragma_query_value(None, "quick_check", |row| row.get(0));
    match found {
        Ok(found) if found == "ok" => Ok(()),
        Ok(detail) => Err(OpenError::Corrupt { file: file.to_owned(), detail }),
        Err(error) => Err(OpenError::from_sqlite(file, &error)),
    }
}

/// Sets how the file is written, brings its schema up to date, and proves that it can be written at all.
fn make_ready(conn: &mut Connection, version: u32) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.set_prepared_statement_cache_capacity(32);
    conn.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: a commit returns after its log has been synced, which is what D1 promises.
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    schema::migrate(conn, version)?;
    conn.execute("UPDATE meta SET value = value + 1 WHERE key = 'opened'", [])?;
    Ok(())
}

fn remove_if_there(file: &Path) -> Result<(), OpenError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(OpenError::from_io(file, &error)),
        _ => Ok(()),
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

const FILE: &str = "seats.db";
const NEW_FILE: &str = "seats.db.new";
/// How every SQLite 3 file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Never made by SQLite, whose files are readable by all; one thread at a time has the connection.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
/// SQLite's default page; the file is made with it.
const PAGE_BYTES: u64 = 4096;
/// SQLite's own upper bound of a file's pages.
const MOST_PAGES: u64 = 0xFFFF_FFFE;
/// How long to wait for a person's `sqlite3` that holds the file's write lock.
const BUSY: Duration = Duration::from_secs(1);
/// The log is moved into the file when it has so many pages (16 MiB): seldom enough to cost a commit in hundreds.
const CHECKPOINT_PAGES: i64 = 4096;
/// A log that once grew beyond this is cut back, 64 MiB.
const LOG_BYTES_KEPT: i64 = 64 << 20;
/// How often rows whose time is over are looked for.
const PURGE_EVERY: Duration = Duration::from_secs(60);
/// The same while more of them are left.
const PURGE_AGAIN: Duration = Duration::from_millis(100);
/// At most so many at a time, so that no commit grows by much.
const PURGE_ROWS: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d1_a_commit_reaches_the_disk_before_it_returns() {
        let dir = tempfile::tempdir().unwrap();
        let (file, _) = SeatsFile::open(dir.path()).unwrap();
        let pragma = |name| file.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let mode: String = file.conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!((mode.as_str(), pragma("synchronous")), ("wal", 2), "2 is FULL");
        assert_eq!(pragma("page_size").cast_unsigned(), PAGE_BYTES);
    }
}
