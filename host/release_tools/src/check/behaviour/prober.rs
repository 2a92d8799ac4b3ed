//! A release that values variants of homes, and the rows of its answers.

use crate::check::rows::{Home, RowResult, value_all};
use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_registers::Progress;
use domesday_valuation::pipeline::without_own_sales::WithoutOwnSales;
use std::sync::Arc;

/// A release on its evidence. It keeps the rows for the checks that judge all of them.
pub struct Prober<'a> {
    release: &'a Release,
    evidence: &'a Arc<dyn EvidenceSource>,
    /// All rows so far.
    pub rows: Vec<RowResult>,
}

impl<'a> Prober<'a> {
    /// Returns a prober without rows.
    pub fn new(release: &'a Release, evidence: &'a Arc<dyn EvidenceSource>) -> Prober<'a> {
        Prober {
            release,
            evidence,
            rows: Vec::new(),
        }
    }

    /// Returns the evidence.
    pub fn evidence(&self) -> &'a dyn EvidenceSource {
        self.evidence.as_ref()
    }

    /// Values homes and returns their rows in the same order.
    pub fn value(
        &mut self,
        homes: &[Home],
        stage: &str,
        progress: &mut Progress<'_>,
    ) -> &[RowResult] {
        self.value_on(self.evidence, homes, stage, progress)
    }

    /// Values homes and returns their estimates in the same order.
    pub fn estimates(
        &mut self,
        homes: &[Home],
        stage: &str,
        progress: &mut Progress<'_>,
    ) -> Vec<Option<f64>> {
        let rows = self.value(homes, stage, progress);
        rows.iter().map(RowResult::estimate).collect()
    }

    /// Values homes on evidence that has no sale of the home itself.
    pub fn estimates_without_own_sales(
        &mut self,
        homes: &[Home],
        stage: &str,
        progress: &mut Progress<'_>,
    ) -> Vec<Option<f64>> {
        let evidence: Arc<dyn EvidenceSource> = Arc::new(WithoutOwnSales(self.evidence.clone()));
        let rows = self.value_on(&evidence, homes, stage, progress);
        rows.iter().map(RowResult::estimate).collect()
    }

    fn value_on(
        &mut self,
        evidence: &Arc<dyn EvidenceSource>,
        homes: &[Home],
        stage: &str,
        progress: &mut Progress<'_>,
    ) -> &[RowResult] {
        let before = self.rows.len();
        let rows = value_all(self.release, homes, evidence, stage, progress);
        self.rows.extend(rows);
        &self.rows[before..]
    }
}
