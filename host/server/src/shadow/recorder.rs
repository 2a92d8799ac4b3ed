//! What is written down of each row that was taken for a candidate.

use super::Share;
use super::exclusions::ExclusionReason;
use super::header::about;
use super::offered::OfferedRow;
use super::store::{PairStore, StoredPair};
use crate::telemetry::shadow::ShadowMetrics;
use domesday_evaluation::compare::paired::PairedRow;
use domesday_state::UnixMillis;
use domesday_valuation::release_store::OpenRelease;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often counts are written down: a host that dies loses those of so long.
const PERIOD: Duration = Duration::from_secs(1);

/// Where a candidate's rows go: into the metrics, and into its folder.
pub(super) struct Notes {
    candidate: Arc<OpenRelease>,
    share: Share,
    metrics: ShadowMetrics,
    folder: PathBuf,
    keeper: PairStore,
    /// Rows that found no place in the queue; whoever offers them does not wait for a file.
    dropped: Arc<AtomicU64>,
    /// The release that the latest row was of, and when.
    latest: Option<(Arc<OpenRelease>, i64)>,
    written: Instant,
    /// Whether it was said that something cannot be written.
    told: bool,
}

impl Notes {
    /// Of this candidate, in `folder`.
    pub fn new(
        candidate: Arc<OpenRelease>,
        share: Share,
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

    /// Both answered.
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

    /// A row is in no figure.
    pub fn left_out(&mut self, offered: &OfferedRow, left: ExclusionReason) {
        self.metrics.row(&self.candidate.id, left.word());
        self.latest = Some((offered.current.clone(), minute(offered.at)));
        self.leave(left, 1);
    }

    /// Writes down what was counted, `now` or where it was not of late.
    pub fn write(&mut self, now: bool) {
        if !now && self.written.elapsed() < PERIOD {
            return;
        }
        self.written = Instant::now();
        // Before the first row there is no release that they could stand beside.
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

    /// Rows beside the release that the latest was of.
    fn leave(&mut self, left: ExclusionReason, rows: u64) {
        let Some((current, at)) = &self.latest else {
            return;
        };
        let about = || about(current, &self.candidate, self.share);
        self.keeper.leave(&current.id, (left, rows), *at, about);
    }

    /// Once: the reason is likely to stay.
    fn tell(&mut self, error: &std::io::Error) {
        if !self.told {
            tracing::error!(%error, folder = %self.folder.display(), "a shadow's rows are not kept");
        }
        self.told = true;
    }
}

/// In seconds, as exact as is kept: when a home was asked about is nobody's business to the second.
fn minute(at: UnixMillis) -> i64 {
    at.0.div_euclid(60_000) * 60
}
