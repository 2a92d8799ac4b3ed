//! One row, from its text to the bytes of its result: the path that single values, batches and jobs
//! share. What a row needs besides itself is in [`Shared`]; nothing of one row reaches another.

use super::look_up::Answers;
use super::market::outside;
use super::merge::{Merged, merge};
use super::render::{Rendering, refer, render};
use super::resolve::{Identity, Stored, Unresolved, identity, stored};
pub use super::shared::Shared;
use super::value::{Seen, problem, time_left, value as run};
use super::{admit, context, site};
use chrono::NaiveDate;
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault};
use domesday_contract::v3::input::Note;
use domesday_contract::v3::options::{Options, Settings};
use domesday_contract::v3::request::{Batch, Development, Kind, Refused, Request};
use domesday_contract::v3::result::{Outcome, Status, ValuationResult};
use domesday_engine::evidence::{EvidenceSource, Recorder};
use domesday_engine::outcome::{Row, RowFailure};
use domesday_registers::Postcode;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What a row asks.
pub enum Asked {
    /// To value a property that exists.
    Existing(Box<Request>),
    /// To value a proposed property.
    Development(Box<Development>),
}

/// A row that was read, whether it is sound or not.
pub struct ParsedRow {
    /// The customer's own reference, where that at least is sound.
    pub request_reference: Option<String>,
    /// What it asks, or everything that is wrong with it.
    content: Result<Asked, Vec<Fault>>,
}

/// What came of a row.
pub struct RowOutcome {
    /// In the contract's terms.
    pub outcome: Outcome,
    /// The row was left undone by our fault or for want of time: it costs nothing and may be tried
    /// again.
    pub undone: bool,
    /// Why there is no answer, for the log: a client is told only whose fault it is. What an identity
    /// provider that does not answer leaves undone has none: the log tells of that once, and not by row.
    pub problem: Option<String>,
    /// After which time it is worth another try, where that is known.
    pub retry_after: Option<Duration>,
}

/// A row whose result is written.
pub struct RowDone {
    /// The result as JSON.
    pub json: Vec<u8>,
    /// Its status.
    pub status: Status,
    /// As in [`RowOutcome`].
    pub undone: bool,
    /// As in [`RowOutcome`].
    pub problem: Option<String>,
}

impl Asked {
    /// Reads the body of a single route.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(body: &[u8], kind: Kind) -> Result<Asked, Refused> {
        if broken("limit-single")
            && let Ok(batch) = Batch::read(body, kind, usize::MAX)
        {
            return Asked::read(batch.rows[0].as_bytes(), kind);
        }
        Ok(match kind {
            Kind::Existing => Asked::Existing(Box::new(Request::read(body)?)),
            Kind::Development => Asked::Development(Box::new(Development::read(body)?)),
        })
    }

    fn read_row(row: &str, kind: Kind, shared: Settings) -> Result<Asked, Refused> {
        Ok(match kind {
            Kind::Existing => Asked::Existing(Box::new(Request::read_row(row, shared)?)),
            Kind::Development => Asked::Development(Box::new(Development::read_row(row, shared)?)),
        })
    }

    /// The options as they apply here.
    pub fn options(&self) -> Options {
        match self {
            Asked::Existing(request) => request.options,
            Asked::Development(request) => request.options,
        }
    }

    /// The day of the valuation.
    pub fn valuation_date(&self) -> NaiveDate {
        match self {
            Asked::Existing(request) => request.property.valuation_date,
            Asked::Development(request) => request.property.valuation_date,
        }
    }

    /// The customer's own reference.
    pub fn request_reference(&self) -> Option<&str> {
        match self {
            Asked::Existing(request) => request.request_reference.as_deref(),
            Asked::Development(request) => request.request_reference.as_deref(),
        }
    }

    /// Inputs that are valid and of no use.
    pub fn ignored_inputs(&self) -> &[Note] {
        match self {
            Asked::Existing(request) => &request.ignored_inputs,
            Asked::Development(request) => &request.ignored_inputs,
        }
    }
}

impl ParsedRow {
    /// Whether the row is admitted, which costs a unit.
    pub fn admitted(&self) -> bool {
        self.content.is_ok()
    }

    /// What the row asks, or everything that is wrong with it.
    pub fn asked(&self) -> Result<&Asked, &[Fault]> {
        self.content.as_ref().map_err(Vec::as_slice)
    }
}

/// Reads a row, and judges what can be judged by the document alone: its form, its scope and its date.
pub fn parse(row: &str, shared: &Shared) -> ParsedRow {
    let asked = match Asked::read_row(row, shared.kind, shared.settings) {
        Ok(asked) => asked,
        Err(refused) => {
            return ParsedRow {
                request_reference: refused.request_reference,
                content: Err(refused.faults),
            };
        }
    };
    let faults: Vec<Fault> = [
        admit::stored_data(asked.options().use_stored_data, shared.stored_data),
        admit::valuation_date(asked.valuation_date(), shared.release.window),
    ]
    .into_iter()
    .filter_map(Result::err)
    .collect();
    ParsedRow {
        request_reference: asked.request_reference().map(str::to_owned),
        content: if faults.is_empty() {
            Ok(asked)
        } else {
            Err(faults)
        },
    }
}

/// The postcode of a row that the snapshot leaves open, so that an identity provider is asked. Blocks.
pub fn wanted(row: &ParsedRow, shared: &Shared) -> Option<Postcode> {
    asks_for(row.content.as_ref().ok()?, shared)
}

/// As [`wanted`], of what is asked.
pub fn asks_for(asked: &Asked, shared: &Shared) -> Option<Postcode> {
    let Asked::Existing(request) = asked else {
        return None;
    };
    let look = || stored(&shared.release.snapshot, &request.property);
    // A row whose look-up fails or panics says so itself, when it is its turn.
    match catch_unwind(AssertUnwindSafe(look)) {
        Ok(Ok(Stored::Open(open))) => Some(open.postcode),
        _ => None,
    }
}

/// Values a row and writes its result. Blocks; a row whose turn comes after the deadline is not begun.
pub fn value(
    row: &ParsedRow,
    shared: &Shared,
    answers: &Answers,
    valuation_id: Uuid,
    deadline: Option<Instant>,
) -> RowDone {
    let done = match &row.content {
        Ok(asked) => outcome(asked, shared, answers, valuation_id, deadline),
        Err(faults) => rejected(faults.clone()),
    };
    write(row, shared, valuation_id, done)
}

/// The result of a row that there was no time for.
pub fn late(row: &ParsedRow, shared: &Shared, valuation_id: Uuid) -> RowDone {
    match &row.content {
        Ok(_) => write(row, shared, valuation_id, out_of_time()),
        // What is wrong with a row is known without any work.
        Err(faults) => write(row, shared, valuation_id, rejected(faults.clone())),
    }
}

fn write(row: &ParsedRow, shared: &Shared, valuation_id: Uuid, done: RowOutcome) -> RowDone {
    let result = ValuationResult {
        release_id: &shared.release.id,
        execution_id: match broken("result-execution-id") {
            true => valuation_id,
            false => shared.execution_id,
        },
        valuation_id,
        request_reference: row.request_reference.as_deref(),
        outcome: done.outcome,
    };
    RowDone {
        status: result.outcome.status(),
        // Maps with text for names and finite numbers are all that there is in it.
        json: serde_json::to_vec(&result).unwrap_or_default(),
        undone: done.undone,
        problem: done.problem,
    }
}

/// What comes of a sound request. Blocks. A panic ends the row and nothing else.
pub fn outcome(
    asked: &Asked,
    shared: &Shared,
    answers: &Answers,
    valuation_id: Uuid,
    deadline: Option<Instant>,
) -> RowOutcome {
    let work = || {
        if is_over(deadline) {
            return out_of_time();
        }
        work(asked, shared, answers, valuation_id, deadline).unwrap_or_else(|ended| ended)
    };
    // The row's own values are gone after a panic, and what it shares is only ever read.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| failed(internal(), "the row panicked".to_owned()))
}

/// The steps, which end early where one of them says so.
fn work(
    asked: &Asked,
    shared: &Shared,
    answers: &Answers,
    valuation_id: Uuid,
    deadline: Option<Instant>,
) -> Result<RowOutcome, RowOutcome> {
    let release = &*shared.release;
    let Merged {
        subject,
        identity_source,
        stored_data_used,
        applied_inputs,
    } = match asked {
        Asked::Existing(request) => {
            let identity: Identity =
                identity(&release.snapshot, &request.property, answers).map_err(unresolved)?;
            merge(request, &identity, release.latest_sale)
        }
        Asked::Development(request) => {
            let located = site::locate(&release.snapshot, &request.property).map_err(unresolved)?;
            site::subject(request, &located, release.latest_sale)
        }
    };
    let subject = Arc::new(subject);
    let referral = outside(&release.manifest, &subject);
    let rendering = Rendering {
        release,
        subject: &subject,
        identity_source,
        stored_data_used,
        applied_inputs,
        ignored_inputs: asked.ignored_inputs().to_vec(),
        comparables: None,
        context: None,
    };
    let seen = Seen::new(shared, &subject, valuation_id);
    if let Some(referral) = referral {
        seen.referred(&referral);
        return Ok(answered(refer(referral, rendering), None));
    }
    let left = time_left(deadline);
    let receipts = shared.receipts.as_deref();
    let receipts = receipts.filter(|receipts| receipts.wants(valuation_id));
    let recorder = receipts.map(|_| Arc::new(Recorder::new(release.evidence.clone())));
    let evidence: Arc<dyn EvidenceSource> = match &recorder {
        Some(recorder) => recorder.clone(),
        None => release.evidence.clone(),
    };
    let row: Row = run(&seen, evidence, left);
    match &row.outcome {
        Err(RowFailure::OutOfTime)
            if left.is_some_and(|left| left <= release.release.row_time()) =>
        {
            return Err(out_of_time());
        }
        Err(failure) if failure.retryable() => {
            return Err(failed(internal(), failure.to_string()));
        }
        _ => {}
    }
    if let (Some(receipts), Some(recorder)) = (receipts, recorder) {
        receipts.keep(release, valuation_id, &subject, recorder.take(), &row);
    }
    let shown = asked.options().shown(shared.depth);
    let context = match shown.context {
        true => Some(
            context::context(&release.snapshot, &subject)
                .map_err(|error| failed(internal(), error.to_string()))?,
        ),
        false => None,
    };
    let problem = problem(&row);
    let rendering = Rendering {
        comparables: shown.comparables,
        context,
        ..rendering
    };
    Ok(answered(render(row, rendering), problem))
}

fn answered(outcome: Outcome, problem: Option<String>) -> RowOutcome {
    RowOutcome {
        outcome,
        undone: false,
        problem,
        retry_after: None,
    }
}

fn rejected(faults: Vec<Fault>) -> RowOutcome {
    answered(Outcome::Rejected(faults), None)
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

fn unresolved(unresolved: Unresolved) -> RowOutcome {
    match unresolved {
        Unresolved::Rejected(fault) => rejected(vec![*fault]),
        Unresolved::Provider(unavailable) => {
            let message = "The identity provider does not answer. Try again.";
            let fault = Fault::new(Code::IdentityProviderUnavailable, message);
            RowOutcome {
                outcome: Outcome::Rejected(vec![fault]),
                undone: true,
                problem: None,
                retry_after: unavailable.retry_after,
            }
        }
        Unresolved::Store(error) => {
            let message = "The identity store does not answer. Try again.";
            RowOutcome {
                outcome: Outcome::Rejected(vec![Fault::new(
                    Code::IdentityProviderUnavailable,
                    message,
                )]),
                undone: true,
                problem: Some(format!("the identity store could not be read: {error}")),
                retry_after: None,
            }
        }
    }
}

fn failed(fault: Fault, problem: String) -> RowOutcome {
    RowOutcome {
        outcome: Outcome::Failed(vec![fault]),
        undone: true,
        problem: Some(problem),
        retry_after: None,
    }
}

fn out_of_time() -> RowOutcome {
    let message = "There was no time left for this row within 25 seconds. Try it again.";
    RowOutcome {
        outcome: Outcome::Failed(vec![Fault::new(Code::ProcessingDeadlineExceeded, message)]),
        undone: true,
        problem: None,
        retry_after: None,
    }
}

fn internal() -> Fault {
    Fault::new(Code::Internal, "The valuation could not be run. Try again.")
}
