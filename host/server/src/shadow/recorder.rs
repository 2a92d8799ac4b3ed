//! Records each row that was sampled for a candidate.

use super::exclusions::ExclusionReason;
use super::header::about;
use super::offered::OfferedRow;
use super::store::{PairStore, StoredPair};
use crate::sample_rate::SampleRate;
use crate::telemetry::shadow::ShadowMetrics;
use domesday_evaluation::compare::paired::PairedRow;
use domesday_state::UnixMillis;
use domesday_valuation::release_store::OpenRelease;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The interval at which counts are written. A host that dies loses those of one interval.
const PERIOD: Duration = Duration::from_secs(1);

/// Records the rows of a candidate in the metrics and in its folder.
pub(super) struct Notes {
    candidate: Arc<OpenRelease>,
    share: SampleRate,
    metrics: ShadowMetrics,
    folder: PathBuf,
    keeper: PairStore,
    /// Rows that did not fit the queue. A request counts them here, so that it does not wait for a
    /// file.
    dropped: Arc<AtomicU64>,
    /// The release and the time of the latest row.
    latest: Option<(Arc<OpenRelease>, i64)>,
    written: Instant,
    /// Whether a failed write was logged.
    told: bool,
}

impl Notes {
    /// Creates a recorder of this candidate in `folder`.
    pub fn new(
        candidate: Arc<OpenRelease>,
        share: SampleRate,
        metrics: ShadowMetrics,
        folder: PathBuf,
        dropped: Arc<AtomicU64>,
    ) -> Notes {
        Notes {
            keeper: PairStore::new(folder.join(&candidate.id)),
            candidate,
            share,
            metrics,
            folder,
            dropped,
            latest: None,
            written: Instant::now(),
            told: false,
        }
    }

    /// Records a row that both releases answered.
    pub fn compared(&mut self, offered: &OfferedRow, pair: PairedRow) {
        let current = &offered.current;
        self.metrics.pair(&self.candidate.id, &pair);
        let at = minute(offered.at);
        self.latest = Some((current.clone(), at));
        let kept = StoredPair {
            at,
            share: Some(self.share.part()),
            pair,
        };
        let about = || about(current, &self.candidate, self.share);
        if let Err(error) = self.keeper.keep(&current.id, &kept, about) {
            self.tell(&error);
            self.left_out(offered, ExclusionReason::Unkept);
        }
    }

    /// Records a row that is in no figure.
    pub fn left_out(&mut self, offered: &OfferedRow, left: ExclusionReason) {
        self.metrics.row(&self.candidate.id, left.word());
        self.latest = Some((offered.current.clone(), minute(offered.at)));
        self.leave(left, 1);
    }

    /// Writes the counts, if `now` or if the last write was an interval ago.
    pub fn write(&mut self, now: bool) {
        if !now && self.written.elapsed() < PERIOD {
            return;
        }
        self.written = Instant::now();
        // Before the first row, no release is known to count beside.
        if self.latest.is_some() {
            let dropped = self.dropped.swap(0, Ordering::Relaxed);
            if dropped > 0 {
                self.leave(ExclusionReason::Dropped, dropped);
            }
        }
        if let Err(error) = self.keeper.write_counts() {
            self.tell(&error);
        }
    }

    /// Counts rows beside the release of the latest row.
    fn leave(&mut self, left: ExclusionReason, rows: u64) {
        let Some((current, at)) = &self.latest else {
            return;
        };
        let about = || about(current, &self.candidate, self.share);
        self.keeper.leave(&current.id, (left, rows), *at, about);
    }

    /// Logged once, since the cause is likely to persist.
    fn tell(&mut self, error: &std::io::Error) {
        if !self.told {
            tracing::error!(%error, folder = %self.folder.display(), "a shadow's rows are not kept");
        }
        self.told = true;
    }
}

/// Rounds to the minute. The exact time could identify a request.
fn minute(at: UnixMillis) -> i64 {
    at.0.div_euclid(60_000) * 60
}
