//! Takes jobs from the state and works them off, chunk by chunk.

use super::asking;
use super::chunk::{ATTEMPTS, Chunk};
use super::document::{mode, summary};
use super::intake::CHUNK_ROWS;
use super::stored::{self, Unreadable};
use crate::receipts::NotKept;
use crate::releases::OpenRelease;
use crate::service::Service;
use crate::valuation::batch::nth;
use crate::valuation::row;
use crate::workers::Workers;
use domesday_breaks::broken;
use domesday_state::{Claim, Held, Hold, Job, JobError, StateError};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, interval, interval_at, sleep, timeout};
use uuid::Uuid;

/// The longest that a row of a job waits for requests to have threads: under any load, a job goes
/// on by fifty rows a second.
pub const PATIENCE: Duration = Duration::from_millis(20);
/// How often it is looked whether requests still wait.
const LOOK: Duration = Duration::from_millis(1);

/// How often in each lease a host says that it is still at work.
const RENEWALS: u32 = 3;
/// Chunks of one job before others have their turn.
const TURN: u32 = 8;
/// How often jobs are looked for that this host did not accept: another host's, or one whose lease
/// ran out.
const POLL: Duration = Duration::from_secs(1);
/// How long a release that does not open is left alone.
const REOPEN: Duration = Duration::from_secs(1);
/// How often what is past its time is removed.
const PURGE: Duration = Duration::from_secs(60);

/// Why a claimed job is not worked on any further.
enum Ended {
    /// Its last chunk is finished.
    Completed,
    /// Others have their turn, or this host is stopping.
    LetGo,
    /// Another host has it, or it is gone.
    Lost,
    /// It cannot be finished.
    Failed(JobError),
    /// The state does not answer.
    State(StateError),
    /// The receipts of its rows cannot be kept.
    Receipts(NotKept),
}

impl From<NotKept> for Ended {
    fn from(error: NotKept) -> Self {
        Ended::Receipts(error)
    }
}

impl From<StateError> for Ended {
    fn from(error: StateError) -> Self {
        Ended::State(error)
    }
}

/// Works jobs off until `stop` says so; a job in work is then let go of, between two rows. A job stays
/// with this host for `lease` after it last said anything.
pub async fn run(service: Arc<Service>, lease: Duration, mut stop: watch::Receiver<bool>) {
    let runner = Runner {
        service,
        lease,
        stop: stop.clone(),
    };
    while !*stop.borrow() {
        let claimed = match runner.claim().await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::error!(%error, "no job could be claimed");
                None
            }
        };
        match claimed {
            Some(claim) => runner.work_off(claim).await,
            None => {
                let something = async {
                    tokio::select! {
                        () = runner.service.submitted.notified() => {}
                        _ = stop.changed() => {}
                    }
                };
                // Either way it is looked again.
                let _ = timeout(POLL, something).await;
            }
        }
    }
}

/// Removes what is past its time, every minute, until `stop` says so.
pub async fn purge(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    let mut minutes = interval(PURGE);
    loop {
        tokio::select! {
            _ = minutes.tick() => {}
            _ = stop.changed() => return,
        }
        match service.state.purge(service.clock.now()).await {
            Ok(purged) if purged.jobs + purged.documents > 0 => {
                tracing::info!(jobs = purged.jobs, documents = purged.documents, "purged");
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "what is past its time could not be removed"),
        }
    }
}

struct Runner {
    service: Arc<Service>,
    lease: Duration,
    stop: watch::Receiver<bool>,
}

impl Runner {
    async fn claim(&self) -> Result<Option<Claim>, StateError> {
        let now = self.service.clock.now();
        self.service.state.claim(now, millis(self.lease)).await
    }

    async fn work_off(&self, claim: Claim) {
        let (held, job_id) = (claim.held, claim.job.id);
        let (release_id, attempts) = (claim.job.release_id.clone(), claim.attempts);
        let ended = match self.chunks(claim).await {
            Ok(ended) | Err(ended) => ended,
        };
        let said = match ended {
            Ended::Completed => {
                self.service.metrics.job_ended("completed");
                tracing::info!(%job_id, release_id, "job completed");
                return;
            }
            Ended::Lost => Ok(Hold::Lost),
            Ended::LetGo => self.service.state.let_go(held).await,
            Ended::Failed(error) => {
                tracing::error!(%job_id, release_id, attempts, code = error.code, "job failed");
                let now = self.service.clock.now();
                let said = self.service.state.fail(held, error, now).await;
                if matches!(said, Ok(Hold::Kept)) {
                    self.service.metrics.job_ended("failed");
                }
                said
            }
            Ended::Receipts(error) => {
                tracing::error!(%job_id, %error, "receipts are not kept");
                return self.let_go_later(held).await;
            }
            Ended::State(error) => Err(error),
        };
        match said {
            Ok(Hold::Kept) => {}
            Ok(Hold::Lost) => lost(job_id),
            Err(error) => {
                tracing::error!(%job_id, %error, "the state does not answer");
                self.let_go_later(held).await;
            }
        }
    }

    /// Lets go of a job as soon as the state answers, since its failure is no crash of the chunk's;
    /// at the latest, the lease runs out.
    async fn let_go_later(&self, held: Held) {
        let until = Instant::now() + self.lease;
        while Instant::now() < until && !self.stopping() {
            sleep(POLL).await;
            match self.service.state.let_go(held).await {
                Ok(Hold::Kept) => return,
                Ok(Hold::Lost) => return lost(held.job),
                Err(_) => {}
            }
        }
    }

    /// Works on a job until it ends, or this runner's turn does.
    async fn chunks(&self, claim: Claim) -> Result<Ended, Ended> {
        let Claim { held, job, .. } = &claim;
        if claim.attempts > ATTEMPTS {
            return Err(Ended::Failed(crashed()));
        }
        let kept = stored::Shared::from_bytes(&claim.shared).map_err(|e| unreadable(&e))?;
        let shared = self.holding(*held, self.shared(job, kept)).await??;
        let shared = Arc::new(shared);
        for number in claim.next..job.chunks {
            if self.stopping() || number - claim.next == TURN {
                return Ok(Ended::LetGo);
            }
            let state = &self.service.state;
            let input = state.input(*held, number).await?.ok_or(Ended::Lost)?;
            let rows = stored::rows_from_bytes(&input).map_err(|error| unreadable(&error))?;
            drop(input);
            let first = nth(kept.first_valuation_id, number as usize * CHUNK_ROWS);
            // Each end of a host counts against the chunk that it was at, whatever ended it. So one
            // that was begun before is done without delay.
            let hasty = number == claim.next && claim.attempts > 1;
            let valued = self.value(rows.into(), first, &shared, hasty);
            let chunk = self.holding(*held, valued).await??;
            if let Some(receipts) = &shared.receipts {
                self.holding(*held, receipts.kept()).await??;
            }
            let now = self.service.clock.now();
            let done = chunk.done(number);
            let summary = summary(done.tally);
            let lease = millis(self.lease);
            match state.finish_chunk(*held, done, now, lease).await? {
                Hold::Kept => self.service.metrics.summary(&job.release_id, &summary),
                Hold::Lost => return Err(Ended::Lost),
            }
        }
        Ok(Ended::Completed)
    }

    /// What all rows share, on the release that the job was submitted under.
    async fn shared(&self, job: &Job, kept: stored::Shared) -> Result<row::Shared, Ended> {
        let mode = mode(job.mode);
        Ok(row::Shared {
            release: self.release(job).await?,
            kind: mode.kind(),
            depth: mode.depth(),
            settings: kept.settings,
            stored_data: kept.stored_data,
            execution_id: kept.execution_id,
            receipts: self
                .service
                .receipts_of(&job.tenant, kept.execution_id)
                .await?,
            shadow: self.service.shadows.now(),
        })
    }

    /// The job's release. That it does not open may pass, as other faults of ours: a share that is away
    /// for a moment, a lack of file handles. So it is tried as often as they are.
    async fn release(&self, job: &Job) -> Result<Arc<OpenRelease>, Ended> {
        let mut attempt = 1;
        loop {
            let (service, id) = (self.service.clone(), job.release_id.clone());
            // It may have to be read from disk.
            let opened = tokio::task::spawn_blocking(move || match broken("versioning-4") {
                true => Ok(service.releases.current()),
                false => service.releases.get(&id),
            });
            let error: Box<dyn std::error::Error + Send + Sync> = match opened.await {
                Ok(Ok(release)) => return Ok(release),
                Ok(Err(error)) => error.into(),
                Err(panicked) => panicked.into(),
            };
            tracing::error!(job_id = %job.id, attempt, %error, "a job's release does not open");
            if attempt == ATTEMPTS {
                return Err(Ended::Failed(not_served()));
            }
            if self.stopping() {
                return Err(Ended::LetGo);
            }
            attempt += 1;
            sleep(REOPEN).await;
        }
    }

    /// Values a chunk, behind synchronous work unless it is `hasty`.
    async fn value(
        &self,
        rows: Arc<[String]>,
        first: Uuid,
        shared: &Arc<row::Shared>,
        hasty: bool,
    ) -> Result<Chunk, Ended> {
        let mut lost = 0;
        let mut chunk = Chunk::new(rows.clone());
        loop {
            let asked = asking::ask(&self.service, self.stop.clone(), chunk, shared).await;
            let answers;
            (chunk, answers) = asked.ok_or(Ended::LetGo)?;
            while !chunk.round_over() {
                if self.stopping() {
                    return Err(Ended::LetGo);
                }
                if !hasty {
                    step_aside(&self.service.workers).await;
                }
                let (shared, said) = (shared.clone(), answers.clone());
                let waiting = self.service.workers.waiting().clone();
                let stop = self.stop.clone();
                let worked = self.service.workers.run_behind(move || {
                    let set_aside = || (waiting.any() && !hasty) || *stop.borrow();
                    chunk.work(&shared, &said, first, set_aside);
                    chunk
                });
                chunk = match worked.await {
                    Ok(worked) => worked,
                    // A panic that was no row's: each row's own is caught, and its result says so.
                    Err(error) => {
                        tracing::error!(%error, "a chunk");
                        lost += 1;
                        if lost == ATTEMPTS {
                            return Err(Ended::Failed(crashed()));
                        }
                        asking::pause(&answers, self.stop.clone()).await;
                        Chunk::new(rows.clone())
                    }
                };
            }
            if !chunk.again() {
                return Ok(chunk);
            }
            asking::pause(&answers, self.stop.clone()).await;
        }
    }

    /// Holds on to a job while something long is done for it.
    async fn holding<T>(&self, held: Held, work: impl Future<Output = T>) -> Result<T, Ended> {
        let mut work = pin!(work);
        let every = self.lease / RENEWALS;
        let mut renewals = interval_at(Instant::now() + every, every);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                _ = renewals.tick() => {}
            }
            let now = self.service.clock.now();
            match self
                .service
                .state
                .renew(held, now, millis(self.lease))
                .await
            {
                Ok(Hold::Kept) => {}
                Ok(Hold::Lost) => return Err(Ended::Lost),
                // Should the lease run out meanwhile, the fence keeps the results from being written.
                Err(error) => tracing::warn!(job_id = %held.job, %error, "a lease was not renewed"),
            }
        }
    }

    fn stopping(&self) -> bool {
        *self.stop.borrow()
    }
}

/// Waits while requests wait for threads, within reason.
async fn step_aside(workers: &Workers) {
    let until = Instant::now() + PATIENCE;
    while workers.waiting().any() && Instant::now() < until {
        sleep(LOOK).await;
    }
}

fn lost(job_id: Uuid) {
    tracing::warn!(%job_id, "the job is another host's now, or gone");
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The release that a job is pinned to cannot be had.
fn not_served() -> JobError {
    JobError {
        code: "release_unavailable".to_owned(),
        message: "The release that the job was submitted under can no longer be opened. Submit it again, under another idempotency_key if it had one: a new job runs on the active release.".to_owned(),
        retryable: true,
    }
}

fn crashed() -> JobError {
    JobError {
        code: "processing_failed".to_owned(),
        message: "A part of the job ended the service's work on it three times. Its rows can be sent in synchronous batches, to find out which.".to_owned(),
        retryable: false,
    }
}

fn unreadable(error: &Unreadable) -> Ended {
    tracing::error!(%error, "a job");
    Ended::Failed(JobError {
        code: "processing_failed".to_owned(),
        message: "What was kept of the job can no longer be read. Submit it again, under another idempotency_key if it had one.".to_owned(),
        retryable: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_steps_aside_for_requests_but_not_for_ever() {
        let workers = Arc::new(Workers::new(1, 8).unwrap());
        let (release, released) = std::sync::mpsc::channel::<()>();
        let started = Instant::now();
        step_aside(&workers).await;
        assert!(started.elapsed() < PATIENCE, "nothing waits");

        // One request has the only thread, another waits for it.
        let busy = [workers.clone(), workers.clone()];
        let [first, second] = busy;
        let first = tokio::spawn(async move { first.run(move || released.recv()).await });
        let second = tokio::spawn(async move { second.run(|| ()).await });
        while !workers.waiting().any() {
            tokio::task::yield_now().await;
        }
        let started = Instant::now();
        step_aside(&workers).await;
        assert!(started.elapsed() >= PATIENCE, "a request still waited");
        release.send(()).unwrap();
        assert!(first.await.unwrap().unwrap().is_ok());
        assert!(second.await.unwrap().is_ok());
        assert!(!workers.waiting().any());
    }
}
