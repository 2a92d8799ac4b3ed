//! Runs a candidate beside the current release, on a sample of live rows.
//!
//! A response never waits for the candidate and never depends on it. The current release's answer
//! to a sampled row is copied into a bounded queue. A separate thread takes it from there while
//! requests leave the machine idle ([`run`]). A full queue drops the row and counts it.
//!
//! Both outcomes are counted ([`crate::telemetry::shadow`]) and stored ([`store`]), without the
//! address, the UPRN or anything else that identifies the home. `domesday shadow report` makes the
//! same page of them as `domesday compare`.

mod exclusions;
mod header;
mod offered_row;
mod recorder;
pub mod report;
mod run;
mod store;

use crate::clock::Clock;
use crate::telemetry::shadow::ShadowMetrics;
use arc_swap::ArcSwapOption;
use domesday_engine::outcome::Row;
use domesday_engine::subject::Subject;
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::paired::{ComparedOutcome, Side};
use domesday_valuation::comparison_outcome::compared_outcome;
use domesday_valuation::release_store::{OpenRelease, ReleaseError};
use domesday_valuation::sample_rate::SampleRate;
use domesday_valuation::worker_pool::Occupancy;
use exclusions::ExclusionReason;
use offered_row::OfferedRow;
use recorder::PairRecorder;
use report::ReportError;
use run::Runner;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The longest wait for the thread of a candidate that was stopped.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The interval of checks whether that thread has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Rows that may wait for the candidate, some kilobyte each.
const QUEUE: usize = 1_024;

/// The shadow of a service, if one runs.
pub struct Shadows {
    now: ArcSwapOption<Shadow>,
    /// The thread of the latest shadow. It begins when the one before has ended, so that no two
    /// threads write in one folder.
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The folder of the pairs.
    folder: PathBuf,
    occupancy: Occupancy,
    clock: Arc<dyn Clock>,
    metrics: ShadowMetrics,
}

/// A candidate that runs beside the current release.
pub struct Shadow {
    candidate: Arc<OpenRelease>,
    share: SampleRate,
    queue: SyncSender<OfferedRow>,
    ended: Arc<AtomicBool>,
    dropped: Arc<AtomicU64>,
    clock: Arc<dyn Clock>,
    metrics: ShadowMetrics,
}

/// The reason why a release cannot run as a shadow.
#[derive(Debug, thiserror::Error)]
pub enum ShadowError {
    /// The release cannot be served.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The release is the current one.
    #[error("{0} is the current release; choose another release as the shadow")]
    Current(String),
    /// The thread cannot be started.
    #[error("a shadow's thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl Shadows {
    /// Creates it without a shadow. Pairs will be stored in `folder`.
    pub fn new(
        folder: PathBuf,
        occupancy: Occupancy,
        clock: Arc<dyn Clock>,
        metrics: ShadowMetrics,
    ) -> Shadows {
        Shadows {
            now: ArcSwapOption::empty(),
            thread: Mutex::new(None),
            folder,
            occupancy,
            clock,
            metrics,
        }
    }

    /// Returns the running candidate. Never waits.
    pub fn now(&self) -> Option<Arc<Shadow>> {
        self.now.load_full()
    }

    /// Returns the report of the running candidate, if one runs. Blocks.
    pub fn running_report(&self) -> Option<Result<Comparison, ReportError>> {
        let shadow = self.now()?;
        let data = self.folder.parent().unwrap_or(&self.folder);
        Some(report::comparison(data, shadow.release_id(), None))
    }

    /// Runs a candidate on a share of rows from now on, and stops any other first. Its rows wait in
    /// the queue until the other's thread has ended.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn begin(&self, candidate: Arc<OpenRelease>, share: SampleRate) -> std::io::Result<()> {
        let mut thread = self.thread();
        self.stop();
        let (queue, offered) = sync_channel(QUEUE);
        let ended = Arc::new(AtomicBool::new(false));
        let dropped = Arc::new(AtomicU64::new(0));
        let runner = Runner {
            candidate: candidate.clone(),
            offered,
            ended: ended.clone(),
            occupancy: self.occupancy.clone(),
            metrics: self.metrics.clone(),
            recorder: PairRecorder::new(
                candidate.clone(),
                share,
                self.metrics.clone(),
                self.folder.clone(),
                dropped.clone(),
            ),
        };
        let before = thread.take();
        let work = std::thread::Builder::new()
            .name("shadow".to_owned())
            .stack_size(run::STACK_BYTES)
            .spawn(move || {
                if let Some(before) = before {
                    join(before);
                }
                runner.run();
            })?;
        *thread = Some(work);
        self.metrics.record_start(&candidate.id, share.part());
        tracing::info!(
            release_id = candidate.id,
            share = share.part(),
            "a shadow starts"
        );
        self.now.store(Some(Arc::new(Shadow {
            candidate,
            share,
            queue,
            ended,
            dropped,
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
        })));
        Ok(())
    }

    /// Stops the running candidate and returns its id. Waits for the row in work, which may take a
    /// second, and for the counts of the others, but never for long.
    pub fn end(&self) -> Option<String> {
        let stopped = self.stop();
        let began = Instant::now();
        while !self.has_ended() {
            if began.elapsed() > LONGEST_WAIT {
                tracing::error!("a shadow's thread did not end in time");
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        stopped
    }

    /// Stops the candidate if it is this release, whose files are not those of its manifest. Never
    /// waits.
    pub fn stop_if_withdrawn(&self, id: &str) {
        if self.now().is_some_and(|shadow| shadow.release_id() == id) {
            tracing::error!(release_id = id, "the shadow was withdrawn");
            self.stop();
        }
    }

    /// Stops the candidate if it is this release, since a release is not compared with itself.
    /// Never waits, since other promotions wait for its caller.
    pub fn stop_if_promoted(&self, id: &str) {
        let runs = self.now().is_some_and(|shadow| shadow.release_id() == id);
        if runs {
            tracing::info!(release_id = id, "the shadow was promoted");
            self.stop();
        }
    }

    /// Stops the running candidate and returns its id. Its thread drops and counts the rows that
    /// wait, and ends when it has done so.
    fn stop(&self) -> Option<String> {
        let shadow = self.now.swap(None)?;
        shadow.ended.store(true, Ordering::Relaxed);
        self.metrics.record_end();
        tracing::info!(release_id = shadow.candidate.id, "the shadow ends");
        Some(shadow.candidate.id.clone())
    }

    /// Reports whether no thread is left of a shadow that was stopped.
    fn has_ended(&self) -> bool {
        let mut thread = self.thread();
        if let Some(ended) = thread.take_if(|thread| thread.is_finished()) {
            join(ended);
        }
        thread.is_none()
    }

    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        // A panic leaves the option whole.
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the end of a thread.
fn join(thread: JoinHandle<()>) {
    if thread.join().is_err() {
        tracing::error!("a shadow's thread had ended before it");
    }
}

impl Shadow {
    /// Returns the candidate's id.
    pub fn release_id(&self) -> &str {
        &self.candidate.id
    }

    /// Returns the share of rows that the candidate runs on.
    pub fn share(&self) -> SampleRate {
        self.share
    }

    /// Reports whether the candidate runs on this row of this release.
    pub fn takes(&self, current: &OpenRelease, row: Uuid) -> bool {
        current.id != self.candidate.id && self.share.other_has(row)
    }

    /// Queues the release's answer to a sampled row. A host failure is not an answer. Never waits.
    pub fn offer_answer(
        &self,
        current: &Arc<OpenRelease>,
        subject: &Arc<Subject>,
        row: &Row,
        took: Duration,
    ) {
        if !row
            .outcome
            .as_ref()
            .is_err_and(|failure| failure.retryable())
        {
            self.offer(
                current,
                subject,
                compared_outcome(current, &row.outcome),
                row.cost.fuel,
                took,
            );
        }
    }

    /// Queues an outcome of a sampled row and its cost. Never waits.
    pub fn offer(
        &self,
        current: &Arc<OpenRelease>,
        subject: &Arc<Subject>,
        outcome: ComparedOutcome,
        fuel: u64,
        took: Duration,
    ) {
        // The request began before the shadow stopped.
        if self.ended.load(Ordering::Relaxed) {
            return;
        }
        let offered = OfferedRow {
            current: current.clone(),
            subject: subject.clone(),
            side: Side {
                outcome,
                fuel,
                micros: took.as_nanos() as f64 / 1_000.0,
            },
            at: self.clock.now(),
        };
        match self.queue.try_send(offered) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                self.metrics
                    .row(self.release_id(), ExclusionReason::Dropped.word());
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MachineClock;
    use crate::telemetry::metrics::Metrics;
    use domesday_engine::Runtime;
    use domesday_engine::config::Allocation;
    use domesday_package::Trust;
    use domesday_valuation::release_store::{open_release, package_ids};
    use domesday_valuation::worker_pool::WorkerPool;
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::mpsc::channel;

    /// Opens the demo's release.
    fn candidate() -> Arc<OpenRelease> {
        let releases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases");
        let id = package_ids(&releases.join("valuation")).unwrap().remove(0);
        let runtime = Runtime::new(Allocation::OnDemand).unwrap();
        let snapshots = &mut BTreeMap::new();
        Arc::new(open_release(&releases, &id, &Trust::Unsigned, &runtime, snapshots).unwrap())
    }

    /// The thread hangs, as it does while the disk of its folder answers nothing.
    #[test]
    fn a_stopped_shadow_whose_thread_hangs_holds_nothing_up() {
        let folder = tempfile::tempdir().unwrap();
        let occupancy = WorkerPool::new(1, 8).unwrap().occupancy();
        let metrics = Metrics::new(0).shadow;
        let path = folder.path().join("shadow");
        let shadows = Arc::new(Shadows::new(
            path,
            occupancy,
            Arc::new(MachineClock),
            metrics,
        ));
        let candidate = candidate();
        let share = SampleRate::new(1.0).unwrap();
        shadows.begin(candidate.clone(), share).unwrap();
        let (go_on, held) = channel::<()>();
        let hanging = std::thread::spawn(move || {
            let _ = held.recv();
        });
        let own = shadows.thread().replace(hanging);

        let promoting = {
            let (shadows, candidate) = (shadows.clone(), candidate.clone());
            std::thread::spawn(move || {
                shadows.stop_if_promoted(&candidate.id);
                shadows.begin(candidate, share).unwrap();
            })
        };
        let began = Instant::now();
        while !promoting.is_finished() {
            assert!(began.elapsed() < LONGEST_WAIT, "it waits for the thread");
            std::thread::sleep(POLL_INTERVAL);
        }
        let id = Some(candidate.id.clone());
        assert_eq!(
            shadows.now().map(|shadow| shadow.release_id().to_owned()),
            id
        );
        assert!(!shadows.has_ended());
        drop(go_on);
        assert_eq!(shadows.end(), id);
        assert!(shadows.has_ended());
        own.unwrap().join().unwrap();
    }
}
