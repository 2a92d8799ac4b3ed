//! The jobs that a host passes over, and when it tries again to open a release that they wait for.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::{Claimant, Job, UnixMillis};

/// The wait after the first attempt to open a release. It doubles up to [`REOPEN_MAX`].
const REOPEN: Duration = Duration::from_secs(5);
/// The longest wait before a release that did not open is tried again.
const REOPEN_MAX: Duration = Duration::from_secs(900);
/// The time after which a release is forgotten that no job waits for. On a host that lacks the
/// release, jobs come and go to other hosts all the time, which is no news each time.
const FORGET: Duration = Duration::from_secs(600);

/// Jobs that nobody works on, and that a host does not claim.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassedOverJobs {
    /// The number of those whose release the host cannot run, by release.
    pub by_release: BTreeMap<String, u64>,
    /// The number of the others, whose rows are in object storage that the host does not read.
    pub in_objects: u64,
    /// Time at which the oldest of all was accepted.
    pub oldest: Option<UnixMillis>,
}

impl PassedOverJobs {
    /// Counts a job that a host passes over, by its release unless the host can run it.
    pub(crate) fn add(&mut self, claimant: &Claimant, job: &Job) {
        match claimant.runs(&job.release_id) {
            true => self.in_objects += 1,
            false => *self.by_release.entry(job.release_id.clone()).or_default() += 1,
        }
        self.note_time(job.created_at);
    }

    /// Moves the time of the oldest job back, where this one is older.
    pub(crate) fn note_time(&mut self, accepted: UnixMillis) {
        let oldest = self.oldest.map_or(accepted, |known| known.min(accepted));
        self.oldest = Some(oldest);
    }
}

/// A release that did not open.
#[derive(Debug)]
struct Retry {
    /// The wait before the next attempt.
    wait: Duration,
    /// The time of the next attempt.
    next: Instant,
    /// The last time at which a job waited for the release.
    wanted: Instant,
}

/// The releases that jobs wait for and that did not open, with the times of the next attempts.
#[derive(Debug, Default)]
pub struct ReleaseRetries(BTreeMap<String, Retry>);

impl ReleaseRetries {
    /// Returns the releases to open now, and forgets those that no job has waited for in ten
    /// minutes.
    pub fn list_due(&mut self, passed_over: &PassedOverJobs, now: Instant) -> Vec<String> {
        let releases = &passed_over.by_release;
        self.0.retain(|id, retry| {
            if releases.contains_key(id) {
                retry.wanted = now;
            }
            now < retry.wanted + FORGET
        });
        let is_due = |id: &&String| self.0.get(*id).is_none_or(|retry| retry.next <= now);
        releases.keys().filter(is_due).cloned().collect()
    }

    /// Postpones the next attempt at a release that did not open, and returns true the first time.
    pub fn postpone(&mut self, id: &str, now: Instant) -> bool {
        let before = self.0.get(id).map(|retry| retry.wait);
        let wait = before.map_or(REOPEN, |wait| (wait * 2).min(REOPEN_MAX));
        let (next, wanted) = (now + wait, now);
        let retry = Retry { wait, next, wanted };
        self.0.insert(id.to_owned(), retry);
        before.is_none()
    }

    /// Forgets a release that opened.
    pub fn forget(&mut self, id: &str) {
        self.0.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_does_not_open_is_news_once_and_tried_less_and_less() {
        let (mut retries, start) = (ReleaseRetries::default(), Instant::now());
        let waiting = PassedOverJobs {
            by_release: BTreeMap::from([("old".to_owned(), 3)]),
            ..PassedOverJobs::default()
        };
        let (mut tried, mut news) = (Vec::new(), 0);
        for second in 0..4_000 {
            let now = start + Duration::from_secs(second);
            for id in retries.list_due(&waiting, now) {
                tried.push(second);
                news += u32::from(retries.postpone(&id, now));
            }
        }
        let times: [u64; 12] = [0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_175, 3_075, 3_975];
        assert_eq!((tried.as_slice(), news), (times.as_slice(), 1));
    }

    #[test]
    fn a_release_is_news_again_once_no_job_waited_for_it_for_a_while() {
        let (mut retries, start) = (ReleaseRetries::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        let (none, waiting) = (
            PassedOverJobs::default(),
            PassedOverJobs {
                by_release: BTreeMap::from([("old".to_owned(), 1)]),
                ..PassedOverJobs::default()
            },
        );
        assert_eq!(retries.list_due(&waiting, at(0)), ["old"]);
        assert!(retries.postpone("old", at(0)));
        // Other hosts take such jobs, which come again.
        for second in (10..590).step_by(20) {
            assert!(retries.list_due(&none, at(second)).is_empty());
            for id in retries.list_due(&waiting, at(second + 10)) {
                assert!(!retries.postpone(&id, at(second + 10)));
            }
        }
        // One came last after 580 seconds.
        assert!(retries.list_due(&none, at(1_179)).is_empty());
        assert_eq!(retries.list_due(&waiting, at(1_179)), ["old"]);
        assert!(!retries.postpone("old", at(1_179)));
        assert!(retries.list_due(&none, at(1_779)).is_empty());
        assert_eq!(retries.list_due(&waiting, at(1_779)), ["old"]);
        assert!(retries.postpone("old", at(1_779)));
        retries.forget("old");
        assert!(retries.postpone("old", at(1_780)));
    }
}
