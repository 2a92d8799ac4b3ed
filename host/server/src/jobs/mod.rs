//! Asynchronous jobs: how one is accepted, kept, worked on and shown.
//!
//! [`intake`] divides a submission into chunks, [`stored`] is the form in which they are kept,
//! [`runner`] takes jobs from the state, `asking` asks an identity provider where there is one, [`chunk`] values the rows, [`document`] is what the
//! client is shown.
//!
//! **Whose turn it is.** The state hands out jobs tenant by tenant, and a runner lets go of a job
//! after some chunks, so that a long job of one tenant delays nobody else's.
//!
//! **Behind synchronous work.** Job rows run on the same threads as requests do, one after another,
//! and a runner steps aside between two rows as soon as a request waits for a thread. It waits
//! until none does, but never longer than [`runner::PATIENCE`], and then values one row whatever
//! waits. So a request is delayed by one row at most, and a job goes on under any load.
//!
//! **Crashes.** A chunk's results, its progress and the units given back are one transaction. What a
//! host was doing when it died is begun again by whoever holds the job next; a chunk that was begun
//! three times and never finished fails its job, since it may well be what kills the hosts. A chunk
//! that was begun before is not worked on behind requests: the sooner it is done, the less likely is
//! it blamed for an end that was none of its doing.

mod asking;
pub mod chunk;
pub mod document;
pub mod intake;
pub mod runner;
pub mod stored;

use crate::service::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long letting go of jobs may take: a row's worth of work and a write to the state.
const STOP_TIME: Duration = Duration::from_secs(10);

/// The work on jobs, in the background of a service.
pub struct Jobs {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Jobs {
    /// Begins to work on so many jobs at a time, each held for `lease` at a time, and to remove what
    /// is past its time.
    pub fn start(service: &Arc<Service>, runners: usize, lease: Duration) -> Jobs {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for _ in 0..runners {
            tasks.spawn(runner::run(service.clone(), lease, stopped.clone()));
        }
        tasks.spawn(runner::purge(service.clone(), stopped));
        Jobs { stop, tasks }
    }

    /// Tells it to stop. Jobs in work are let go of, for another host or another start.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until it has stopped.
    pub async fn ended(self) {
        if timeout(STOP_TIME, self.tasks.join_all()).await.is_err() {
            tracing::warn!("a job could not be let go of; its lease will run out");
        }
    }
}
