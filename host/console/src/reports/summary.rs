//! The line of a report in the list: its release, its time and its verdict.

use super::Report;
use domesday_evaluation::monitor::html::describe_alarm;
use domesday_evaluation::monitor::{MonitorReport, Verdict};
use domesday_state::{Scope, Scopes, UnixMillis};

/// The kind of a report, which decides who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// A release on sales that were registered since.
    Monitor,
    /// Two releases on sold homes.
    SoldHomes,
    /// Two releases on recorded requests.
    Fixtures,
    /// Two releases on live rows.
    Shadow,
    /// A page without figures.
    Page,
}

/// A report in the list.
#[derive(Clone, Debug)]
pub struct ReportSummary {
    /// The name of its file.
    pub name: String,
    /// Its kind.
    pub kind: ReportKind,
    /// The release that it is of: of a comparison, the one that would replace the other.
    pub release: Option<String>,
    /// The time at which the file was written.
    pub modified: UnixMillis,
    /// Its verdict in words.
    pub verdict: String,
    /// True if it raises an alarm.
    pub alarmed: bool,
}

impl ReportKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            ReportKind::Monitor => "Drift",
            ReportKind::SoldHomes => "Comparison on sold homes",
            ReportKind::Fixtures => "Comparison on recorded requests",
            ReportKind::Shadow => "Shadow",
            ReportKind::Page => "Page",
        }
    }

    /// Reports whether a session may see reports of this kind. Rows of requests are all tenants',
    /// and the content of a page is not known, so both are for operators. Named sales are stored
    /// data.
    pub fn is_shown_to(self, scopes: &Scopes, operator: bool) -> bool {
        let values = scopes.has(Scope::AvmValue);
        match self {
            _ if operator => true,
            ReportKind::Monitor => values,
            ReportKind::SoldHomes => values && scopes.has(Scope::AvmStoredData),
            ReportKind::Fixtures | ReportKind::Shadow | ReportKind::Page => false,
        }
    }
}

impl ReportSummary {
    /// Returns the line of a report.
    pub(super) fn of(name: &str, modified: UnixMillis, report: &Report) -> ReportSummary {
        let (release, verdict, alarmed) = match report {
            Report::Monitor(report) => (
                Some(report.subject.release_id.clone()),
                drift(report),
                report.alarmed,
            ),
            Report::Comparison(found) => (
                Some(found.subject.releases.b.release_id.clone()),
                found.verdict.first().cloned().unwrap_or_default(),
                false,
            ),
            Report::Page(text) => {
                let title = title(text).unwrap_or_default();
                let release = release_of_title(title).map(str::to_owned);
                (release, title.to_owned(), false)
            }
        };
        ReportSummary {
            name: name.to_owned(),
            kind: report.kind(),
            release,
            modified,
            verdict,
            alarmed,
        }
    }
}

/// Returns the alarm of the latest complete window, or that there is none or that nothing was
/// judged.
fn drift(report: &MonitorReport) -> String {
    let Verdict::Alarm(window) = report.verdict() else {
        return report.verdict_words();
    };
    let segment = window.segments.iter().find(|it| it.alarm.is_some());
    let words = segment.map(describe_alarm).unwrap_or_default();
    format!("Alarm in the window to {}: {words}", window.month)
}

/// Returns the title of a page.
fn title(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("<title>")?;
    let (title, _) = rest.split_once("</title>")?;
    (title.len() <= 200).then_some(title)
}

/// Returns the release of a title that this program gives a page.
fn release_of_title(title: &str) -> Option<&str> {
    let drift = title.strip_prefix("Errors of ");
    let drift = drift.and_then(|rest| rest.strip_suffix(" since it was made"));
    let comparison = || title.split_once(" against ").map(|(release, _)| release);
    drift
        .or_else(|| title.strip_prefix("Back-test of "))
        .or_else(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_shown_as_scopes_allow() {
        let scopes = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            Scopes::parse(&names).unwrap()
        };
        let value = scopes(&["avm:value"]);
        let stored = scopes(&["avm:value", "avm:stored-data"]);
        let rates = scopes(&["rates:read"]);
        for (kind, shown) in [
            (ReportKind::Monitor, [true, true, false]),
            (ReportKind::SoldHomes, [false, true, false]),
            (ReportKind::Fixtures, [false, false, false]),
            (ReportKind::Shadow, [false, false, false]),
            (ReportKind::Page, [false, false, false]),
        ] {
            let found = [&value, &stored, &rates].map(|scopes| kind.is_shown_to(scopes, false));
            assert_eq!(found, shown, "{kind:?}");
            assert!(kind.is_shown_to(&rates, true), "{kind:?}");
        }
    }

    #[test]
    fn a_title_names_its_release() {
        for (title, release) in [
            ("Errors of one-1 since it was made", Some("one-1")),
            ("two-1 against one-1", Some("two-1")),
            ("Back-test of one-1", Some("one-1")),
            ("Notes", None),
        ] {
            assert_eq!(release_of_title(title), release);
        }
        assert_eq!(title("<p>no title"), None);
    }
}
