//! The jobs that wait, since this host serves another package of their release.
//!
//! A promotion may put another package under the id of a release. All rows of a job run on the
//! package of its submission. Another host may serve that, and this one may serve it again.

use domesday_package::Sha256Digest;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The time after which a job is forgotten. It may have ended. If it waits, the host claims it
/// again, and leaves it out once more.
const FORGET: Duration = Duration::from_secs(3_600);

/// The package that a job needs.
struct NeededPackage {
    release_id: String,
    /// The digest of its manifest.
    manifest: Sha256Digest,
    since: Instant,
}

/// The jobs that this host leaves to others until it serves their packages.
#[derive(Default)]
pub(super) struct OtherPackages(HashMap<Uuid, NeededPackage>);

impl OtherPackages {
    /// Leaves a job out until the host serves its release from the package of this manifest.
    pub(super) fn exclude(
        &mut self,
        job: Uuid,
        release_id: &str,
        manifest: Sha256Digest,
        now: Instant,
    ) {
        let needed = NeededPackage {
            release_id: release_id.to_owned(),
            manifest,
            since: now,
        };
        self.0.insert(job, needed);
    }

    /// Returns the jobs to leave out of a claim, and forgets the others. `served` gives the
    /// manifest that the host serves a release from.
    pub(super) fn list_excluded(
        &mut self,
        now: Instant,
        served: impl Fn(&str) -> Option<Sha256Digest>,
    ) -> Vec<Uuid> {
        self.0.retain(|_, needed| {
            now < needed.since + FORGET && served(&needed.release_id) != Some(needed.manifest)
        });
        self.0.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Uuid = Uuid::from_u128(1);

    #[test]
    fn a_job_is_left_out_until_the_host_serves_its_package() {
        let [submitted, other] = [b"this", b"else"].map(|bytes| Sha256Digest::of(bytes));
        let (mut jobs, now) = (OtherPackages::default(), Instant::now());
        jobs.exclude(JOB, "release", submitted, now);
        for served in [Some(other), None] {
            assert_eq!(jobs.list_excluded(now, |_| served), [JOB]);
        }
        let served = |id: &str| (id == "release").then_some(submitted);
        assert!(jobs.list_excluded(now, served).is_empty());
        // The next claim finds out whether it has to wait again.
        assert!(jobs.list_excluded(now, |_| Some(other)).is_empty());
    }

    #[test]
    fn a_job_is_forgotten_after_an_hour() {
        let [submitted, other] = [b"this", b"else"].map(|bytes| Sha256Digest::of(bytes));
        let (mut jobs, start) = (OtherPackages::default(), Instant::now());
        jobs.exclude(JOB, "release", submitted, start);
        let before = start + Duration::from_secs(3_599);
        assert_eq!(jobs.list_excluded(before, |_| Some(other)), [JOB]);
        let end = start + FORGET;
        assert!(jobs.list_excluded(end, |_| Some(other)).is_empty());
    }
}
