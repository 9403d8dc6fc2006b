//! D2 on a disk that is really full. Mounts a small tmpfs, so it runs as root and only when asked:
//! `cargo test -p tidegate-store --test embedded -- --ignored`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tidegate_seats::BeatAnswer;
use tidegate_store::{Catalogue, Embedded, EmbeddedSettings, OpenError, Seats};

use crate::support::*;

/// A file system of 1 MiB, gone when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(dir.path()).status();
        assert!(mounted.unwrap().success(), "mounting needs root");
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves no byte free.
    fn fill(&self) {
        let mut ballast = fs::File::create(self.path().join("ballast")).unwrap();
        while ballast.write(&[7; 4096]).is_ok() {}
    }

    fn free(&self) {
        fs::remove_file(self.path().join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

async fn store_with_stream(dir: &Path) -> Arc<Embedded> {
    let store = open(dir);
    store.add_tenant(&acme(), tenant_settings(5_000), [1; 32]).await.unwrap();
    store.open_stream(&acme(), &live(), stream_settings(5_000, 0)).await.unwrap();
    store
}

#[tokio::test(start_paused = true)]
#[ignore = "mounts a tmpfs, needs root"]
async fn d2_a_disk_that_fills_up_while_the_store_runs() {
    let disk = SmallDisk::mount();
    let store = store_with_stream(disk.path()).await;
    disk.fill();
    let mut seats = Vec::new();
    while let Ok(answer) = store.ask(&live(), newcomer()).await {
        seats.push(seated(&answer));
        assert!(seats.len() < 5_000, "the disk never filled up");
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    store.ask(&live(), newcomer()).await.unwrap_err();
    for seat in &seats {
        assert!(matches!(store.beat(&live(), beat(*seat)).await, BeatAnswer::Kept { .. }));
    }
    disk.free();
    while store.writable().await.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    store.close().await.unwrap();
    drop(store);
    let back = open(disk.path());
    // With the one that was under way when the disk was found full.
    assert_eq!(back.stats(&live()).await.unwrap().seats as usize, seats.len() + 1);
}

#[tokio::test]
#[ignore = "mounts a tmpfs, needs root"]
async fn o1_a_start_on_a_full_disk_says_so_and_loses_nothing() {
    let disk = SmallDisk::mount();
    let refused = || Embedded::open(disk.path(), EmbeddedSettings::default()).unwrap_err();
    disk.fill();
    assert!(matches!(refused(), OpenError::DiskFull { .. }), "a first start");
    disk.free();
    let store = store_with_stream(disk.path()).await;
    let seat = seated(&store.ask(&live(), newcomer()).await.unwrap());
    // A crash leaves the log, which the next start has to read and write.
    let image = tempfile::tempdir().unwrap();
    for name in ["seats.db", "seats.db-wal"] {
        fs::copy(disk.path().join(name), image.path().join(name)).unwrap();
    }
    store.close().await.unwrap();
    for name in ["seats.db", "seats.db-wal"] {
        fs::copy(image.path().join(name), disk.path().join(name)).unwrap();
    }
    disk.fill();
    let error = refused();
    assert!(matches!(error, OpenError::DiskFull { .. }), "{error:?}");
    disk.free();
    let back = open(disk.path());
    assert!(matches!(back.beat(&live(), beat(seat)).await, BeatAnswer::Kept { .. }));
}
