//! The jobs that this host can work on, and those that it passes over.
//!
//! A host claims no job whose release it lacks, or whose rows are in object storage that it does
//! not read. Another host may have both, so the job waits for it. A release that did not open and a
//! job that could not be read are left out for a while. Another host may have them whole. A job
//! whose results the state refuses is left out too. A job is also left out while its release has
//! another package here than at its submission.

use super::other_packages::OtherPackages;
use crate::service::Service;
use domesday_package::Sha256Digest;
use domesday_state::{Claimant, Job, JobSetbacks, ReleaseRetries, SetbackCause, SetbackOutcome};
use domesday_valuation::release_store::OpenRelease;
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, timeout};
use uuid::Uuid;

/// Interval at which the host looks for jobs that it passes over.
const INTERVAL: Duration = Duration::from_secs(5);
/// Time limit of opening a release. After it another host may take the job.
const OPEN_TIMEOUT: Duration = Duration::from_secs(60);

/// The releases and jobs that this host leaves to others.
#[derive(Default)]
pub(super) struct Eligibility {
    unopened: Mutex<BTreeSet<String>>,
    setbacks: Mutex<JobSetbacks>,
    other_packages: Mutex<OtherPackages>,
}

impl Eligibility {
    /// Returns the jobs that this host can work on now.
    pub(super) fn claimant(&self, service: &Service) -> Claimant {
        let mut releases = service.releases.list_served();
        let unopened = lock(&self.unopened);
        releases.retain(|id| !unopened.contains(id));
        let (setbacks, now) = (lock(&self.setbacks), Instant::now());
        let served = |id: &str| service.releases.package_digest(id);
        let mut excluded_jobs = setbacks.list_excluded(now);
        excluded_jobs.extend(lock(&self.other_packages).list_excluded(now, served));
        Claimant {
            releases,
            reads_objects: service.job_store.reads_objects() && !setbacks.is_store_paused(now),
            excluded_jobs,
        }
    }

    /// Leaves the jobs of a release to other hosts, until it opens.
    pub(super) fn exclude_release(&self, id: &str) {
        lock(&self.unopened).insert(id.to_owned());
    }

    /// Leaves a job to other hosts, until this one serves its release from the package of this
    /// manifest.
    pub(super) fn exclude_job(&self, job: &Job, manifest: Sha256Digest) {
        let mut other_packages = lock(&self.other_packages);
        other_packages.exclude(job.id, &job.release_id, manifest, Instant::now());
    }

    /// Records that this host could not read or finish a chunk of a job.
    pub(super) fn record_setback(&self, at: (Uuid, u32), cause: SetbackCause) -> SetbackOutcome {
        lock(&self.setbacks).record(at, cause, Instant::now())
    }

    /// Shows the jobs that this host passes over, and opens their releases as soon as they are
    /// here, until `stop` is set.
    pub(super) async fn watch(
        self: Arc<Self>,
        service: Arc<Service>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut retries, mut is_logged) = (ReleaseRetries::default(), false);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            let (mut claimant, now) = (self.claimant(&service), service.clock.now());
            // A pause of the store is no lack of it.
            claimant.reads_objects = service.job_store.reads_objects();
            // A state that does not answer is logged elsewhere.
            let Ok(passed_over) = service.state.count_passed_over(claimant, now).await else {
                continue;
            };
            service.metrics.jobs.show_passed_over(passed_over.oldest);
            let jobs = passed_over.in_objects;
            if jobs > 0 && !is_logged {
                tracing::warn!(
                    jobs,
                    "jobs wait in object storage, which this host does not read; set job_store as \
                     on the host that accepted them"
                );
            }
            is_logged = jobs > 0;
            for id in retries.list_due(&passed_over, Instant::now()) {
                let opened = tokio::select! {
                    opened = open_release(&service, &id) => opened,
                    _ = stop.wait_for(|stop| *stop) => return,
                };
                let jobs = passed_over.by_release.get(&id).copied();
                match opened {
                    Ok(_) => {
                        retries.forget(&id);
                        lock(&self.unopened).remove(&id);
                        tracing::info!(release_id = id, jobs, "jobs waited for a release");
                        service.submitted.notify_one();
                    }
                    Err(error) => {
                        if retries.postpone(&id, Instant::now()) {
                            tracing::warn!(
                                release_id = id, jobs, %error,
                                "jobs wait for a release that this host cannot run"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Opens a release, which may read its package from the disk.
pub(super) async fn open_release(
    service: &Arc<Service>,
    id: &str,
) -> Result<Arc<OpenRelease>, Box<dyn Error + Send + Sync>> {
    let (service, id) = (service.clone(), id.to_owned());
    let opening = spawn_blocking(move || service.releases.get(&id));
    match timeout(OPEN_TIMEOUT, opening).await {
        Ok(Ok(opened)) => Ok(opened?),
        Ok(Err(panicked)) => Err(panicked.into()),
        Err(_) => {
            let seconds = OPEN_TIMEOUT.as_secs();
            let error = format!("the packages' disk does not answer within {seconds} seconds");
            Err(error.into())
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change of them is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
