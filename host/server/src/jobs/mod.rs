//! Asynchronous jobs: how one is accepted, kept, worked on and shown.
//!
//! [`chunking`] divides a submission into chunks, and [`persisted`] is the form in which
//! [`job_store`](crate::job_store) keeps them. [`runner`] claims jobs that `eligibility` lets this
//! host claim, `address_lookup` looks up addresses, [`chunk`] runs the rows and [`document`]
//! renders the job for its client. `other_packages` knows the jobs whose release has another
//! package here. `purge` removes expired ones.
//!
//! **Fairness.** The state hands out jobs tenant by tenant, and a runner releases a job after some
//! chunks. So a long job of one tenant delays no other tenant.
//!
//! **Priority.** Job rows and requests run on the same workers. A runner yields between two rows as
//! soon as a request waits for a worker. It waits until none does, for [`runner::MAX_YIELD`] at
//! most, and then runs one row. So one row at most delays a request, and a job makes progress under
//! any load.
//!
//! **Crashes.** The results of a chunk, its progress and its refund are one transaction. The next
//! holder of the lease begins an unfinished chunk again. A chunk that was begun three times and
//! never finished fails its job, since it may crash the hosts. Retried chunks run at full priority,
//! so that an unrelated host crash is less likely to use up their attempts.

mod address_lookup;
pub mod chunk;
pub mod chunking;
pub mod document;
mod eligibility;
mod other_packages;
pub mod persisted;
mod purge;
pub mod runner;
mod stop_reason;

use crate::service::Service;
use eligibility::Eligibility;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Time limit for the release of all leases: one row and one write to the state.
const STOP_TIME: Duration = Duration::from_secs(10);

/// The work on jobs, in the background of a service.
pub struct Jobs {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Jobs {
    /// Starts this many runners, whose leases last for `lease`, and the removal of expired jobs.
    pub fn start(service: &Arc<Service>, runners: usize, lease: Duration) -> Jobs {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let eligibility = Arc::<Eligibility>::default();
        for _ in 0..runners {
            let shared = (service.clone(), eligibility.clone());
            tasks.spawn(runner::run(shared, lease, stopped.clone()));
        }
        if runners > 0 {
            tasks.spawn(eligibility.watch(service.clone(), stopped.clone()));
        }
        tasks.spawn(purge::run(service.clone(), stopped));
        Jobs { stop, tasks }
    }

    /// Tells the runners to stop and to release their leases.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the runners have stopped, but no longer than `limit`.
    pub async fn wait_for_stop(self, limit: Duration) {
        if timeout(limit.min(STOP_TIME), self.tasks.join_all())
            .await
            .is_err()
        {
            tracing::warn!("a job was not released; its lease will expire");
        }
    }
}
