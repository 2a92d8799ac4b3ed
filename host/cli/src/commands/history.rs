//! `domesday release history`: the promotion ledger.

use super::target::AdminTarget;
use anyhow::bail;
use chrono::{Datelike, NaiveDate};
use clap::ArgMatches;
use domesday_backup::ledger_key::{PUBLIC_FILE, verify};
use domesday_package::PublicKey;
use domesday_server::admin::protocol::{Command, LedgerEntry, ReleaseKindArg, Response};
use domesday_server::clock::{Clock, MachineClock};
use domesday_state::{
    LedgerRecord, PromotionEntry, ReleaseKind, check_history, promoted_at, prove_promotion,
};
use serde::Serialize;
use std::process::ExitCode;

/// Arguments of `release history`.
#[derive(Debug, clap::Args)]
pub struct History {
    /// Show the releases that were current at the end of this day (UTC).
    #[arg(long, value_name = "DATE", value_parser = parse_day)]
    at: Option<NaiveDate>,
    /// Show this kind of release alone.
    #[arg(long, value_enum)]
    kind: Option<ReleaseKindArg>,
    /// Fail unless the ledger has the entry with this hash, which was noted before.
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
    /// Fail where an entry is not signed by this key (ed25519:…). Repeatable.
    #[arg(long, value_name = "KEY")]
    signer: Vec<PublicKey>,
    /// Print JSON, with hashes and signatures.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: AdminTarget,
}

/// An entry of the ledger as `--json` prints it.
#[derive(Serialize)]
struct ShownEntry<'a> {
    #[serde(flatten)]
    entry: &'a PromotionEntry,
    hash: String,
    signer: &'a str,
    signature: &'a str,
    /// True if the signer is the host of the data folder, one that it trusts, or one of `--signer`.
    signer_known: bool,
}

impl History {
    /// Prints the ledger. The exit code is that of its verification.
    ///
    /// # Errors
    /// The ledger cannot be read, or an entry does not fit.
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        let target = self.target.resolve(matches)?;
        let Response::History {
            entries,
            promoted,
            mut known,
        } = target.execute(Command::History {})?
        else {
            bail!("unexpected reply from the server: client and server versions differ");
        };
        known.extend(self.signer.iter().map(PublicKey::to_string));
        if let Ok((own, _)) = PublicKey::read(&target.data.join(PUBLIC_FILE)) {
            known.push(own.to_string());
        }
        let is_known = |record: &LedgerRecord| known.contains(&record.signer);
        let records: Vec<LedgerRecord> = entries.into_iter().map(LedgerEntry::into).collect();
        // Nothing of a ledger that does not fit is shown as if it were so.
        let entries = verify(&records)?;
        let expected: Vec<String> = self.signer.iter().map(PublicKey::to_string).collect();
        check_history(&records, self.head.as_deref(), &expected)?;
        check_last(&records, &promoted)?;
        let kind = self.kind.map(|kind| ReleaseKind::from(kind).as_str());
        let mut shown: Vec<_> = entries
            .iter()
            .zip(&records)
            .filter(|(entry, _)| kind.is_none_or(|kind| entry.kind == kind))
            .collect();
        if let Some(day) = self.at {
            shown = promoted_at(&shown, day);
        }
        if self.json {
            print_json(&shown, is_known)?;
            return Ok(ExitCode::SUCCESS);
        }
        for (entry, record) in &shown {
            let mark = if is_known(record) {
                ""
            } else {
                "\tsigner not known"
            };
            println!("{}{mark}", line(entry));
        }
        let strange = records.iter().filter(|record| !is_known(record));
        let strange = signers(strange);
        if !strange.is_empty() {
            eprintln!(
                "warning: entries are signed by {strange}, no key that this host knows. They fit, and prove nothing here: put `ledger.pub` of their host into keys/ of the releases folder, or name the key with --signer"
            );
        }
        match (self.at, records.last()) {
            (Some(day), _) if shown.is_empty() => println!("No release was promoted by {day}"),
            (None, None) => println!("No release was promoted yet"),
            (None, Some(last)) => {
                println!(
                    "All {} entries fit; the last hash is {}, by {}",
                    records.len(),
                    hex::encode(last.hash),
                    signers(records.iter())
                );
            }
            (Some(_), _) => {}
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Compares the last entry of each kind with the release that the state has as promoted. Entries
/// that were cut off leave another, or none.
fn check_last(
    records: &[LedgerRecord],
    promoted: &[(ReleaseKindArg, String)],
) -> anyhow::Result<()> {
    for (kind, id) in promoted {
        // Its signature was verified before.
        prove_promotion(records, (*kind).into(), id, |_| true)?;
    }
    Ok(())
}

/// Returns the keys that signed, each once.
fn signers<'a>(records: impl Iterator<Item = &'a LedgerRecord>) -> String {
    let mut signers: Vec<&str> = records.map(|record| &*record.signer).collect();
    signers.sort_unstable();
    signers.dedup();
    signers.join(", ")
}

/// Parses a day of this century that is not in the future.
fn parse_day(text: &str) -> Result<NaiveDate, String> {
    let day: NaiveDate = text
        .parse()
        .map_err(|_| "expected a day as YYYY-MM-DD, such as 2026-03-01".to_owned())?;
    let today = MachineClock.utc().date_naive();
    match day.year() {
        2000.. if day <= today => Ok(day),
        2000.. => Err(format!("{day} is in the future; today is {today} in UTC")),
        _ => Err(format!("the year {} is before any ledger", day.year())),
    }
}

/// Formats an entry as a line of fields, separated by tabs.
fn line(entry: &PromotionEntry) -> String {
    let report = match &entry.report {
        Some(digest) => format!("report {digest}"),
        None => "no report".to_owned(),
    };
    let mut line = format!(
        "{}\t{}\t{}\t{}\t{}\t{report}",
        entry.sequence, entry.when, entry.kind, entry.release_id, entry.who
    );
    if let Some(key) = &entry.approved_by {
        line.push_str(&format!("\tapproved by {key}"));
    }
    if entry.went_back {
        line.push_str("\twent back");
    }
    if let Some(reason) = &entry.reason {
        line.push_str(&format!("\t{reason}"));
    }
    line
}

fn print_json(
    shown: &[(&PromotionEntry, &LedgerRecord)],
    is_known: impl Fn(&LedgerRecord) -> bool,
) -> anyhow::Result<()> {
    let entries: Vec<_> = shown
        .iter()
        .map(|(entry, record)| ShownEntry {
            entry,
            hash: hex::encode(record.hash),
            signer: &record.signer,
            signature: &record.signature,
            signer_known: is_known(record),
        })
        .collect();
    println!("{}", serde_json::to_string_pretty(&entries)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: u64, kind: &str, release_id: &str, when: &str) -> PromotionEntry {
        PromotionEntry {
            approved_by: None,
            kind: kind.to_owned(),
            manifest: String::new(),
            reason: Some("a better model".to_owned()),
            release_id: release_id.to_owned(),
            report: None,
            sequence,
            went_back: sequence > 1,
            when: when.to_owned(),
            who: "alice@host".to_owned(),
        }
    }

    #[test]
    fn a_line_says_who_what_when_and_why() {
        let back = entry(2, "valuation", "a", "2026-02-28T23:59:59.999Z");
        assert_eq!(
            line(&back),
            "2\t2026-02-28T23:59:59.999Z\tvaluation\ta\talice@host\tno report\twent back\ta better model"
        );
    }
}
