//! What can be wrong with a directory and its file: each has a sentence of its own, and nothing is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tidegate_store::{Embedded, EmbeddedSettings, OpenError};

use crate::support::*;

fn refused(dir: &Path) -> OpenError {
    Embedded::open(dir, EmbeddedSettings::default()).unwrap_err()
}

/// Opens a damaged store, and proves that its files are as they were.
fn refused_untouched(dir: &Path) -> OpenError {
    let files = || ["seats.db", "seats.db-wal"].map(|name| fs::read(dir.join(name)).unwrap_or_default());
    let before = files();
    let error = refused(dir);
    assert!(files() == before, "the file was touched");
    error
}

/// A directory with a store that has been closed well.
async fn closed_store() -> tempfile::TempDir {
    let fixture = Fixture::with_stream(500, 0).await;
    fixture.fill(500).await;
    fixture.store.close().await.unwrap();
    fixture.dir
}

#[tokio::test]
async fn o1_the_first_start_makes_the_directory_and_files_that_only_the_owner_reads() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("a/b/tidegate-data");
    let store = open(&dir);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    for file in ["seats.db", "seats.db-wal", "seats.db-shm", "lock"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    assert_eq!(store.epoch().len(), 32);
}

#[tokio::test]
async fn o1_a_second_store_in_the_same_process_is_told_so() {
    let fixture = Fixture::new().await;
    let error = refused(fixture.dir.path());
    assert!(matches!(error, OpenError::InUse { pid: Some(pid), .. } if pid == std::process::id()), "{error:?}");
    assert!(error.to_string().contains("in use by this process already"), "{error}");
    drop(fixture.store);
    open(fixture.dir.path());
}

#[tokio::test]
async fn o1_a_file_of_a_newer_version_is_left_alone() {
    let dir = closed_store().await;
    let sql = Connection::open(dir.path().join("seats.db")).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    drop(sql);
    let error = refused_untouched(dir.path());
    assert!(matches!(error, OpenError::Newer { found: 99, known: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("start the newer one"), "{error}");
}

#[tokio::test]
async fn o1_a_newer_version_that_only_the_log_tells_of_is_left_alone() {
    let dir = closed_store().await;
    let sql = Connection::open(dir.path().join("seats.db")).unwrap();
    sql.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    drop(sql);
    let error = refused_untouched(dir.path());
    assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error:?}");
}

#[tokio::test]
async fn o1_damage_that_no_start_would_stumble_over_is_found() {
    let dir = closed_store().await;
    let file = dir.path().join("seats.db");
    let index = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_streams_1'";
    let page = usize::try_from(count(dir.path(), index)).unwrap();
    let mut damaged = fs::read(&file).unwrap();
    damaged[(page - 1) * 4096..page * 4096].fill(0xFF);
    fs::write(&file, damaged).unwrap();
    let error = refused_untouched(dir.path());
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
}

#[tokio::test]
async fn o1_another_programs_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let sql = Connection::open(dir.path().join("seats.db")).unwrap();
    sql.execute_batch("CREATE TABLE photos (x); INSERT INTO photos VALUES (1)").unwrap();
    drop(sql);
    let error = refused_untouched(dir.path());
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error:?}");
}

#[tokio::test]
async fn o1_a_file_that_is_no_database_is_left_alone() {
    for text in ["", "SQLite", "once upon a time, there was a text file of no use to anyone"] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("seats.db"), text).unwrap();
        let error = refused_untouched(dir.path());
        assert!(matches!(error, OpenError::NotAStore { .. }), "{text:?}: {error:?}");
    }
}

#[tokio::test]
async fn o1_a_damaged_file_is_left_alone() {
    let dir = closed_store().await;
    let file = dir.path().join("seats.db");
    let sound = fs::read(&file).unwrap();

    let mut random = sound.clone();
    for byte in &mut random[4096..] {
        *byte = rand::random();
    }
    let mut header = sound.clone();
    header[16..100].fill(0xAB);
    let mut one_page = sound.clone();
    let middle = (sound.len() / 2) & !4095;
    one_page[middle..middle + 4096].fill(0);
    for damaged in [random, header, one_page, sound[..sound.len() / 2].to_vec(), sound[..4096 + 7].to_vec()] {
        fs::write(&file, &damaged).unwrap();
        let error = refused_untouched(dir.path());
        assert!(matches!(error, OpenError::Corrupt { .. } | OpenError::NotAStore { .. }), "{error:?}");
    }
    fs::write(&file, &sound).unwrap();
    open(dir.path());
}

#[tokio::test]
async fn o1_rows_that_were_never_written_here_are_damage() {
    let dir = closed_store().await;
    let file = dir.path().join("seats.db");
    let sound = fs::read(&file).unwrap();
    for sql in [
        "UPDATE entries SET standing = 77 WHERE arrival = 5",
        "UPDATE entries SET seat = x'00' WHERE arrival = 5",
        "UPDATE entries SET stream = 4711 WHERE arrival = 5",
        "UPDATE entries SET since = -1 WHERE arrival = 5",
        "UPDATE streams SET id = 'No Id!'",
        "UPDATE streams SET tenant = 'nobody'",
        "UPDATE streams SET viewer_cap = -3",
        "DELETE FROM meta WHERE key = 'birth'",
    ] {
        fs::write(&file, &sound).unwrap();
        Connection::open(&file).unwrap().execute(sql, []).unwrap();
        let error = refused(dir.path());
        assert!(matches!(error, OpenError::Corrupt { .. }), "{sql}: {error:?}");
    }
}

#[tokio::test]
async fn o1_a_directory_that_cannot_be_written_is_named() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("file"), "").unwrap();
    fs::create_dir(parent.path().join("lock")).unwrap();
    for dir in [parent.path().join("file"), parent.path().join("file/data"), "/proc/tidegate-data".into()] {
        let error = refused(&dir);
        assert!(matches!(error, OpenError::Unwritable { .. }), "{}: {error:?}", dir.display());
        assert!(error.to_string().contains("let the user that runs tidegate own the directory"), "{error}");
    }
    // The superuser may write anywhere, so for it the file beside is the only hindrance.
    let error = refused(parent.path());
    assert!(matches!(error, OpenError::Unwritable { .. } | OpenError::Failed { .. }), "{error:?}");
}

#[tokio::test]
async fn o1_a_log_without_its_file_is_set_aside_and_not_replayed() {
    let fixture = Fixture::with_stream(5, 0).await;
    seated(&fixture.ask(newcomer()).await);
    let image = fixture.crash_image();
    fs::remove_file(image.path().join("seats.db")).unwrap();
    let store = open(image.path());
    assert_ne!(store.epoch(), fixture.store.epoch());
    assert_eq!(tidegate_store::Catalogue::tenants(&*store).await, []);
    let kept = fs::read_dir(image.path()).unwrap().filter_map(Result::ok);
    let orphans = kept.filter(|file| file.file_name().to_string_lossy().starts_with("seats.db-wal.orphan-"));
    assert_eq!(orphans.count(), 1);
}

#[tokio::test]
async fn d1_a_first_start_that_died_half_way_is_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("seats.db.new"), "half").unwrap();
    fs::write(dir.path().join("seats.db.new-journal"), "half").unwrap();
    open(dir.path());
    assert!(!dir.path().join("seats.db.new").exists());
}
