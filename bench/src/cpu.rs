//! A process's CPU time, as the scheduler counts it.

use std::time::Duration;

/// Run time of all threads of a process since they began.
pub(crate) fn run_time(pid: u32) -> anyhow::Result<Duration> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split_whitespace().next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
