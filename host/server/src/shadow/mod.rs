//! A candidate beside the current release, on a sample of live rows.
//!
//! What a client is told never waits for the candidate and never depends on it: the current release's answer to a
//! sampled row is copied into a queue of bounded length, and a thread of its own takes it from there while requests leave the machine
//! idle ([`run`]). A full queue drops the row and counts it. What both said is counted ([`crate::telemetry::shadow`]) and kept
//! ([`kept`]), without the address, the UPRN or anything else that says which home it was; `domesday shadow report`
//! makes the same page of it as `domesday compare`.

mod about;
pub mod kept;
pub mod read;
mod run;
mod share;

pub use share::{NoShare, Share};

use crate::clock::Clock;
use crate::compare::said::said;
use crate::releases::{OpenRelease, ReleaseError};
use crate::service::Service;
use crate::telemetry::shadow::ShadowMetrics;
use crate::workers::Load;
use arc_swap::ArcSwapOption;
use domesday_backtest::compare::paired::{Said, Side};
use domesday_breaks::broken;
use domesday_engine::outcome::Row;
use domesday_engine::subject::Subject;
use domesday_state::UnixMillis;
use run::Runner;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;
use uuid::Uuid;

/// Rows that may wait for the candidate, some kilobyte each.
const QUEUE: usize = 1_024;

/// Where a service's shadow is, if it has one.
pub struct Shadows {
    now: ArcSwapOption<Shadow>,
    /// Where pairs are kept.
    folder: PathBuf,
    load: Load,
    clock: Arc<dyn Clock>,
    metrics: ShadowMetrics,
}

/// A candidate that runs beside the current release.
pub struct Shadow {
    candidate: Arc<OpenRelease>,
    share: Share,
    queue: SyncSender<Offered>,
    ended: Arc<AtomicBool>,
    clock: Arc<dyn Clock>,
    metrics: ShadowMetrics,
}

/// A row that the current release answered.
struct Offered {
    current: Arc<OpenRelease>,
    subject: Arc<Subject>,
    side: Side,
    at: UnixMillis,
}

/// Why a release does not run as a shadow.
#[derive(Debug, thiserror::Error)]
pub enum ShadowError {
    /// It cannot be served either.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// There is nothing to compare.
    #[error("{0} is the current release: a shadow is another one")]
    Current(String),
    /// No thread can be had.
    #[error("a shadow's thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

impl Service {
    /// Runs a release as a shadow from now on, in place of any other. It is opened, proved and admitted as any is. Blocks.
    ///
    /// # Errors
    /// Where it cannot be served, or is the current one.
    pub fn begin_shadow(&self, id: &str, share: Share) -> Result<(), ShadowError> {
        let candidate = self.releases.get(id)?;
        if self.releases.current().id == candidate.id && !broken("shadow-current") {
            return Err(ShadowError::Current(candidate.id.clone()));
        }
        Ok(self.shadows.begin(candidate, share)?)
    }
}

impl Shadows {
    /// None yet; pairs are to be kept in `folder`.
    pub fn new(
        folder: PathBuf,
        load: Load,
        clock: Arc<dyn Clock>,
        metrics: ShadowMetrics,
    ) -> Shadows {
        Shadows {
            now: ArcSwapOption::empty(),
            folder,
            load,
            clock,
            metrics,
        }
    }

    /// The candidate that runs now. Never waits.
    pub fn now(&self) -> Option<Arc<Shadow>> {
        self.now.load_full()
    }

    /// Runs a candidate on a share of rows from now on, in place of any other.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub fn begin(&self, candidate: Arc<OpenRelease>, share: Share) -> std::io::Result<()> {
        self.end();
        let (queue, offered) = sync_channel(QUEUE);
        let ended = Arc::new(AtomicBool::new(false));
        let runner = Runner {
            candidate: candidate.clone(),
            share,
            offered,
            ended: ended.clone(),
            load: self.load.clone(),
            folder: self.folder.clone(),
            metrics: self.metrics.clone(),
        };
        std::thread::Builder::new()
            .name("shadow".to_owned())
            .stack_size(run::STACK_BYTES)
            .spawn(move || runner.run())?;
        self.metrics.begun(&candidate.id, share.part());
        tracing::info!(
            release_id = candidate.id,
            share = share.part(),
            "a shadow begins"
        );
        self.now.store(Some(Arc::new(Shadow {
            candidate,
            share,
            queue,
            ended,
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
        })));
        Ok(())
    }

    /// Ends the candidate that runs, and says whether there was one. Rows that wait for it are let go of.
    pub fn end(&self) -> bool {
        let Some(shadow) = self.now.swap(None) else {
            return false;
        };
        shadow.ended.store(true, Ordering::Relaxed);
        self.metrics.ended();
        tracing::info!(release_id = shadow.candidate.id, "the shadow ends");
        true
    }
}

impl Shadow {
    /// The candidate's id.
    pub fn release_id(&self) -> &str {
        &self.candidate.id
    }

    /// The share of rows that it is run on.
    pub fn share(&self) -> Share {
        self.share
    }

    /// Whether it is run on this row of this release.
    pub fn takes(&self, current: &OpenRelease, row: Uuid) -> bool {
        current.id != self.candidate.id && (self.share.holds(row) || broken("shadow-share"))
    }

    /// Notes what the release said of a row that is taken; a host's failure is nobody's answer. Never waits.
    pub fn answered(
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
                said(current, &row.outcome),
                row.cost.fuel,
                took,
            );
        }
    }

    /// Notes what was said of a row that is taken, at which cost. Never waits.
    pub fn offer(
        &self,
        current: &Arc<OpenRelease>,
        subject: &Arc<Subject>,
        said: Said,
        fuel: u64,
        took: Duration,
    ) {
        let offered = Offered {
            current: current.clone(),
            subject: subject.clone(),
            side: Side {
                said,
                fuel,
                micros: took.as_nanos() as f64 / 1_000.0,
            },
            at: self.clock.now(),
        };
        match self.queue.try_send(offered) {
            Ok(()) => {}
            Err(TrySendError::Full(offered)) if broken("shadow-waits") => {
                let _ = self.queue.send(offered);
            }
            Err(TrySendError::Full(_)) => self.metrics.row(self.release_id(), "dropped"),
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}
