//! A process's memory.

use anyhow::Context;

/// What of a process is in memory, in KiB.
pub(crate) fn resident_kib(pid: u32) -> anyhow::Result<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm"))?;
    let pages: u64 = statm.split(' ').nth(1).context("statm without a second field")?.parse()?;
    Ok(pages * 4)
}
