//! Releases: what serves now, how good it was, and what was current when.

use super::blocking::blocking;
use super::error::ConsoleError;
use super::reports_list::{VisibleReports, running_shadow, visible_reports};
use super::{Console, layout};
use crate::console_sessions::Session;
use crate::promotion::promoted_ids;
use crate::service::Service;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domesday_backup::ledger_key::{is_known, verify};
use domesday_console::message::render_message;
use domesday_console::release_figures::{accuracy, verdicts};
use domesday_state::{LedgerSigner as _, PromotionEntry, prove_promotion};
use domesday_valuation::release_store::RetainedRelease;
use maud::{Markup, html};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const TITLE: &str = "Releases";
/// The largest report that a page reads, bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The letters of a signer's key that a row shows, with the name of the algorithm.
const SHORT_KEY: usize = 16;

/// The verified promotion ledger.
struct Ledger {
    /// The entries, the latest first.
    rows: Vec<LedgerRow>,
    /// The reasons why a promoted release has no last entry.
    missing: Vec<String>,
}

/// An entry and its signer.
struct LedgerRow {
    entry: PromotionEntry,
    signer: String,
    /// True if entries of the signer count on this host.
    known: bool,
}

/// A release with the reports of its package.
struct ReleaseCard {
    release: Arc<RetainedRelease>,
    backtest: Option<Value>,
    check: Option<Value>,
    /// The reason why the report opens no gate, if it opens none.
    refusal: Option<String>,
}

/// Shows the releases.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
) -> Result<Response, ConsoleError> {
    let service = console.service.clone();
    let (cards, ledger) = blocking(move || (cards(&service), ledger(&service))).await?;
    let current = console.service.releases.current();
    let reports = visible_reports(&console, &session).await;
    let shadow = running_shadow(&console, &session).await;
    let open: Vec<&str> = cards.iter().map(|card| card.release.id.as_str()).collect();
    let content = html! {
        h1 { (TITLE) }
        (shadow)
        @for card in &cards { (show(card, card.release.id == current.id, reports.as_ref())) }
        @match &reports {
            Some(Ok(reports)) => section { (reports.others(&open)) },
            Some(Err(error)) => p.refusal role="alert" { (render_message(&error.to_string())) },
            None => p.quiet {
                "No folder of reports is shown. Start the server with " code { "--console-reports DIR" }
                ", and copy there what " code { "domesday compare" } ", " code { "domesday release monitor" }
                " and " code { "domesday shadow report" } " write with " code { "--json" } "."
            },
        }
        section {
            h2 { "Promotions" }
            @match &ledger {
                Ok(ledger) => {
                    @for problem in &ledger.missing { p.refusal role="alert" { (problem) "." } }
                    @if !ledger.rows.is_empty() { (promotions(&ledger.rows, session.user.operator)) }
                    @else if ledger.missing.is_empty() {
                        p { "No release was promoted yet: the one with the latest effective date is current." }
                    }
                },
                Err(problem) => p role="alert" { (problem) },
            }
        }
    };
    Ok(layout::page(TITLE, Some(&session), &content))
}

/// Reads the reports of all retained releases, the latest effective date first. Blocks.
fn cards(service: &Service) -> Vec<ReleaseCard> {
    let mut releases = service.releases.list_retained();
    releases.sort_by_key(|release| std::cmp::Reverse(release.manifest.effective_date));
    let folder = service.releases.root().join("valuation");
    let card = |release: Arc<RetainedRelease>| {
        let package = folder.join(&release.id);
        let backtest = release.manifest.backtest.as_ref();
        ReleaseCard {
            backtest: backtest.and_then(|file| read(&package.join(file.as_str()))),
            check: read(&package.join("check.json")),
            refusal: release
                .judge_check(service.releases.trust())
                .err()
                .map(|refusal| refusal.to_string()),
            release,
        }
    };
    releases.into_iter().map(card).collect()
}

/// Reads a report for show. One that is not there or too large is left out.
fn read(path: &Path) -> Option<Value> {
    let size = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file)?;
    if size.len() > MAX_BYTES {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns the verified ledger. Blocks.
fn ledger(service: &Service) -> Result<Ledger, String> {
    let records = service
        .state
        .promotions()
        .map_err(|error| error.to_string())?;
    let entries = verify(&records).map_err(|flaw| flaw.to_string())?;
    let (own_key, trust) = (service.ledger_key.public_key(), service.releases.trust());
    let promoted = promoted_ids(&*service.state).into_iter();
    let missing = promoted.filter_map(|(kind, id)| {
        let proof = prove_promotion(&records, kind, &id?, |_| true);
        proof.err().map(|missing| missing.to_string())
    });
    let rows = entries.into_iter().zip(&records).rev();
    let rows = rows.map(|(entry, record)| LedgerRow {
        entry,
        signer: record.signer.clone(),
        known: is_known(&record.signer, &own_key, trust),
    });
    Ok(Ledger {
        rows: rows.collect(),
        missing: missing.collect(),
    })
}

fn show(
    card: &ReleaseCard,
    current: bool,
    reports: Option<&Result<VisibleReports, ConsoleError>>,
) -> Markup {
    let release = &card.release;
    let manifest = &release.manifest;
    html! {
        section.card {
            h2 {
                (release.id) @if current { " " span.badge { "current" } }
            }
            dl {
                dt { "Effective" } dd { (manifest.effective_date) }
                dt { "Valuation dates" } dd { (manifest.valuation_date.from) " to " (manifest.valuation_date.to) }
                dt { "Snapshot" } dd { (manifest.snapshot.id) }
                dt { "Manifest, SHA-256" } dd { code { (release.package_digest()) } }
            }
            @if let Some(backtest) = &card.backtest { (accuracy(backtest)) }
            @else { p.quiet { "The package has no back-test." } }
            @if let Some(refusal) = &card.refusal {
                p.refusal role=[current.then_some("alert")] {
                    @if current { "This release is served, and it could not be promoted: " }
                    (render_message(refusal)) "."
                }
            }
            @if let Some(check) = &card.check { (verdicts(check)) }
            @else { p.quiet { "No check report stands beside the manifest." } }
            @if let Some(Ok(reports)) = reports { (reports.of_release(&release.id)) }
        }
    }
}

/// Returns the ledger. Who promoted and why is for operators.
fn promotions(rows: &[LedgerRow], operator: bool) -> Markup {
    html! {
        div.wide tabindex="0" {
            table {
                caption { "The promotion ledger, the latest first. Its chain and signatures are verified." }
                thead {
                    tr {
                        th scope="col" { "No." } th scope="col" { "When" } th scope="col" { "Kind" }
                        th scope="col" { "Release" } th scope="col" { "Signed by" }
                        @if operator { th scope="col" { "By" } th scope="col" { "Reason" } }
                    }
                }
                tbody {
                    @for row in rows {
                        @let entry = &row.entry;
                        tr {
                            th scope="row" { (entry.sequence) }
                            td { (entry.when) }
                            td { (entry.kind) }
                            td { (entry.release_id) @if entry.went_back { " (went back)" } }
                            td {
                                code { (row.signer.get(..SHORT_KEY).unwrap_or(&row.signer)) "…" }
                                @if !row.known { " (no key that this host knows)" }
                            }
                            @if operator {
                                td { (entry.who) }
                                td { (entry.reason.as_deref().unwrap_or("–")) }
                            }
                        }
                    }
                }
            }
        }
    }
}
