//! Metrics of a candidate that runs beside the current release.

use domesday_evaluation::compare::paired::{ComparedOutcome, PairedRow, Status};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

/// Upper bounds of the candidate's value over the current one's. An unchanged value is in the bin
/// from 0.995 to 1.005.
const RATIOS: [f64; 12] = [
    0.5, 0.75, 0.9, 0.95, 0.98, 0.995, 1.005, 1.02, 1.05, 1.1, 1.25, 2.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Row {
    release: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Statuses {
    release: String,
    current: &'static str,
    shadow: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReleaseLabels {
    release: String,
}

/// Counters. Clones share them.
#[derive(Clone)]
pub struct ShadowMetrics {
    rows: Family<Row, Counter>,
    statuses: Family<Statuses, Counter>,
    ratios: Family<ReleaseLabels, Histogram, fn() -> Histogram>,
    share: Family<ReleaseLabels, Gauge<f64, AtomicU64>>,
}

impl ShadowMetrics {
    pub(super) fn register(registry: &mut Registry) -> ShadowMetrics {
        let metrics = ShadowMetrics {
            rows: Family::default(),
            statuses: Family::default(),
            ratios: Family::new_with_constructor(|| Histogram::new(RATIOS)),
            share: Family::default(),
        };
        registry.register(
            "shadow_rows",
            "Rows sampled for the shadow release, by outcome",
            metrics.rows.clone(),
        );
        registry.register(
            "shadow_statuses",
            "Rows compared, by the status of the current release's answer and of the shadow's",
            metrics.statuses.clone(),
        );
        registry.register(
            "shadow_value_ratio",
            "The shadow's value over the current release's, of rows that both value",
            metrics.ratios.clone(),
        );
        registry.register(
            "shadow_share",
            "Share of rows that the release runs on as a shadow",
            metrics.share.clone(),
        );
        metrics
    }

    /// Records the start of a shadow.
    pub fn record_start(&self, release: &str, share: f64) {
        self.share.clear();
        let release = release.to_owned();
        self.share
            .get_or_create(&ReleaseLabels { release })
            .set(share);
    }

    /// Records the end of the shadow.
    pub fn record_end(&self) {
        self.share.clear();
    }

    /// Counts the outcome of a sampled row.
    pub fn row(&self, release: &str, outcome: &'static str) {
        let release = release.to_owned();
        self.rows.get_or_create(&Row { release, outcome }).inc();
    }

    /// Records both outcomes of a row.
    pub fn pair(&self, release: &str, pair: &PairedRow) {
        let release = release.to_owned();
        let status = pair
            .outcomes()
            .map(ComparedOutcome::status)
            .map(Status::word);
        self.statuses
            .get_or_create(&Statuses {
                release: release.clone(),
                current: status.a,
                shadow: status.b,
            })
            .inc();
        if let Some(both) = pair.estimates() {
            self.ratios
                .get_or_create(&ReleaseLabels { release })
                .observe(both.b / both.a);
        }
    }
}
