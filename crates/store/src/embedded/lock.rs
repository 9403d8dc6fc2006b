//! One process at a time in a store's directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tracing::warn;

use super::error::OpenError;

/// Holds `DIR/lock` for as long as it lives. The system lets go of it when the process dies, however it dies.
#[derive(Debug)]
pub(super) struct DirLock {
    file: File,
}

impl DirLock {
    /// Takes the lock and writes this process's id into it, for the message that the next one gets.
    pub(super) fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join("lock");
        let failed = |error: &std::io::Error| OpenError::from_io(&path, error);
        let mut options = OpenOptions::new();
        // Not truncated: until the lock is ours, the text in it is another process's.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(|e| failed(&e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse { dir: dir.to_owned(), pid: owner(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
        note_owner(&mut file).map_err(|e| failed(&e))?;
        Ok(Self { file })
    }
}

impl Drop for DirLock {
    /// Closing the file alone would leave the lock with a child process that is just being started: between fork and
    /// exec it has a copy.
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            warn!(%error, "could not unlock the store's directory");
        }
    }
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn note_owner(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o9_a_dropped_lock_is_free_also_while_a_copy_of_its_file_lives() {
        let dir = tempfile::tempdir().unwrap();
        let lock = DirLock::take(dir.path()).unwrap();
        let copy = lock.file.try_clone().unwrap();
        assert!(matches!(DirLock::take(dir.path()), Err(OpenError::InUse { .. })));
        drop(lock);
        DirLock::take(dir.path()).unwrap();
        drop(copy);
    }
}
