//! Operation: what an operator on call wants first.

use super::error::ConsoleError;
use super::number::thousands;
use super::{Console, layout};
use crate::admin::execute::on_service;
use crate::admin::protocol::{Command, Response as AdminResponse, Status, Tenant};
use crate::console_sessions::Session;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use std::sync::Arc;

const TITLE: &str = "Operation";

/// Shows the status of the service, and each tenant's units of the month.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
) -> Result<Response, ConsoleError> {
    if !session.user.operator {
        return Err(ConsoleError::NotOperator);
    }
    let service = console.service.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let status = on_service(&service, Command::Status {})?;
        Ok::<_, crate::admin::execute::Problem>((
            status,
            on_service(&service, Command::Tenants {})?,
        ))
    });
    let read = reading.await.map_err(|_| ConsoleError::Response)?;
    let (AdminResponse::Status(status), AdminResponse::Tenants { tenants }) =
        read.map_err(|problem| ConsoleError::State(problem.to_string()))?
    else {
        return Err(ConsoleError::Response);
    };
    let receipts = console.service.receipts.as_ref();
    let receipts = receipts.map(|receipts| receipts.status().0);
    let content = html! {
        h1 { (TITLE) }
        (trouble(&status))
        section.card {
            h2 { "Now" }
            dl {
                dt { "Version" } dd { (status.version) }
                dt { "Current release" } dd { (status.current_release) }
                dt { "Releases held" } dd { (status.releases.join(", ")) }
                dt { "Shadow" }
                dd { @match &status.shadow {
                    Some(shadow) => { (shadow.release) " on " (format!("{:.1} %", 100.0 * shadow.share)) " of rows" },
                    None => "none",
                } }
                dt { "Workers busy" }
                dd { (console.service.workers.in_use()) " of " (console.service.workers.capacity()) }
                dt { "Jobs waiting or running" }
                dd { @match status.jobs_waiting { Some(count) => (count), None => "not known: the state did not answer" } }
                dt { "New jobs" } dd { @if status.jobs_paused { "paused" } @else { "taken" } }
                dt { "Receipts written" }
                dd { @match receipts { Some(count) => (count), None => "off" } }
                dt { "Memory of the process" }
                dd { @match status.resident_bytes { Some(bytes) => { (thousands(bytes >> 20)) " MiB" }, None => "not known" } }
            }
        }
        (units(&tenants))
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

fn trouble(status: &Status) -> Markup {
    html! {
        @match &status.storage_problem {
            Some(problem) => p.refusal role="alert" { "Changes cannot be made durable: " (problem) },
            None => p { "Storage works." },
        }
        @if status.log_lines_dropped > 0 {
            p.refusal role="alert" { (status.log_lines_dropped) " log lines were lost since the start." }
        }
    }
}

fn units(tenants: &[Tenant]) -> Markup {
    html! {
        section {
            h2 { "Units of this month" }
            div.wide tabindex="0" {
                table {
                    caption { "Tenants" }
                    thead { tr { th scope="col" { "Tenant" } th scope="col" { "Served" } th scope="col" { "Units used" } th scope="col" { "Units of the plan" } } }
                    tbody {
                        @for tenant in tenants {
                            tr {
                                th scope="row" { (tenant.id) }
                                td { @if tenant.enabled { "yes" } @else { "no" } }
                                td.number { (thousands(i64::try_from(tenant.used).unwrap_or(i64::MAX))) }
                                td.number { @match i64::try_from(tenant.plan.monthly_units) {
                                    Ok(units) => (thousands(units)),
                                    Err(_) => "no limit",
                                } }
                            }
                        }
                    }
                }
            }
        }
    }
}
