//! Operation: what an operator on call wants first. Trouble, then plots, then tables.

use super::blocking::blocking_within;
use super::error::ConsoleError;
use super::operation_plots::plots;
use super::{Console, guide_page, layout};
use crate::admin::problem::Problem;
use crate::admin::protocol::{Command, Response as AdminResponse, Status, Tenant};
use crate::admin::service_commands::on_service;
use crate::console_sessions::Session;
use crate::operation_samples::{Degradation, DegradationKind, Sample};
use crate::receipts::ReceiptHead;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use domesday_console::message::render_message;
use domesday_console::number::{percent, thousands};
use domesday_console::timeline::{Span, moment};
use domesday_state::UnixMillis;
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

const TITLE: &str = "Operation";
/// Hours that the plots show: the first unless the page is asked for another.
const HOURS: [u32; 2] = [1, 6];
/// Time limit of the state and the journal.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The query of the page.
#[derive(Deserialize)]
pub(super) struct Choice {
    hours: Option<u32>,
}

/// The facts that the page reads from the state and the journal.
struct StoredFacts {
    status: Status,
    tenants: Vec<Tenant>,
    head: Option<ReceiptHead>,
}

/// Shows what is degraded, the plots, the status of the service, and each tenant's units of the
/// month.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    Query(choice): Query<Choice>,
) -> Result<Response, ConsoleError> {
    if !session.user.operator {
        return Err(ConsoleError::NotOperator);
    }
    let hours = choice.hours.filter(|hours| HOURS.contains(hours));
    let hours = hours.unwrap_or(HOURS[0]);
    let samples = &console.samples;
    let (now, degradations) = samples.observe(&console.service).await;
    let span = Span::ending(now.at, hours);
    let mut shown = samples.since(span.start());
    shown.push(now.clone());
    let facts = stored_facts(&console).await;
    let content = html! {
        h1 { (TITLE) }
        (trouble(&console, &degradations, &shown, hours))
        section {
            h2 { "The last " @if hours == 1 { "hour" } @else { (hours) " hours" } }
            p {
                @for other in HOURS {
                    a href={ "/operation?hours=" (other) } aria-current=[(other == hours).then_some("true")] {
                        @if other == 1 { "One hour" } @else { (other) " hours" }
                    }
                    " "
                }
            }
            p.quiet {
                "Until " (moment(now.at)) ", a sample each ten seconds"
                @if let Some(oldest) = samples.oldest() { ", since " (moment(oldest)) }
                ". Samples are of this host and in memory. Probes are not counted. "
                "Of workers, queue and memory a sample has the most since the one before."
            }
            (plots(&console.service, &shown, span))
        }
        @match facts {
            Ok(facts) => {
                (status(&console, &facts, &now))
                (units(&facts.tenants))
            }
            Err(error) => p.refusal role="alert" { (render_message(&error.to_string())) },
        }
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Reads what the state and the journal hold. A disk that stalls costs the tables and no more.
async fn stored_facts(console: &Console) -> Result<StoredFacts, ConsoleError> {
    let service = console.service.clone();
    let reading = blocking_within(TIMEOUT, "the state", move || {
        let receipts = service.receipts.as_ref();
        Ok::<_, Problem>((
            on_service(&service, Command::Status {})?,
            on_service(&service, Command::Tenants {})?,
            receipts.and_then(|receipts| receipts.last_head().ok().flatten()),
        ))
    });
    let read = reading.await?;
    match read.map_err(|problem| ConsoleError::State(problem.to_string()))? {
        (AdminResponse::Status(status), AdminResponse::Tenants { tenants }, head) => {
            Ok(StoredFacts {
                status,
                tenants,
                head,
            })
        }
        _ => Err(ConsoleError::Response),
    }
}

/// Returns what is degraded, since when, and what to do about it.
fn trouble(console: &Console, found: &[Degradation], shown: &[Sample], hours: u32) -> Markup {
    let storage = [
        DegradationKind::State,
        DegradationKind::DataFolder,
        DegradationKind::Journal,
    ];
    let stores = !found.iter().any(|found| storage.contains(&found.kind));
    html! {
        section {
            h2 { "Trouble" }
            @for degradation in found {
                @let kind = degradation.kind;
                div.refusal role="alert" {
                    h3 { (kind.name()) }
                    p {
                        (degradation.facts) ". "
                        @match console.samples.degraded_since(kind) {
                            Some(since) => { "Since " (moment(since)) ", or up to ten seconds before." },
                            None => "Since less than ten seconds ago.",
                        }
                    }
                    p {
                        (kind.remedy()) " "
                        a href={ (guide_page::PATH) "#" (kind.guide()) } { "The operations guide" }
                    }
                }
            }
            @if found.is_empty() { p { "Nothing is degraded." } }
            @if stores { p { "Storage works." } }
            @if is_quiet(shown) {
                p { "The service is quiet: no response, no job and no waiting task in the last "
                    @if hours == 1 { "hour" } @else { (hours) " hours" } " of samples." }
            }
        }
    }
}

/// Reports whether no sample has a response, a job or a waiting task.
fn is_quiet(samples: &[Sample]) -> bool {
    samples.iter().all(|sample| {
        let responses = sample.responses.as_ref();
        let jobs = sample.jobs.is_some_and(|jobs| jobs.count > 0);
        responses.is_none_or(|responses| responses.rates.iter().sum::<f64>() == 0.0)
            && sample.queue + sample.workers_busy == 0
            && !jobs
    })
}

fn status(console: &Console, facts: &StoredFacts, now: &Sample) -> Markup {
    let status = &facts.status;
    let workers = &console.service.workers;
    html! {
        section.card {
            h2 { "Now" }
            dl {
                dt { "Version" } dd { (status.version) }
                dt { "Current release" } dd { (status.current_release) }
                dt { "Releases held" } dd { (status.releases.join(", ")) }
                @for withdrawn in &status.withdrawn {
                    dt { "Withdrawn" } dd { (withdrawn.release) ": " (withdrawn.reason) }
                }
                dt { "Shadow" }
                dd { @match &status.shadow {
                    Some(shadow) => { (shadow.release) " on " (percent(shadow.share, 1)) " of rows" },
                    None => "none",
                } }
                dt { "Workers busy" } dd { (now.workers_busy) " of " (workers.threads()) }
                dt { "Tasks waiting" } dd { (now.queue) " of " (workers.capacity() - workers.threads().min(workers.capacity())) }
                dt { "Jobs waiting or running" }
                dd { @match status.jobs_waiting { Some(count) => (count), None => "not known: the state did not answer" } }
                dt { "New jobs" } dd { @if status.jobs_paused { "paused" } @else { "taken" } }
                dt { "Memory of the process" }
                dd { @match status.resident_bytes { Some(bytes) => { (thousands(bytes >> 20)) " MiB" }, None => "not known" } }
            }
        }
        section.card {
            h2 { "Receipts" }
            @match console.service.receipts.as_ref() {
                Some(receipts) => (head(receipts.status().0, facts.head.as_ref())),
                None => p { "Receipts are off." },
            }
        }
    }
}

/// Returns the last signed head of the journal.
fn head(written: u64, head: Option<&ReceiptHead>) -> Markup {
    html! {
        dl {
            dt { "Receipts written" } dd { (written) }
            @match head {
                Some(head) => {
                    dt { "Head" } dd { "receipt " (head.sequence) }
                    dt { "Signed" } dd { (moment(UnixMillis(head.at))) }
                    dt { "SHA-256" } dd { code { (head.digest) } }
                    dt { "Host" } dd { code { (head.host) } }
                }
                None => { dt { "Head" } dd { "none was signed yet" } }
            }
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
                    thead { tr { th scope="col" { "Tenant" } th scope="col" { "Served" } th.number scope="col" { "Units used" } th.number scope="col" { "Units of the plan" } } }
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
