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

/// Each connection is an open file, and the usual limit is 1,024. What cannot be had is said in the log.
pub(crate) fn make_room_for_connections(connections: usize) {
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX);
    let open = raise_open_files(wanted.saturating_add(OTHER_FILES));
    if open < wanted {
        let advice = "fewer open files are allowed than connections_max asks for; raise ulimit -n";
        tracing::warn!(open, connections, "{advice}");
    }
}

/// What this process makes from now on is for its owner alone: keys, seats and the admin socket lie in one directory.
pub(crate) fn make_files_private() {
    umask(Mode::from_raw_mode(0o077));
}

/// Files that are no connections: the store's, the sockets that listen, the runtime's.
const OTHER_FILES: u64 = 100;
