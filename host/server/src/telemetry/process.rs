//! The process as the kernel sees it, under the names that every Prometheus client uses.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::sync::atomic::AtomicU64;

/// The kernel's ticks a second. They are part of its interface, and 100 on every machine.
const TICKS: f64 = 100.0;

/// The process at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessStatus {
    /// Processor time, user and system.
    pub cpu_seconds: f64,
    /// Resident memory.
    pub resident_bytes: i64,
    /// Virtual memory.
    pub virtual_bytes: i64,
    /// Threads.
    pub threads: i64,
    /// The start, in seconds after the machine's.
    pub started_after_boot: f64,
}

/// Returns the status of this process, where the kernel reports it.
pub fn read_status() -> Option<ProcessStatus> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    parse_status(&stat, &fs::read_to_string("/proc/self/status").ok()?)
}

/// Parses `/proc/self/stat`, where the name of the program, in parentheses, may hold anything, and
/// `/proc/self/status`.
fn parse_status(stat: &str, status: &str) -> Option<ProcessStatus> {
    let (_, rest) = stat.rsplit_once(')')?;
    // The first of these is the third field of proc(5).
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    let seconds = |field: usize| Some(number(field)? / TICKS);
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: i64 = line.trim().trim_end_matches(" kB").parse().ok()?;
        kibibytes.checked_mul(1 << 10)
    };
    Some(ProcessStatus {
        cpu_seconds: seconds(14)? + seconds(15)?,
        threads: fields.get(17)?.parse().ok()?,
        started_after_boot: seconds(22)?,
        virtual_bytes: bytes("VmSize:")?,
        resident_bytes: bytes("VmRSS:")?,
    })
}

/// Returns the time at which the machine started, in seconds since 1970, as the kernel computes it
/// for `/proc/stat`. The unit's `ProcSubset=pid` hides that file.
fn boot_time() -> f64 {
    let seconds = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    seconds(ClockId::Realtime) - seconds(ClockId::Boottime)
}

/// The gauges of the process.
#[derive(Debug, Default)]
pub struct ProcessMetrics {
    cpu: Counter<f64, AtomicU64>,
    resident: Gauge,
    virtual_memory: Gauge,
    threads: Gauge,
    open_files: Gauge,
    most_files: Gauge,
    start: Gauge<f64, AtomicU64>,
}

impl ProcessMetrics {
    /// Registers the metrics in a registry without a prefix.
    pub(super) fn register(registry: &mut Registry) -> ProcessMetrics {
        let metrics = ProcessMetrics::default();
        registry.register_with_unit(
            "process_cpu",
            "Processor time of the process, user and system",
            Unit::Seconds,
            metrics.cpu.clone(),
        );
        registry.register_with_unit(
            "process_start_time",
            "Start of the process, since 1970",
            Unit::Seconds,
            metrics.start.clone(),
        );
        for (name, help, unit, gauge) in [
            (
                "process_resident_memory",
                "Resident memory of the process",
                Some(Unit::Bytes),
                &metrics.resident,
            ),
            (
                "process_virtual_memory",
                "Virtual memory of the process",
                Some(Unit::Bytes),
                &metrics.virtual_memory,
            ),
            (
                "process_threads",
                "Threads of the process",
                None,
                &metrics.threads,
            ),
            (
                "process_open_fds",
                "Open file handles of the process",
                None,
                &metrics.open_files,
            ),
            (
                "process_max_fds",
                "File handles that the process may open",
                None,
                &metrics.most_files,
            ),
        ] {
            match unit {
                Some(unit) => registry.register_with_unit(name, help, unit, gauge.clone()),
                None => registry.register(name, help, gauge.clone()),
            }
        }
        metrics
    }

    /// Reads the kernel's figures. Those that it does not report stay as they are.
    pub(crate) fn sample(&self) {
        if let Some(status) = read_status() {
            self.cpu.inc_by(status.cpu_seconds - self.cpu.get());
            self.resident.set(status.resident_bytes);
            self.virtual_memory.set(status.virtual_bytes);
            self.threads.set(status.threads);
            // Once: the kernel's figure moves when the clock is set, and the start does not.
            if self.start.get() == 0.0 {
                self.start.set(boot_time() + status.started_after_boot);
            }
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            self.open_files.set(whole(files.count()));
        }
        let most = getrlimit(Resource::Nofile).current;
        let most = most.and_then(|most| i64::try_from(most).ok());
        self.most_files.set(most.unwrap_or(i64::MAX));
    }
}

/// Converts a count for a gauge.
pub(crate) fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_program_is_called() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 12 0 4200 8 1";
        let status = "Name:\ta) b\nVmSize:\t    8000 kB\nVmRSS:\t    1200 kB\n";
        let expected = ProcessStatus {
            cpu_seconds: 3.0,
            resident_bytes: 1_200 << 10,
            virtual_bytes: 8_000 << 10,
            threads: 12,
            started_after_boot: 42.0,
        };
        assert_eq!(parse_status(stat, status), Some(expected));
        for broken in ["", "7 (a", "7 (a) S 1 7"] {
            assert_eq!(parse_status(broken, status), None, "{broken:?}");
        }
        assert_eq!(parse_status(stat, "VmSize: many kB"), None);
        let own = read_status().unwrap();
        assert!(own.resident_bytes > 1 << 20 && own.threads >= 1, "{own:?}");
    }

    /// The unit of the package hides `/proc/stat`, so the gauge must not rest on it.
    #[test]
    fn the_start_of_the_machine_is_that_of_the_kernel() {
        let stat = fs::read_to_string("/proc/stat").unwrap();
        let line = stat.lines().find_map(|line| line.strip_prefix("btime "));
        let kernel: f64 = line.unwrap().trim().parse().unwrap();
        assert!((boot_time() - kernel).abs() < 5.0, "{kernel}");
        let metrics = ProcessMetrics::default();
        metrics.sample();
        assert!(metrics.start.get() >= kernel, "{}", metrics.start.get());
    }
}
