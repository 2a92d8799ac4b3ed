//! Reports of releases: those of the folder, and that of the running shadow.

use super::Console;
use super::blocking::blocking;
use super::error::ConsoleError;
use super::report_page::query;
use crate::console_sessions::Session;
use domesday_console::reports::{Listing, ReportKind, ReportSummary};
use domesday_console::timeline::moment;
use domesday_evaluation::compare::comparison::Comparison;
use maud::{Markup, html};

/// The reports that a session may see.
pub(super) struct VisibleReports {
    reports: Vec<ReportSummary>,
    /// The reasons why others are left out. For operators.
    left_out: Vec<String>,
}

/// Lists the reports of the folder that a session may see. None is configured without a folder.
pub(super) async fn visible_reports(
    console: &Console,
    session: &Session,
) -> Option<Result<VisibleReports, ConsoleError>> {
    let folder = console.reports.clone()?;
    let user = &session.user;
    let listed = match blocking(move || folder.list()).await {
        Ok(listed) => listed.map_err(|error| ConsoleError::State(error.to_string())),
        Err(error) => Err(error),
    };
    Some(listed.map(|Listing { reports, left_out }| {
        VisibleReports {
            reports: reports
                .into_iter()
                .filter(|report| report.kind.is_shown_to(&user.scopes, user.operator))
                .collect(),
            left_out: if user.operator { left_out } else { Vec::new() },
        }
    }))
}

impl VisibleReports {
    /// Returns the reports of a release.
    pub(super) fn of_release(&self, release: &str) -> Markup {
        let of_release = |report: &&ReportSummary| report.release.as_deref() == Some(release);
        table("Reports", self.reports.iter().filter(of_release))
    }

    /// Returns the reports of no open release, and what was left out.
    pub(super) fn others(&self, open: &[&str]) -> Markup {
        let is_other = |report: &&ReportSummary| {
            let release = report.release.as_deref();
            !release.is_some_and(|release| open.contains(&release))
        };
        html! {
            (table("Reports of other releases", self.reports.iter().filter(is_other)))
            @if !self.left_out.is_empty() {
                h3 { "Files that are not shown" }
                ul { @for reason in &self.left_out { li { (reason) } } }
            }
        }
    }
}

fn table<'a>(title: &str, reports: impl Iterator<Item = &'a ReportSummary>) -> Markup {
    let mut reports = reports.peekable();
    if reports.peek().is_none() {
        return html! {};
    }
    html! {
        h3 { (title) }
        div.wide tabindex="0" {
            table {
                caption { "The latest first; the time is that of the file" }
                thead {
                    tr {
                        th scope="col" { "Report" } th scope="col" { "Verdict" } th scope="col" { "Kind" }
                        th scope="col" { "Written" }
                    }
                }
                tbody {
                    @for report in reports {
                        tr {
                            th scope="row" { a href={ "/releases/report?" (query(&report.name)) } { (report.name) } }
                            td {
                                @if report.alarmed { strong.alarm { (report.verdict) } } @else { (report.verdict) }
                                @if report.kind == ReportKind::Monitor {
                                    " " a href={ "/releases/drift?" (query(&report.name)) } { "By month and segment" }
                                }
                            }
                            td { (report.kind.name()) }
                            td.date { (moment(report.modified)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the report of the running shadow, for operators.
pub(super) async fn running_shadow(console: &Console, session: &Session) -> Markup {
    let service = console.service.clone();
    let Some(shadow) = service.shadows.now().filter(|_| session.user.operator) else {
        return html! {};
    };
    let report = blocking(move || service.shadows.running_report()).await;
    html! {
        section.card {
            h2 { "Shadow: " (shadow.release_id()) }
            @match report {
                Ok(Some(Ok(report))) => (verdict(&report)),
                Ok(Some(Err(error))) => p.quiet { "There is no report yet: " (error) "." },
                // It ended a moment ago.
                Ok(None) => p.quiet { "The shadow has ended." },
                Err(error) => p.refusal role="alert" { (error) },
            }
        }
    }
}

fn verdict(report: &Comparison) -> Markup {
    html! {
        p { (report.subject.rows_in_words()) }
        @for warning in &report.warnings { p.refusal { (warning) } }
        ul { @for sentence in &report.verdict { li { (sentence) } } }
        p.quiet { "A is " (report.subject.releases.a.release_id) ", B is " (report.subject.releases.b.release_id) "." }
        p { a href="/releases/shadow" { "The whole report" } }
    }
}
