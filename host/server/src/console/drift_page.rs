//! The drift of a release in use: bias and coverage by month and segment, and the alarms.

use super::error::ConsoleError;
use super::report_page::{ReportChoice, query, read};
use super::{Console, layout};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use domesday_console::drift::{WAYS, alarms, charts, table};
use domesday_console::reports::Report;
use maud::html;
use std::sync::Arc;

/// Shows the drift of a monitor's report.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Query(choice): Query<ReportChoice>,
) -> Result<Response, ConsoleError> {
    let Report::Monitor(report) = read(&console, &session, choice.name.clone()).await? else {
        return Err(ConsoleError::NoPage);
    };
    let chosen = |way: &&(&str, &str)| Some(way.0) == choice.by.as_deref();
    let (by, words) = WAYS.iter().find(chosen).unwrap_or(&WAYS[0]);
    let subject = &report.subject;
    let title = format!("Drift of {}", subject.release_id);
    let content = html! {
        h1 { (title) }
        (alarms(&report))
        p.quiet {
            "Sales of " (subject.from) " to " (subject.to) " in " (subject.later_snapshot_id)
            ", which the release on " (subject.snapshot_id) " has not seen. A window is three months, and stands at its last month."
        }
        nav aria-label="Segments" {
            ul {
                @for (way, name) in WAYS {
                    li { a href={ "/releases/drift?" (query(&choice.name)) "&by=" (way) } aria-current=[(way == *by).then_some("true")] { (name) } }
                }
            }
        }
        (charts(&report, by, words))
        (table(&report, by, words))
        p { a href={ "/releases/report?" (query(&choice.name)) } { "The whole report" } " · " a href="/releases" { "Releases" } }
    };
    Ok(layout::page(&title, Some(&session), &content))
}
