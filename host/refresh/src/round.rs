//! A round: it carries the plan out, one part after another.

use crate::context::RoundContext;
use crate::error::{RefreshError, io_error};
use crate::lock::RoundLock;
use crate::part::Part;
use crate::part_round::PartRound;
use crate::plan::Decision;
use crate::record::RefreshRecord;
use crate::report::{PartReport, RoundReport};
use crate::status::record_round;
use crate::step::{Step, StepEnd};
use std::fs;
use std::path::Path;

/// Says what a round would do, and does nothing.
///
/// # Errors
/// The inbox or the record cannot be read.
pub fn plan(context: &RoundContext<'_>) -> Result<RoundReport, RefreshError> {
    context.check_parts()?;
    context.check_key()?;
    let record = RefreshRecord::read(&context.config.reports)?;
    let inbox = context.search(&record)?;
    let mut report = context.report(&inbox, true);
    let mut snapshot = record.built.get(&Part::Snapshot).map(|it| it.id.clone());
    for part in Part::ALL.into_iter().filter(|part| context.includes(*part)) {
        let decision = context.decide(part, &inbox, &record, snapshot.as_deref());
        let Some(decision) = decision else { continue };
        if let (Part::Snapshot, Decision::Build(plan)) = (part, &decision) {
            snapshot = Some(plan.id.clone());
        }
        report.parts.push(context.report_decision(part, decision));
    }
    Ok(report)
}

/// Carries a round out, and writes its report and its metrics. Where an error breaks it off, the
/// metrics have the parts before it.
///
/// # Errors
/// Another round is under way, a part is not configured, or a folder cannot be read or written. A
/// step that fails is in the report.
pub fn run(context: &RoundContext<'_>) -> Result<RoundReport, RefreshError> {
    // A mistyped part is no round, and marks none as broken off.
    context.check_parts()?;
    let reports = &context.config.reports;
    fs::create_dir_all(reports).map_err(io_error(reports))?;
    let _lock = RoundLock::take(reports)?;
    let mut parts = Vec::new();
    let outcome = carry_out(context, &mut parts);
    let inbox_problems = outcome.as_ref().ok().map(RoundReport::inbox_problems);
    let recorded = record_round(context.config, context.now, &parts, inbox_problems);
    let report = outcome?;
    recorded.map(|()| report)
}

/// Carries a round out that has the lock. `done` gets the parts, also those before an error.
fn carry_out(
    context: &RoundContext<'_>,
    done: &mut Vec<PartReport>,
) -> Result<RoundReport, RefreshError> {
    let reports = &context.config.reports;
    context.check_key()?;
    let mut record = RefreshRecord::read(reports)?;
    let logs = reports.join(format!(
        "refresh-{}",
        context.now.format("%Y%m%dT%H%M%S%3fZ")
    ));
    fs::create_dir_all(&logs).map_err(io_error(&logs))?;
    if let Some(location) = &context.config.fetch_from {
        fetch(context, location, &logs)?;
    }
    let inbox = context.search(&record)?;
    record.files = inbox.stamps.clone();
    record.write(reports)?;
    let mut report = context.report(&inbox, false);
    for part in Part::ALL.into_iter().filter(|part| context.includes(*part)) {
        let snapshot = record.built.get(&Part::Snapshot).map(|it| it.id.as_str());
        let Some(decision) = context.decide(part, &inbox, &record, snapshot) else {
            continue;
        };
        let round = PartRound::new(context, &logs, part);
        let outcome = round.carry_out(decision, &mut record)?;
        record.write(reports)?;
        done.push(outcome);
    }
    report.parts.clone_from(done);
    let path = reports.join(format!("{}.json", file_name(&logs)));
    let text = serde_json::to_vec_pretty(&report).map_err(|error| error.into());
    text.and_then(|text| fs::write(&path, text))
        .map_err(io_error(&path))?;
    Ok(report)
}

/// Copies the files of an object store to the inbox. A round without them would take old files for
/// all that there is.
fn fetch(context: &RoundContext<'_>, location: &str, logs: &Path) -> Result<(), RefreshError> {
    let inbox = &context.config.inbox;
    let step = Step::new("fetch", &["data", "fetch", location]).with([inbox]);
    (context.announce)(&step.command_line());
    let log = logs.join("fetch.log");
    let limit = context.config.step_time();
    let end = context
        .program
        .run(&step, &log, limit)
        .map_err(io_error(&log))?;
    match end {
        StepEnd::Exit(0) => Ok(()),
        _ => Err(RefreshError::Fetch {
            location: location.to_owned(),
            log,
        }),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
