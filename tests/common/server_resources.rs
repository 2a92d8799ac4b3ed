//! The memory and the processor time of a server.

use super::server::{Server, TIMEOUT};
use std::time::{Duration, Instant};

impl Server {
    /// Returns the resident memory of the process, in bytes.
    pub fn resident(&self) -> u64 {
        self.memory_bytes("VmRSS:")
    }

    /// Returns the highest resident memory since [`Server::reset_peak`], in bytes.
    pub fn peak(&self) -> u64 {
        self.memory_bytes("VmHWM:")
    }

    /// Waits until the process has done what it had to do: it uses almost no processor time.
    #[track_caller]
    pub fn await_idle(&self) {
        let started = Instant::now();
        let mut before = self.clock_ticks();
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = self.clock_ticks();
            if now - before <= 2 {
                return;
            }
            before = now;
            assert!(started.elapsed() < TIMEOUT, "it is still at work");
        }
    }

    /// Returns the processor time of the process, in hundredths of a second.
    fn clock_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process())).unwrap();
        // The name of the program is in brackets. User and system time are fields 14 and 15.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let times = fields.skip(11).take(2);
        times.map(|time| time.parse::<u64>().unwrap()).sum()
    }

    /// Begins to look for the peak anew.
    pub fn reset_peak(&self) {
        // 5 resets the high-water mark: proc_pid_clear_refs(5).
        std::fs::write(format!("/proc/{}/clear_refs", self.process()), "5").unwrap();
    }

    fn memory_bytes(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kibibytes = line.split_whitespace().nth(1).unwrap();
        kibibytes.parse::<u64>().unwrap() << 10
    }
}
