//! The promotion that a kind of release needs before rounds build it.
//!
//! Until a release of the kind is promoted, each start of the service serves the latest one of its
//! folder. So a restart would serve a release that a round proposed, held or refused beside the
//! release of an operator.

use crate::context::RoundContext;
use crate::error::{RefreshError, io_error};
use crate::part::Part;
use crate::report::{PartReport, PartState};
use crate::step::{Step, StepEnd, run_step};
use chrono::NaiveDate;
use domesday_package::PackageId;
use serde::de::IgnoredAny;
use std::fs;
use std::path::Path;

/// Refuses to build a part beside releases that no round built, if the service never promoted any
/// of its kind. Returns the report that says what to type, or nothing where the part may be built.
pub(crate) fn refuse_unpromoted(
    context: &RoundContext<'_>,
    logs: &Path,
    part: Part,
) -> Result<Option<PartReport>, RefreshError> {
    if part == Part::Snapshot || context.has_no_state() {
        return Ok(None);
    }
    let releases = find_others(context, part)?;
    let id = match &releases[..] {
        [] => return Ok(None),
        [id] => id.as_str(),
        _ => "ID",
    };
    let ledger = logs.join(format!("{part}-0-history.json"));
    let arguments = ["release", "history", "--kind", part.name(), "--json"];
    let history = context.of_service(Step::new("history", &arguments).output_to(ledger.clone()));
    (context.announce)(&format!("{part}: {}", history.command_line()));
    let log = logs.join(format!("{part}-0-history.log"));
    let limit = context.config.step_time();
    let (end, step) =
        run_step(context.program, &history, log.clone(), limit).map_err(io_error(&log))?;
    let mut report = PartReport::new(part, PartState::Failed);
    report.steps.push(step);
    let promotions = match end {
        StepEnd::Exit(0) => count_promotions(&ledger),
        _ => None,
    };
    match promotions {
        Some(0) => {
            let arguments = ["release", "promote", id, "--kind", part.name()];
            let promotion = context.of_service(Step::new("promote", &arguments));
            report.notes.push(format!(
                "no release of {part} was promoted before, so that a restart of the service would \
                 serve this one unapproved; promote the one that it serves now"
            ));
            report.next = Some(promotion.command_line());
        }
        Some(_) => return Ok(None),
        None => report.notes.push(format!(
            "the promotion ledger cannot be read; see {}",
            log.display()
        )),
    }
    Ok(Some(report))
}

/// Returns the releases of a part whose ids are not those of a round, in order.
fn find_others(context: &RoundContext<'_>, part: Part) -> Result<Vec<String>, RefreshError> {
    let Some(settings) = context.config.part(part) else {
        return Ok(Vec::new());
    };
    let mut ids = Vec::from_iter(context.package_ids(part)?);
    // Other names are those of unfinished packages.
    ids.retain(|id| id.parse::<PackageId>().is_ok() && !is_of_round(id, settings.prefix));
    Ok(ids)
}

/// Reports whether a round gives this id: the prefix and a day.
fn is_of_round(id: &str, prefix: &str) -> bool {
    let day = id
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.get(..10));
    day.is_some_and(|day| day.parse::<NaiveDate>().is_ok())
}

/// Returns the number of promotions in a ledger, or nothing if it cannot be read.
fn count_promotions(ledger: &Path) -> Option<usize> {
    let bytes = fs::read(ledger).ok()?;
    let entries: Vec<IgnoredAny> = serde_json::from_slice(&bytes).ok()?;
    Some(entries.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_a_round_is_its_prefix_and_a_day() {
        for (id, expected) in [
            ("rates-2026-11-30", true),
            ("rates-2026-11-30-2", true),
            ("rates-2026-11", false),
            ("rates-2026-13-30", false),
            ("rates-by-hand-1", false),
            ("other-2026-11-30", false),
        ] {
            assert_eq!(is_of_round(id, "rates"), expected, "{id}");
        }
    }
}
