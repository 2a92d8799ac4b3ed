//! Many rows, in pieces over all workers.

use super::{Results, Rows, Run};
use crate::telemetry::request_log::RequestSummary;
use domesday_contract::error::ValidationError;
use domesday_contract::v3::result::Summary;
use domesday_contract::vocabulary::Vocabulary;
use domesday_state::UsageKind;
use domesday_valuation::pipeline::batch;
use domesday_valuation::pipeline::batch::BatchResults;
use domesday_valuation::pipeline::response_size::check_rendered_size;
use domesday_valuation::pipeline::row::ParsedRow;

/// The rows of a batch, sound or not.
pub struct BatchRows(pub Vec<ParsedRow>);

impl Rows for BatchRows {
    type Results = BatchResults;

    const KIND: UsageKind = UsageKind::Batch;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn billable(&self) -> usize {
        self.0.iter().filter(|row| row.is_billable()).count()
    }

    async fn run(self, run: Run<'_>) -> BatchResults {
        batch::value(
            &run.service.workers,
            run.service.address_provider.as_ref(),
            &run.context,
            self.0,
            run.first_valuation_id,
            run.deadline,
        )
        .await
    }
}

impl Results for BatchResults {
    fn check_size(&self) -> Result<(), ValidationError> {
        check_rendered_size(&self.sizes)
    }

    fn refundable(&self) -> u32 {
        self.refundable
    }

    fn report(&self) -> Option<(Summary, RequestSummary)> {
        let line = RequestSummary {
            status: self.summary.status().code(),
            problem: self.problem.clone(),
        };
        Some((self.summary, line))
    }
}
