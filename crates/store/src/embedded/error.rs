//! Why the store could not be opened or closed, each with what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the embedded store could not be opened. Whatever the reason, the files are left as they were found.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another store of this one, works in the directory.
    #[error("{} is in use by {}; stop it, or choose another directory for this one", dir.display(), Owner(*pid))]
    InUse {
        /// The store's directory.
        dir: PathBuf,
        /// The process that holds it, if its lock file says so.
        pid: Option<u32>,
    },
    /// The directory or a file in it cannot be written.
    #[error(
        "cannot write {}: {detail}; let the user that runs tidegate own the directory, or choose another one",
        path.display()
    )]
    Unwritable {
        /// What cannot be written.
        path: PathBuf,
        /// The system's words.
        detail: String,
    },
    /// No space left.
    #[error("the disk that holds {} is full; free some space and start again, nothing is lost", path.display())]
    DiskFull {
        /// What could not grow.
        path: PathBuf,
    },
    /// The file has a schema that this version does not know.
    #[error(
        "{} was written by a newer tidegate (schema {found}, this one knows {known}); start the newer one, \
         the file is left as it is",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema known here.
        known: u32,
    },
    /// The file is something else.
    #[error("{} is not a tidegate store ({detail}); move it away and start again, it is left as it is", file.display())]
    NotAStore {
        /// The file.
        file: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file is a store, but damaged.
    #[error(
        "{} is damaged ({detail}); restore it from a backup, or move it away to start with an empty store: \
         viewers who hold a valid token then get their seats back; it is left as it is",
        file.display()
    )]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Anything else that the system or SQLite refused.
    #[error("cannot open {}: {detail}; the file is left as it is", path.display())]
    Failed {
        /// What could not be opened.
        path: PathBuf,
        /// The system's words.
        detail: String,
    },
}

/// The store was closed, but not everything could be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store was closed with {rows} changes unwritten: {detail}; none of them was answered as done")]
pub struct CloseError {
    /// How many changes were dropped.
    pub rows: usize,
    /// SQLite's words.
    pub detail: String,
}

impl OpenError {
    /// Sorts a failed system call at `path`.
    pub(super) fn from_io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        let detail = error.to_string();
        if is_full(error) {
            Self::DiskFull { path }
        } else if is_refusal(error) {
            Self::Unwritable { path, detail }
        } else {
            Self::Failed { path, detail }
        }
    }

    /// Sorts a failed call of SQLite on `file`.
    pub(super) fn from_sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let file = file.to_owned();
        let detail = error.to_string();
        match error.sqlite_error() {
            Some(e) if e.code == ErrorCode::DiskFull || e.extended_code == SHM_CANNOT_GROW => {
                Self::DiskFull { path: file }
            }
            Some(e) if matches!(e.code, ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Unwritable { path: file, detail }
            }
            Some(e) if e.code == ErrorCode::DatabaseCorrupt => Self::Corrupt { file, detail },
            Some(e) if e.code == ErrorCode::NotADatabase => Self::NotAStore { file, detail },
            Some(_) => Self::Failed { path: file, detail },
            // A value of another type than the schema says: SQLite itself had no complaint.
            None => Self::Corrupt { file, detail },
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::NotFound
    )
}

/// Names who holds the directory.
struct Owner(Option<u32>);

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pid) if pid == std::process::id() => f.write_str("this process already"),
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("another process"),
        }
    }
}

/// `SQLITE_IOERR_SHMSIZE`: the shared index of the write-ahead log could not grow, which only a full disk does.
const SHM_CANNOT_GROW: i32 = 10 | (19 << 8);
