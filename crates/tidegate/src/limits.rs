//! What the operating system lets one process do.

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};

/// Raises the number of open files towards `wanted`, as far as is allowed, and returns what it is now.
pub(crate) fn raise_open_files(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let now = current.unwrap_or(u64::MAX);
    if now >= wanted {
        return now;
    }
    let raised = wanted.min(maximum.unwrap_or(u64::MAX));
    match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => now,
    }
}

/// What this process makes from now on is for its owner alone: keys, seats and the admin socket lie in one directory.
pub(crate) fn make_files_private() {
    umask(Mode::from_raw_mode(0o077));
}
