//! The units that a stall cost, and the line of counts that each test prints.

use crate::common::program::run;
use crate::stalls::load::Outcomes;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long after the recovery the units of refused requests may stay charged.
const SETTLED: Duration = Duration::from_secs(60);

/// Waits until a tenant has used exactly these units, and returns how long after `since` it had.
pub fn settled(data: &Path, tenant: &str, units: u64, since: Instant) -> Duration {
    loop {
        let used = used(data, tenant);
        if used == units {
            return since.elapsed();
        }
        let took = since.elapsed();
        assert!(
            took < SETTLED,
            "{tenant} used {used} units after {took:?}, and not {units}"
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Returns the units that a tenant has used this month.
fn used(data: &Path, tenant: &str) -> u64 {
    let listed = run(["tenant", "list", "--data", &data.display().to_string()]).ok();
    let line = listed
        .stdout
        .lines()
        .find(|line| line.split('\t').next() == Some(tenant));
    let units = line.and_then(|line| line.split('\t').nth(2)).unwrap();
    units.split(' ').next().unwrap().parse().unwrap()
}

/// Returns how requests ended, in words.
pub fn describe(outcomes: &Outcomes) -> String {
    let refused: Vec<String> = outcomes
        .refused
        .iter()
        .map(|(code, count)| format!("{count} {code}"))
        .collect();
    format!(
        "{} answered, {} left, refused [{}], longest {:.1} s",
        outcomes.answered,
        outcomes.left,
        refused.join(", "),
        outcomes.longest.as_secs_f64()
    )
}
