//! Measures the matching of the registers' addresses, rule by rule, against a known truth.
//!
//! ```text
//! cargo run -p domesday-property --example match_rules -- FOLDER [REPORT] [--wrong] [--missed] [--certificates-alone]
//! ```
//!
//! FOLDER is a world that the generator wrote with its truth. Or it has the subfolders `ppd`, `epc`
//! and `postcodes` with Leicestershire's sales, certificates and another author's match of the two.
//! With the REPORT of a build of the same files, its counts are compared. This program looks up
//! addresses as texts and the build as fingerprints, so the two reach a figure in different ways.
//!
//! With `--certificates-alone`, homes are known from certificates and not from the address file.
//! Many a sale's home is then unknown, and a rule may take another home for it.

#![allow(unused_crate_dependencies)]

mod homes;
mod registers;

use domesday_registers::BytesRead;
use domesday_registers::matching::{AddressQuery, OLDER_POSTCODE, RULES};
use domesday_registers::records::Certificate;
use homes::{KnownAddresses, MatchedSale, match_sales, meet, one_address};
use registers::{Files, Truth};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};

type Failure = Box<dyn Error>;

/// Sales that one rule matched, by the truth.
#[derive(Default)]
struct Tally {
    right: u64,
    wrong: u64,
    unjudged: u64,
}

type Tallies = BTreeMap<&'static str, Tally>;

fn main() -> Result<(), Failure> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let shows = |flag: &str| flags.iter().any(|given| given == flag);
    let folder = PathBuf::from(files.first().ok_or("usage: match_rules FOLDER [REPORT]")?);
    let progress = BytesRead::default();
    let paths = Files::of(&folder);

    let live = registers::live_postcodes(&paths.code_point, &progress)?;
    let mut known = KnownAddresses::default();
    if let Some(addresses) = &paths.addresses
        && !shows("--certificates-alone")
    {
        registers::add_addresses(&mut known, addresses, &progress)?;
    }
    let of_file = known.clone();
    let certificates = registers::add_certificates(&mut known, &paths.certificates, &progress)?;
    let truth = registers::truth(&paths.truth, &certificates.uprns, &progress)?;
    let sales = registers::current_sales(&paths.price_paid, &progress)?;

    let mut judge = Judge {
        known: &known,
        shows_wrong: shows("--wrong"),
        shows_missed: shows("--missed"),
        tallies: Tallies::new(),
        findable: 0,
        missed: 0,
    };
    for sale in match_sales(&known, &live, &sales) {
        judge.sale(&sale, truth.get(sale.id));
    }
    println!(
        "{} sales, {} of a home that the registers know",
        sales.len(),
        judge.findable
    );
    judge.print();
    if let Truth::Generated(_) = paths.truth {
        print_certificates_without_uprn(&of_file, &certificates.without_uprn);
    }
    match files.get(1) {
        Some(report) => compare(Path::new(report), &judge.tallies),
        None => Ok(()),
    }
}

/// The sales so far, compared with the truth.
struct Judge<'a> {
    known: &'a KnownAddresses,
    shows_wrong: bool,
    shows_missed: bool,
    tallies: Tallies,
    /// Sales of a home that the registers know.
    findable: u64,
    /// Of those, the ones that no rule matched.
    missed: u64,
}

impl Judge<'_> {
    /// Counts a sale. `expected` holds its homes by the truth.
    fn sale(&mut self, matched: &MatchedSale<'_>, expected: Option<&BTreeSet<u64>>) {
        let known = self.known;
        let there = expected.is_some_and(|all| all.iter().any(|uprn| known.uprns.contains(uprn)));
        self.findable += u64::from(there);
        match (matched.home, expected) {
            (Some((rule, uprn)), expected) => {
                let tally = self.tallies.entry(rule).or_default();
                match expected {
                    None => tally.unjudged += 1,
                    Some(all) if all.contains(&uprn) => tally.right += 1,
                    Some(_) => tally.wrong += 1,
                }
                let wrong = expected.is_none_or(|all| !all.contains(&uprn));
                if wrong && self.shows_wrong {
                    println!(
                        "wrong by {rule}: {} <> {} ({expected:?})",
                        matched.text(),
                        known.texts[&uprn]
                    );
                    for uprn in expected.into_iter().flatten() {
                        println!("    right: {:?}", known.texts.get(uprn));
                    }
                }
            }
            (None, Some(all)) if there => {
                self.missed += 1;
                if self.shows_missed {
                    let text_of = all.iter().filter_map(|uprn| known.texts.get(uprn)).next();
                    println!("missed: {} <> {text_of:?}", matched.text());
                }
            }
            _ => {}
        }
    }

    /// Prints precision and recall, rule by rule.
    fn print(&self) {
        println!("rule               right    wrong  no truth   precision     recall so far");
        let mut right = 0;
        for name in rule_names() {
            let Some(tally) = self.tallies.get(name) else {
                continue;
            };
            right += tally.right;
            println!(
                "{name:<16} {:>7} {:>8} {:>9}  {:>9.4} %  {:>13.4} %",
                tally.right,
                tally.wrong,
                tally.unjudged,
                share(tally.right, tally.right + tally.wrong),
                share(right, self.findable)
            );
        }
        let rules = self.tallies.iter().filter(|(name, _)| **name != "exact");
        let (by_rule, wrong) = rules.fold((0, 0), |sum, (_, t)| (sum.0 + t.right, sum.1 + t.wrong));
        let wrong_of_all: u64 = self.tallies.values().map(|tally| tally.wrong).sum();
        println!(
            "all rules        {by_rule:>7} {wrong:>8}            {:>9.4} %",
            share(by_rule, by_rule + wrong)
        );
        println!(
            "altogether       {right:>7} {wrong_of_all:>8}            {:>9.4} %; {} missed",
            share(right, right + wrong_of_all),
            self.missed
        );
    }
}

/// Returns the names of the rules in the order in which they are tried.
fn rule_names() -> impl Iterator<Item = &'static str> {
    ["exact"]
        .into_iter()
        .chain(RULES.into_iter().map(|rule| rule.name))
        .chain([OLDER_POSTCODE])
}

/// Matches certificates without UPRN and prints the counts. In a generated world their key holds
/// the truth.
fn print_certificates_without_uprn(known: &KnownAddresses, rows: &[Certificate]) {
    let mut tallies = Tallies::new();
    // A build searches the address file and their own postcode alone.
    for row in rows {
        let live = HashSet::from([row.postcode.clone()]);
        let truth: Option<u64> = row.key.get(5..17).and_then(|digits| digits.parse().ok());
        let query = AddressQuery::of_lines(&row.lines, &row.town, &row.postcode);
        let home = meet(known, &live, &row.postcode, &query, true);
        if let Some((rule, uprn)) = home.filter(|(rule, _)| !one_address(rule)) {
            let tally = tallies.entry(rule).or_default();
            match truth == Some(uprn) {
                true => tally.right += 1,
                false => tally.wrong += 1,
            }
        }
    }
    println!("{} certificates without UPRN", rows.len());
    for (name, tally) in tallies {
        println!("{name:<16} {:>7} {:>8}", tally.right, tally.wrong);
    }
}

/// Checks that a build counted the same, and fails where it did not.
fn compare(report: &Path, tallies: &Tallies) -> Result<(), Failure> {
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let counted = |list: &str, name: &str| report["sales"][list][name].as_u64().unwrap_or_default();
    for name in rule_names() {
        let ours = tallies
            .get(name)
            .map_or(0, |t| t.right + t.wrong + t.unjudged);
        let theirs = match name {
            "exact" => counted("matching", "one_property"),
            name => counted("matched_by_rule", name),
        };
        if ours != theirs {
            return Err(format!("{name}: {ours} here, {theirs} in the build's report").into());
        }
    }
    println!("the build's report counts the same");
    Ok(())
}

fn share(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
