//! The findings on a journal, for people.

use domesday_replay::{JournalResult, Problem};

/// Prints the findings, and the receipts of the chosen valuation.
///
/// # Errors
/// Never: a header and a fixture are always JSON.
pub fn print(result: &JournalResult) -> anyhow::Result<()> {
    let JournalResult { report, receipts } = result;
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
    for (receipt, fixture) in receipts {
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
