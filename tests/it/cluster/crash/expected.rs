//! The answers of the service, to compare with its stored state.

use crate::common::seed::SeededRandom;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The last known progress of a job.
#[derive(Debug, Clone, Default)]
pub struct JobProgress {
    /// The place of its status in the order of statuses.
    rank: usize,
    updated: String,
}

/// A job that was answered with 202.
#[derive(Debug, Clone)]
pub struct AcceptedJob {
    pub id: String,
    pub release: Value,
    /// The body that was sent.
    pub body: Value,
    /// For each row, whether it was sound.
    pub sound: Vec<bool>,
    pub last_seen: JobProgress,
    /// The results as they were first read.
    pub results: Option<String>,
}

impl AcceptedJob {
    /// Returns the units that the job costs.
    pub fn units(&self) -> u64 {
        self.sound.iter().filter(|&&sound| sound).count() as u64
    }
}

/// All answers, of all customers together.
#[derive(Default)]
pub struct Ledger {
    /// Jobs by their idempotency keys.
    pub jobs: Mutex<BTreeMap<String, AcceptedJob>>,
    pub valuation_ids: Mutex<Vec<String>>,
    /// Units of values and batches that were answered, by their execution ids.
    pub executions: Mutex<BTreeMap<String, u64>>,
    pub requests: AtomicU64,
    pub answered: AtomicU64,
    pub refused: AtomicU64,
    /// Units of values and batches that were answered.
    pub units: AtomicU64,
    /// Units of values and batches that were under way, and were not answered.
    pub unanswered: AtomicU64,
    /// Units of values and batches that were refused, since nothing could be kept.
    pub not_kept: AtomicU64,
}

/// Adds to a count.
pub fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

/// Reads a count.
pub fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

impl Ledger {
    /// Counts the jobs that are not known to have ended.
    pub fn open_jobs(&self) -> usize {
        let jobs = self.jobs.lock().unwrap();
        jobs.values().filter(|job| job.results.is_none()).count()
    }

    /// Returns the key and the id of a job to look at: mostly one whose results are not known.
    pub fn choose_job(&self, random: &mut SeededRandom) -> Option<(String, String)> {
        let only_open = !random.once_in(8);
        let jobs = self.jobs.lock().unwrap();
        let some = jobs
            .iter()
            .filter(|(_, job)| !only_open || job.results.is_none());
        let some: Vec<_> = some.map(|(key, job)| (key, &job.id)).collect();
        let chosen = random.choice(&some);
        chosen.map(|&(key, id)| (key.clone(), id.clone()))
    }

    /// Returns the last known progress of a job.
    pub fn last_seen(&self, key: &str) -> JobProgress {
        self.jobs.lock().unwrap()[key].last_seen.clone()
    }

    /// Records a job's document, and asserts that nothing in it is older than `before`. That is the
    /// progress known when the customer sent its request. Other customers may have received later
    /// documents meanwhile.
    pub fn progress(&self, key: &str, before: &JobProgress, document: &Value) {
        let order = ["queued", "running", "completed"];
        let status = document["status"].as_str().unwrap();
        let rank = order.iter().position(|&it| it == status);
        let rank = rank.unwrap_or_else(|| panic!("{key}: {document}"));
        let updated = document["updated_at"].as_str().unwrap();
        let mut jobs = self.jobs.lock().unwrap();
        let job = jobs.get_mut(key).unwrap();
        assert_eq!(document["job_id"], job.id, "{key}");
        assert_eq!(document["release_id"], job.release, "{key}");
        assert!(rank >= before.rank, "{key} went back to {status}");
        assert!(*updated >= *before.updated, "{key} was updated earlier");
        job.last_seen.rank = job.last_seen.rank.max(rank);
        if *updated > *job.last_seen.updated {
            updated.clone_into(&mut job.last_seen.updated);
        }
    }

    /// Records the results of a job, and asserts that they are always the same.
    pub fn results(&self, key: &str, text: &str) {
        let mut jobs = self.jobs.lock().unwrap();
        let job = jobs.get_mut(key).unwrap();
        match &job.results {
            Some(first) => assert_eq!(first, text, "{key} has other results now"),
            None => job.results = Some(text.to_owned()),
        }
    }

    /// Returns the units that each job costs, by the id of the job.
    pub fn units_by_job(&self) -> BTreeMap<String, u64> {
        let jobs = self.jobs.lock().unwrap();
        let units = jobs.values().map(|job| (job.id.clone(), job.units()));
        units.collect()
    }

    /// Returns the units that the jobs cost.
    pub fn units_of_jobs(&self) -> u64 {
        self.jobs
            .lock()
            .unwrap()
            .values()
            .map(AcceptedJob::units)
            .sum()
    }

    /// Prints one line of counts.
    pub fn print(&self, name: &str, met: &str, used: u64) {
        let units = self.units_of_jobs();
        let jobs = self.jobs.lock().unwrap().len();
        println!(
            "counts: {name}: {met}, requests {}, answered {}, refused {}, jobs {jobs} of {units} units, \
             units of values used {used}, answered {}, unanswered at a kill {}, not kept {}",
            read(&self.requests),
            read(&self.answered),
            read(&self.refused),
            read(&self.units),
            read(&self.unanswered),
            read(&self.not_kept),
        );
    }
}
