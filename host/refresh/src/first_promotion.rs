//! The promotion that a kind of release needs before rounds build it.
//!
//! Until a release of the kind is promoted, each start of the service serves the latest one of its
//! folder. So a restart would serve a release that a round proposed, held or refused beside the
//! release of an operator.

use crate::context::RoundContext;
use crate::error::RefreshError;
use crate::part::Part;
use crate::report::PartReport;
use crate::step::Step;
use chrono::NaiveDate;
use domesday_package::PackageId;

/// Notes in the report of a part that a person has to promote one of these releases first.
pub(crate) fn ask(context: &RoundContext<'_>, releases: &[String], report: &mut PartReport) {
    let part = report.part;
    let id = match releases {
        [id] => id.as_str(),
        _ => "ID",
    };
    let arguments = ["release", "promote", id, "--kind", part.name()];
    let promotion = context.of_service(Step::new("promote", &arguments));
    report.notes.push(format!(
        "no release of {part} was promoted before, so that a restart of the service would serve \
         this one unapproved; promote the one that it serves now"
    ));
    report.next = Some(promotion.command_line());
}

/// Returns the releases of a part whose ids are not those of a round, in order. Snapshots are none.
pub(crate) fn find_others(
    context: &RoundContext<'_>,
    part: Part,
) -> Result<Vec<String>, RefreshError> {
    let Some(settings) = context.config.part(part).filter(|_| part != Part::Snapshot) else {
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
