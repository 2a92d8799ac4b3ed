//! The pipeline of one row, from its text to the bytes of its result. Single values, batches and
//! jobs share it. [`RequestContext`] holds everything else that a row needs, so no row affects
//! another.

use super::address_lookup::AddressLookups;
use super::conflicts::stored_tenure;
use super::deadline::Deadline;
use super::eligibility::outside;
use super::merge::{MergedInputs, merge};
use super::render::{Rendering, refer, render};
pub use super::rendered_row::RenderedRow;
pub use super::request_context::RequestContext;
use super::resolve::{Identity, StoredMatch, identity, match_stored};
pub use super::row_outcome::RowOutcome;
use super::row_outcome::{
    failed_row, final_outcome, internal, rejected_row, timed_out, unresolved_row,
};
use super::value::{problem, value as run};
use super::{authorize, development_site, location_context};
use crate::observer::{ObservedRow, WantedEvidence};
use crate::release_store::OpenRelease;
use crate::spans::SPANS;
use chrono::NaiveDate;
use domesday_contract::error::ValidationError;
use domesday_contract::v3::input::Note;
use domesday_contract::v3::options::{Options, Settings};
use domesday_contract::v3::request::{Development, Kind, Request, RequestError};
use domesday_contract::v3::result::ValuationResult;
use domesday_engine::evidence::{EvidenceSource, Recorder};
use domesday_engine::outcome::{self as release_outcome, Row, RowFailure};
use domesday_registers::Postcode;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tracing::info_span;
use uuid::Uuid;

/// The request of a row.
pub enum ValuationRequest {
    /// An existing property.
    Existing(Box<Request>),
    /// A proposed property.
    Development(Box<Development>),
}

/// A parsed row, with or without errors.
pub struct ParsedRow {
    /// The customer's own reference, where that at least is sound.
    pub request_reference: Option<String>,
    /// The request, or its errors.
    content: Result<ValuationRequest, Vec<ValidationError>>,
}

impl ValuationRequest {
    /// Reads the body of a single route.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(body: &[u8], kind: Kind) -> Result<ValuationRequest, RequestError> {
        Ok(match kind {
            Kind::Existing => ValuationRequest::Existing(Box::new(Request::read(body)?)),
            Kind::Development => ValuationRequest::Development(Box::new(Development::read(body)?)),
        })
    }

    fn read_row(
        row: &str,
        kind: Kind,
        defaults: Settings,
    ) -> Result<ValuationRequest, RequestError> {
        Ok(match kind {
            Kind::Existing => {
                ValuationRequest::Existing(Box::new(Request::read_row(row, defaults)?))
            }
            Kind::Development => {
                ValuationRequest::Development(Box::new(Development::read_row(row, defaults)?))
            }
        })
    }

    /// Returns the request's options.
    pub fn options(&self) -> Options {
        match self {
            ValuationRequest::Existing(request) => request.options,
            ValuationRequest::Development(request) => request.options,
        }
    }

    /// Returns the day of the valuation.
    pub fn valuation_date(&self) -> NaiveDate {
        match self {
            ValuationRequest::Existing(request) => request.property.valuation_date,
            ValuationRequest::Development(request) => request.property.valuation_date,
        }
    }

    /// Returns the customer's own reference.
    pub fn request_reference(&self) -> Option<&str> {
        match self {
            ValuationRequest::Existing(request) => request.request_reference.as_deref(),
            ValuationRequest::Development(request) => request.request_reference.as_deref(),
        }
    }

    /// Inputs that are valid and of no use.
    pub fn ignored_inputs(&self) -> &[Note] {
        match self {
            ValuationRequest::Existing(request) => &request.ignored_inputs,
            ValuationRequest::Development(request) => &request.ignored_inputs,
        }
    }
}

impl ParsedRow {
    /// Returns whether the row costs a unit, which a row with errors does not.
    pub fn is_billable(&self) -> bool {
        self.content.is_ok()
    }

    /// Returns the postcode of the row to look up, as [`postcode_to_look_up`] does. Blocks.
    pub fn postcode_to_look_up(&self, context: &RequestContext) -> Option<Postcode> {
        postcode_to_look_up(self.content.as_ref().ok()?, context)
    }

    /// Returns the request of the row, or its errors.
    ///
    /// # Errors
    /// The errors of the row, at least one.
    pub fn request(&self) -> Result<&ValuationRequest, &[ValidationError]> {
        self.content.as_ref().map_err(Vec::as_slice)
    }
}

/// Parses a row, and checks its scope and its date.
pub fn parse(row: &str, context: &RequestContext) -> ParsedRow {
    let request = match ValuationRequest::read_row(row, context.kind, context.settings) {
        Ok(request) => request,
        Err(error) => {
            return ParsedRow {
                request_reference: error.request_reference,
                content: Err(error.errors),
            };
        }
    };
    let errors: Vec<ValidationError> = [
        authorize::stored_data(request.options().use_stored_data, context.stored_data),
        authorize::valuation_date(request.valuation_date(), context.release.window),
    ]
    .into_iter()
    .filter_map(Result::err)
    .collect();
    ParsedRow {
        request_reference: request.request_reference().map(str::to_owned),
        content: if errors.is_empty() {
            Ok(request)
        } else {
            Err(errors)
        },
    }
}

/// Returns the postcode to look up at the address provider, where the snapshot does not resolve the
/// address of a request. Blocks.
pub fn postcode_to_look_up(
    request: &ValuationRequest,
    context: &RequestContext,
) -> Option<Postcode> {
    let ValuationRequest::Existing(request) = request else {
        return None;
    };
    let look = || match_stored(&context.release.snapshot, &request.property);
    // A row whose lookup fails or panics says so itself, when it is its turn.
    match catch_unwind(AssertUnwindSafe(look)) {
        Ok(Ok(StoredMatch::Ambiguous(ambiguous))) => Some(ambiguous.postcode),
        _ => None,
    }
}

/// Runs a row and renders its result. Blocks. A row whose turn comes after the deadline is not
/// begun.
pub fn value(
    row: &ParsedRow,
    context: &RequestContext,
    answers: &AddressLookups,
    valuation_id: Uuid,
    deadline: Option<Deadline>,
) -> RenderedRow {
    let outcome = match &row.content {
        Ok(request) => outcome(request, context, answers, valuation_id, deadline),
        Err(errors) => rejected_row(errors.clone()),
    };
    write(row, context, valuation_id, outcome)
}

/// Renders the result of a row that the deadline left no time for.
pub fn timed_out_row(
    row: &ParsedRow,
    context: &RequestContext,
    valuation_id: Uuid,
    deadline: Deadline,
) -> RenderedRow {
    unfinished_row(row, context, valuation_id, timed_out(deadline))
}

/// Renders the result of a row whose worker panicked.
pub fn lost_row(row: &ParsedRow, context: &RequestContext, valuation_id: Uuid) -> RenderedRow {
    let outcome = failed_row(internal(), "the worker panicked".to_owned());
    unfinished_row(row, context, valuation_id, outcome)
}

/// Renders `outcome` as the result of a row, unless the row has errors. Those are known without
/// running it.
fn unfinished_row(
    row: &ParsedRow,
    context: &RequestContext,
    valuation_id: Uuid,
    outcome: RowOutcome,
) -> RenderedRow {
    let outcome = match &row.content {
        Ok(_) => outcome,
        Err(errors) => rejected_row(errors.clone()),
    };
    write(row, context, valuation_id, outcome)
}

fn write(
    row: &ParsedRow,
    context: &RequestContext,
    valuation_id: Uuid,
    outcome: RowOutcome,
) -> RenderedRow {
    let result = ValuationResult {
        release_id: &context.release.id,
        execution_id: context.execution_id,
        valuation_id,
        request_reference: row.request_reference.as_deref(),
        outcome: outcome.outcome,
    };
    RenderedRow::new(result, outcome.refundable, outcome.problem)
}

/// Runs a request without errors. Blocks. A panic ends the row and nothing else.
pub fn outcome(
    request: &ValuationRequest,
    context: &RequestContext,
    answers: &AddressLookups,
    valuation_id: Uuid,
    deadline: Option<Deadline>,
) -> RowOutcome {
    let work = || {
        if let Some(deadline) = deadline.filter(|deadline| deadline.is_over()) {
            return timed_out(deadline);
        }
        run_pipeline(request, context, answers, valuation_id, deadline)
            .unwrap_or_else(|ended| ended)
    };
    // A panic drops the row's own values. The row only reads the shared ones.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| failed_row(internal(), "the row panicked".to_owned()))
}

/// Resolves the home of a request, and puts the request and the stored property together.
pub(super) fn resolve(
    request: &ValuationRequest,
    release: &OpenRelease,
    answers: &AddressLookups,
) -> Result<MergedInputs, RowOutcome> {
    match request {
        ValuationRequest::Existing(request) => {
            let identity: Identity = identity(&release.snapshot, &request.property, answers)
                .map_err(|error| unresolved_row(error, "the address"))?;
            let stored_tenure = stored_tenure(&release.snapshot, request, &identity.property)
                .map_err(|error| unresolved_row(error.into(), "the last sale"))?;
            Ok(merge(
                request,
                &identity,
                release.latest_sale,
                stored_tenure,
            ))
        }
        ValuationRequest::Development(request) => {
            let located = development_site::locate(&release.snapshot, &request.property)
                .map_err(|error| unresolved_row(error, "the site"))?;
            Ok(development_site::subject(
                request,
                &located,
                release.latest_sale,
            ))
        }
    }
}

/// Runs the stages. Each may end the row early.
fn run_pipeline(
    request: &ValuationRequest,
    context: &RequestContext,
    answers: &AddressLookups,
    valuation_id: Uuid,
    deadline: Option<Deadline>,
) -> Result<RowOutcome, RowOutcome> {
    let release = &*context.release;
    let resolving = info_span!(target: SPANS, "resolve").entered();
    let MergedInputs {
        subject,
        identity_source,
        stored_data_used,
        applied_inputs,
        conflicting_inputs,
    } = resolve(request, release, answers)?;
    drop(resolving);
    let subject = Arc::new(subject);
    let referral = outside(&release.manifest, &subject);
    let rendering = Rendering {
        release,
        subject: &subject,
        identity_source,
        stored_data_used,
        applied_inputs,
        ignored_inputs: request.ignored_inputs().to_vec(),
        conflicting_inputs,
        comparables: None,
        context: None,
    };
    let observer = context.observer.as_deref();
    let observed = ObservedRow {
        release: &context.release,
        subject: &subject,
        valuation_id,
    };
    if let Some(referral) = referral {
        if let Some(observer) = observer {
            observer.observe_referral(&observed, &referral);
        }
        return Ok(final_outcome(refer(referral, rendering), None));
    }
    let remaining = deadline.map(Deadline::remaining);
    let wanted = observer.and_then(|observer| observer.wanted_evidence(valuation_id));
    let recorder = (wanted == Some(WantedEvidence::Answers))
        .then(|| Arc::new(Recorder::new(release.evidence.clone())));
    let evidence: Arc<dyn EvidenceSource> = match &recorder {
        Some(recorder) => recorder.clone(),
        None => release.evidence.clone(),
    };
    let digests = wanted == Some(WantedEvidence::Digests);
    let row: Row = run(&observed, observer, (evidence, digests), remaining);
    match (&row.outcome, deadline) {
        (Err(RowFailure::OutOfTime), Some(deadline))
            if remaining.is_some_and(|remaining| remaining <= release.release.row_time()) =>
        {
            return Err(timed_out(deadline));
        }
        (Err(failure), _) if failure.retryable() => {
            return Err(failed_row(internal(), failure.to_string()));
        }
        _ => {}
    }
    let sections = request.options().sections(context.depth);
    let location_context = match sections.context {
        true => Some(
            location_context::context(&release.snapshot, &subject, own_sales_share(&row))
                .map_err(|error| failed_row(internal(), error.to_string()))?,
        ),
        false => None,
    };
    // No step after this one fails, so the outcome of the receipt is that of the row.
    if let (Some(observer), Some(_)) = (observer, wanted) {
        observer.record_result(&observed, &row, recorder.map(|recorder| recorder.take()));
    }
    let problem = problem(&row);
    let rendering = Rendering {
        comparables: sections.comparables,
        context: location_context,
        ..rendering
    };
    Ok(final_outcome(render(row, rendering), problem))
}

/// Returns the weight of the home's own sales in an estimate.
fn own_sales_share(row: &Row) -> Option<f64> {
    match &row.outcome {
        Ok(release_outcome::Outcome::Valued(valuation)) => valuation.own_sales_share,
        _ => None,
    }
}
