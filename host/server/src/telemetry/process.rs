//! The process as the kernel sees it.

/// Returns the resident memory of the process in bytes, where the kernel reports it.
pub fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}
