//! Records each row that was sampled for a candidate.

use super::exclusions::ExclusionReason;
use super::header::folder_header;
use super::offered_row::OfferedRow;
use super::store::{PairStore, StoredPair};
use crate::telemetry::shadow::ShadowMetrics;
use domesday_evaluation::compare::paired::PairedRow;
use domesday_state::UnixMillis;
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::sample_rate::SampleRate;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The interval at which counts are written. A host that dies loses those of one interval.
const PERIOD: Duration = Duration::from_secs(1);

/// Records the rows of a candidate in the metrics and in its folder.
pub(super) struct PairRecorder {
    candidate: Arc<OpenRelease>,
    share: SampleRate,
    metrics: ShadowMetrics,
    folder: PathBuf,
    store: PairStore,
    /// Rows that did not fit the queue. A request counts them here, so that it does not wait for a
    /// file.
    dropped: Arc<AtomicU64>,
    /// The release and the time of the latest row.
    latest: Option<(Arc<OpenRelease>, i64)>,
    last_write: Instant,
    /// True if a failed write was logged.
    failure_logged: bool,
}

impl PairRecorder {
    /// Creates a recorder of this candidate in `folder`.
    pub fn new(
        candidate: Arc<OpenRelease>,
        share: SampleRate,
        metrics: ShadowMetrics,
        folder: PathBuf,
        dropped: Arc<AtomicU64>,
    ) -> PairRecorder {
        PairRecorder {
            store: PairStore::new(folder.join(&candidate.id)),
            candidate,
            share,
            metrics,
            folder,
            dropped,
            latest: None,
            last_write: Instant::now(),
            failure_logged: false,
        }
    }

    /// Records a row that both releases answered.
    pub fn record_pair(&mut self, offered: &OfferedRow, pair: PairedRow) {
        let current = &offered.current;
        self.metrics.pair(&self.candidate.id, &pair);
        let at = minute(offered.at);
        self.latest = Some((current.clone(), at));
        let row = StoredPair {
            at,
            share: Some(self.share.part()),
            pair,
        };
        let header = || folder_header(current, &self.candidate, self.share);
        if let Err(error) = self.store.append(&current.id, &row, header) {
            self.log_failure(&error);
            self.record_exclusion(offered, ExclusionReason::WriteFailed);
        }
    }

    /// Records a row that is in no figure.
    pub fn record_exclusion(&mut self, offered: &OfferedRow, reason: ExclusionReason) {
        self.metrics.row(&self.candidate.id, reason.word());
        self.latest = Some((offered.current.clone(), minute(offered.at)));
        self.count_excluded(reason, 1);
    }

    /// Writes the counts, if `now` or if the last write was an interval ago.
    pub fn write(&mut self, now: bool) {
        if !now && self.last_write.elapsed() < PERIOD {
            return;
        }
        self.last_write = Instant::now();
        // Before the first row, no release is known to count beside.
        if self.latest.is_some() {
            let dropped = self.dropped.swap(0, Ordering::Relaxed);
            if dropped > 0 {
                self.count_excluded(ExclusionReason::Dropped, dropped);
            }
        }
        if let Err(error) = self.store.write_counts() {
            self.log_failure(&error);
        }
    }

    /// Counts rows beside the release of the latest row.
    fn count_excluded(&mut self, reason: ExclusionReason, rows: u64) {
        let Some((current, at)) = &self.latest else {
            return;
        };
        let header = || folder_header(current, &self.candidate, self.share);
        self.store
            .count_excluded(&current.id, (reason, rows), *at, header);
    }

    /// Logs the first failure alone, since the cause is likely to persist.
    fn log_failure(&mut self, error: &std::io::Error) {
        if !self.failure_logged {
            tracing::error!(%error, folder = %self.folder.display(), "a shadow's rows are not kept");
        }
        self.failure_logged = true;
    }
}

/// Rounds to the minute. The exact time could identify a request.
fn minute(at: UnixMillis) -> i64 {
    at.0.div_euclid(60_000) * 60
}
