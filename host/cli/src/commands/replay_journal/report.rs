//! The findings on a journal, for programs and for people.

use super::model_inputs::ModelInputs;
use domesday_engine::fixture::Fixture;
use domesday_journal::Receipt;
use serde::Serialize;
use std::path::PathBuf;

/// The result of a replay.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) journal: PathBuf,
    pub(super) engine: &'static str,
    /// The host's key.
    pub(super) host: Option<String>,
    /// True if the chain holds from its beginning to its end and agrees with every head.
    pub(super) proved: bool,
    /// The first flaw.
    pub(super) broken: Option<String>,
    /// Receipts in the chain, up to the first flaw.
    pub(super) receipts: u64,
    /// The last receipt that a head vouches for.
    pub(super) signed: u64,
    /// Bytes of a receipt that was being written when the host ended.
    pub(super) unfinished_bytes: u64,
    /// Receipts that were asked for.
    pub(super) selected: u64,
    /// Of these, replayed with the same outcome to the bit.
    pub(super) identical: u64,
    /// Of these, sealed under a key that was not given.
    pub(super) sealed: u64,
    /// Of these, replayed with another outcome, or not to be replayed.
    pub(super) failed: u64,
    /// The inputs that the release shows of its model, for each replayed receipt of one valuation.
    pub(super) model_inputs: Vec<ModelInputs>,
    /// The distinct problems of the failed receipts.
    pub(super) problems: Vec<Problem>,
    /// The reason why the options chose no receipt that could be proved.
    pub(super) nothing_proved: Option<String>,
    /// Parts of the proof that the folder's owner could have forged, and what could not be shown.
    pub(super) warnings: Vec<String>,
}

/// The reason why a receipt is not proved.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    /// Its number.
    pub(super) receipt: u64,
    /// Its valuation.
    pub(super) valuation_id: String,
    /// The problem's description.
    pub(super) problem: String,
    /// Later receipts with the same problem.
    pub(super) more: u64,
}

/// Tells a person, and shows the receipts that were asked for.
///
/// # Errors
/// Never: a header and a fixture are always JSON.
pub(super) fn print(report: &Report, fixtures: &[(Receipt, Fixture)]) -> anyhow::Result<()> {
    for Problem {
        receipt,
        valuation_id,
        problem,
        more,
    } in &report.problems
    {
        println!("receipt {receipt}, valuation {valuation_id}: {problem}");
        if *more > 0 {
            println!("  and {more} more receipts with the same problem");
        }
    }
    match (&report.broken, &report.host) {
        (Some(broken), _) => println!(
            "The journal does not hold. After {} sound receipts: {broken}",
            report.receipts
        ),
        (None, host) => {
            println!(
                "The journal of {} holds: {} receipts, each chained to the one before; heads vouch for those up to {}.",
                host.as_deref().unwrap_or("its host"),
                report.receipts,
                report.signed
            );
            if report.unfinished_bytes > 0 {
                println!(
                    "The file ends with {} bytes of an unfinished receipt. No response depended on it.",
                    report.unfinished_bytes
                );
            }
        }
    }
    println!(
        "{} of {} receipts identical to the bit, {} sealed under keys that were not given, {} not proved ({})",
        report.identical, report.selected, report.sealed, report.failed, report.engine
    );
    for (receipt, fixture) in fixtures {
        println!("Receipt {}:", receipt.sequence);
        println!("{}", serde_json::to_string_pretty(&receipt.about)?);
        println!("{}", serde_json::to_string_pretty(fixture)?);
    }
    for shown in &report.model_inputs {
        println!("The model's inputs, which its component shows but no proof covers:");
        println!("{}", serde_json::to_string_pretty(shown)?);
    }
    for warning in &report.warnings {
        println!("Warning: {warning}.");
    }
    if let Some(problem) = &report.nothing_proved {
        println!("Nothing is proved: {problem}.");
    }
    Ok(())
}
