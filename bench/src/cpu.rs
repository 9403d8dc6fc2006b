//! A process's CPU time, as the scheduler counts it.

use std::collections::HashMap;
use std::time::Duration;

/// Run time of each thread of a process since it began, in nanoseconds.
pub(crate) struct Threads(HashMap<String, u64>);

impl Threads {
    pub(crate) fn of(pid: u32) -> anyhow::Result<Self> {
        let mut threads = HashMap::new();
        for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            let task = task?;
            // A thread may end between the two.
            let Ok(text) = std::fs::read_to_string(task.path().join("schedstat")) else { continue };
            let nanoseconds = text.split_whitespace().next().unwrap_or("0").parse()?;
            threads.insert(task.file_name().to_string_lossy().into_owned(), nanoseconds);
        }
        Ok(Self(threads))
    }

    /// What ran since an earlier look. A thread that ended meanwhile is left out: idle ones of a pool do.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        let before = |thread| earlier.0.get(thread).copied().unwrap_or(0);
        Duration::from_nanos(self.0.iter().map(|(thread, now)| now - before(thread)).sum())
    }
}

/// Run time of all threads of a process since they began.
pub(crate) fn run_time(pid: u32) -> anyhow::Result<Duration> {
    Ok(Duration::from_nanos(Threads::of(pid)?.0.values().sum()))
}
