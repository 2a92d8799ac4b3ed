//! The estimate that a release gives where it knows no sale of the home itself. It explains an
//! estimate that own sales moved: what the market alone gives, in the release's own judgement. The
//! check of a release uses the evidence to see how much own sales move.

use super::address_lookup::AddressLookups;
use super::row::{RequestContext, parse, resolve};
use crate::release_store::OpenRelease;
use domesday_contract::v3::options::Settings;
use domesday_engine::evidence::{
    EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource, Nearness,
};
use domesday_engine::outcome::Outcome;
use domesday_engine::subject::Subject;
use std::sync::Arc;
use std::time::Duration;

/// The time that the release may take.
const ROW_TIME: Duration = Duration::from_secs(5);

/// Evidence without the sales of the subject itself, among those near by too. A subject without its
/// UPRN would instead find its own sale as the nearest comparable.
pub struct WithoutOwnSales(pub Arc<dyn EvidenceSource>);

impl EvidenceSource for WithoutOwnSales {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        let mut response = self.0.ask(subject, question)?;
        if let EvidenceResponse::Sales(sales) = &mut response {
            sales.retain(|sale| sale.nearness != Nearness::SameProperty);
        }
        Ok(response)
    }
}

/// Returns the estimate of a request for an existing property without the home's own sales, in
/// pounds. It may use stored data.
///
/// There is none where the request has errors, its home is not found without an address provider,
/// or the release refers it. No observer sees the run. Blocks for at most five seconds.
pub fn estimate_without_own_sales(release: Arc<OpenRelease>, request: &str) -> Option<f64> {
    let context = RequestContext::of_tool(release, Settings::default());
    let row = parse(request, &context);
    let release = &*context.release;
    let merged = resolve(row.request().ok()?, release, &AddressLookups::none()).ok()?;
    let evidence = Arc::new(WithoutOwnSales(release.evidence.clone()));
    let subject = Arc::new(merged.subject);
    let row = (release.release).value_within(&subject, evidence, ROW_TIME);
    match row.outcome.ok()? {
        Outcome::Valued(valuation) => Some(valuation.estimate),
        Outcome::Referred(_) | Outcome::Failed { .. } => None,
    }
}
