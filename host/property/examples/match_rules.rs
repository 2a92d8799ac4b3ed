//! How well the registers' addresses are matched, rule by rule, against a known truth.
//!
//! ```text
//! cargo run -p domesday-property --example match_rules -- FOLDER [REPORT] [--wrong] [--missed] [--certificates-alone]
//! ```
//!
//! FOLDER is a world that the generator wrote with its truth, or has the subfolders `ppd`, `epc`
//! and `postcodes` with Leicestershire's sales, certificates and another author's match of the two.
//! With the REPORT of a build of the same files, its counts are compared. Addresses are looked up
//! as texts here and as fingerprints there, so that the two are two ways to one figure. With
//! `--certificates-alone`, homes are known from certificates and not from the address file, so that
//! many a sale's home is not there to be found and others may be taken for it.

#![allow(unused_crate_dependencies)]

use domesday_registers::address::{keys_of_lines, keys_of_parts};
use domesday_registers::codes::PropertyType;
use domesday_registers::matching::{AddressQuery, OLDER_POSTCODE, RULES};
use domesday_registers::records::{Change, PricePaid};
use domesday_registers::rows::{Begin, Refusal, Register, Rows, Warnings};
use domesday_registers::{
    AddressFileReader, AddressKey, BytesRead, CertificateReader, CodePointReader, Postcode,
    PricePaidReader, Record,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};

type Failure = Box<dyn Error>;

/// Two columns of a table, by name.
trait Columns: Default {
    const NAMES: [&'static str; 2];
}

/// The generator's truth.
#[derive(Default)]
struct Truth;
impl Columns for Truth {
    const NAMES: [&'static str; 2] = ["transaction_id", "uprn"];
}

/// The other author's pairs.
#[derive(Default)]
struct Mapping;
impl Columns for Mapping {
    const NAMES: [&'static str; 2] = ["ppd_id", "lmk_key"];
}

#[derive(Default)]
struct Pairs<C>(C, [usize; 2]);

impl<C: Columns> Register for Pairs<C> {
    type Row = (String, String);
    const NAME: &'static str = "pairs of a sale and its home";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let find = |name| first.cells().position(|cell| cell == name);
        match C::NAMES.map(find) {
            [Some(one), Some(other)] => {
                self.1 = [one, other];
                Begin::Header
            }
            _ => Begin::Missing(C::NAMES.map(str::to_owned).to_vec()),
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<Self::Row, Refusal> {
        let id = record.cell(self.1[0]).trim_matches(['{', '}']);
        Ok((id.to_owned(), record.cell(self.1[1]).to_owned()))
    }
}

type ByKey = HashMap<AddressKey, BTreeSet<u64>>;

/// Homes and premises by address.
#[derive(Clone, Default)]
struct Known {
    postcodes: HashMap<Postcode, ByKey>,
    districts: HashMap<String, ByKey>,
    sectors: HashMap<String, ByKey>,
    uprns: HashSet<u64>,
    homes: HashSet<u64>,
    texts: HashMap<u64, String>,
}

impl Known {
    fn add(&mut self, postcode: &Postcode, keys: Vec<AddressKey>, uprn: u64, text: String) {
        self.uprns.insert(uprn);
        self.texts.insert(uprn, text);
        let sector = self.sectors.entry(postcode.sector().to_owned());
        let district = self.districts.entry(district(postcode));
        let (sector, district) = (sector.or_default(), district.or_default());
        for key in &keys {
            sector.entry(key.clone()).or_default().insert(uprn);
            district.entry(key.clone()).or_default().insert(uprn);
        }
        let of_postcode = self.postcodes.entry(postcode.clone()).or_default();
        for key in keys {
            of_postcode.entry(key).or_default().insert(uprn);
        }
    }
}

fn found<'k>(known: &ByKey, keys: impl IntoIterator<Item = &'k AddressKey>) -> BTreeSet<u64> {
    let found = keys.into_iter().filter_map(|key| known.get(key));
    found.flatten().copied().collect()
}

fn one(found: &BTreeSet<u64>) -> Option<u64> {
    (found.len() == 1).then(|| found.first().copied()).flatten()
}

/// Returns the outward code.
fn district(postcode: &Postcode) -> String {
    let sector = postcode.sector();
    sector[..sector.len() - 1].to_owned()
}

/// A sale and what its address means.
struct Met<'s> {
    id: &'s String,
    sale: &'s PricePaid,
    postcode: &'s Postcode,
    home: Option<(&'static str, u64)>,
}

fn one_address(name: &str) -> bool {
    let rule = RULES.iter().find(|rule| rule.name == name);
    rule.is_some_and(|rule| rule.one_address)
}

/// Matches every sale with a postcode. A home that several addresses meet by rules of one address
/// is neither's.
fn all_met<'s>(
    known: &Known,
    live: &HashSet<Postcode>,
    sales: &'s BTreeMap<String, PricePaid>,
) -> Vec<Met<'s>> {
    let mut claims: HashMap<(&Postcode, u64), BTreeSet<AddressKey>> = HashMap::new();
    let mut all = Vec::new();
    for (id, sale) in sales {
        let Some(postcode) = &sale.postcode else {
            continue;
        };
        let query = AddressQuery::of_parts(
            &sale.saon,
            &sale.paon,
            &sale.street,
            &sale.locality,
            &sale.town,
        );
        let flat = query.keys().iter().any(AddressKey::names_flat);
        let rules = sale.property_type != PropertyType::Other || flat;
        let home = met(known, live, postcode, &query, rules);
        if let Some((_, uprn)) = home.filter(|(rule, _)| one_address(rule)) {
            let claims = claims.entry((postcode, uprn)).or_default();
            claims.extend(query.keys().first().cloned());
        }
        all.push(Met {
            id,
            sale,
            postcode,
            home,
        });
    }
    for met in &mut all {
        met.home = met.home.filter(|(rule, uprn)| {
            let claims = claims.get(&(met.postcode, *uprn));
            !one_address(rule) || claims.is_none_or(|claims| claims.len() < 2)
        });
    }
    all
}

/// Returns the home of an address and the rule that found it.
fn met(
    known: &Known,
    live: &HashSet<Postcode>,
    at: &Postcode,
    query: &AddressQuery,
    rules: bool,
) -> Option<(&'static str, u64)> {
    let nothing = ByKey::new();
    let here = known.postcodes.get(at).unwrap_or(&nothing);
    let exact = found(here, query.keys());
    if !exact.is_empty() {
        return one(&exact).map(|uprn| ("exact", uprn));
    }
    if !rules {
        return None;
    }
    let home = |uprn: &u64| known.homes.contains(uprn);
    for rule in RULES.iter().filter(|_| !here.is_empty()) {
        if !found(here, &rule.blocking_keys(query)).is_empty() {
            continue;
        }
        if let Some(premises) = rule.premises_keys(query)
            && found(here, &premises).iter().all(home)
        {
            continue;
        }
        let targets = found(here, &rule.target_keys(query));
        if let Some(uprn) = one(&targets).filter(home) {
            return Some((rule.name, uprn));
        }
        if !targets.is_empty() {
            break;
        }
    }
    if live.contains(at) {
        return None;
    }
    let there = known.districts.get(&district(at)).unwrap_or(&nothing);
    let uprn = one(&found(there, query.keys_with_street())).filter(home)?;
    let near = known.sectors.get(at.sector()).unwrap_or(&nothing);
    let elsewhere = found(near, query.keys_with_street()).is_empty();
    if elsewhere && !found(near, &query.of_its_street()).is_empty() {
        return None;
    }
    Some((OLDER_POSTCODE, uprn))
}

#[derive(Default)]
struct Tally {
    right: u64,
    wrong: u64,
    unjudged: u64,
}

fn main() -> Result<(), Failure> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let shows = |flag: &str| flags.iter().any(|given| given == flag);
    let folder = PathBuf::from(files.first().ok_or("usage: match_rules FOLDER [REPORT]")?);
    let generated = folder.join("truth-sales.csv").exists();
    let progress = BytesRead::default();
    let (price_paid, certificates, code_point) = if generated {
        let files = ["price-paid.csv", "price-paid-monthly-change.csv"];
        (
            files.map(|file| folder.join(file)).to_vec(),
            folder.join("certificates.csv"),
            folder.join("codepo_gb.zip"),
        )
    } else {
        (
            vec![folder.join("ppd/leicestershire-matched-ppd.csv")],
            folder.join("epc/leicestershire-certificates.csv"),
            folder.join("postcodes/codepo_gb.zip"),
        )
    };

    let mut live = HashSet::new();
    for row in CodePointReader::open(&code_point, &progress)? {
        if let Ok(unit) = row? {
            live.insert(unit.postcode);
        }
    }
    let mut known = Known::default();
    let mut of_certificates: HashMap<String, u64> = HashMap::new();
    let mut without_uprn = Vec::new();
    if generated && !shows("--certificates-alone") {
        for row in AddressFileReader::open(&folder.join("addresses.csv"), &progress)? {
            let Ok(row) = row? else { continue };
            let keys = keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality);
            let text = format!(
                "{} | {} | {} | {}",
                row.saon, row.paon, row.street, row.postcode
            );
            known.add(&row.postcode, keys, row.uprn, text);
            if row.residential {
                known.homes.insert(row.uprn);
            }
        }
    }
    let of_file = known.clone();
    for row in CertificateReader::open(&certificates, &progress)? {
        let Ok(row) = row? else { continue };
        let Some(uprn) = row.uprn else {
            without_uprn.push(row);
            continue;
        };
        let keys = keys_of_lines(&row.lines, &row.town, &row.postcode);
        known.add(
            &row.postcode,
            keys,
            uprn,
            format!("{:?} {}", row.lines, row.postcode),
        );
        known.homes.insert(uprn);
        of_certificates.insert(row.key, uprn);
    }

    let mut truth: HashMap<String, BTreeSet<u64>> = HashMap::new();
    if generated {
        for row in Rows::<Pairs<Truth>>::open(&folder.join("truth-sales.csv"), &progress)? {
            let Ok((id, uprn)) = row? else { continue };
            truth.entry(id).or_default().insert(uprn.parse()?);
        }
    } else {
        let mapping = folder.join("epc/leicestershire-epc-ppd-mapping.csv");
        for row in Rows::<Pairs<Mapping>>::open(&mapping, &progress)? {
            let Ok((id, certificate)) = row? else {
                continue;
            };
            if let Some(uprn) = of_certificates.get(&certificate) {
                truth.entry(id).or_default().insert(*uprn);
            }
        }
    }

    let mut sales: BTreeMap<String, PricePaid> = BTreeMap::new();
    for path in &price_paid {
        for row in PricePaidReader::open(path, &progress)? {
            let Ok(row) = row? else { continue };
            match row.change {
                Change::Delete => sales.remove(&row.transaction_id),
                _ => sales.insert(row.transaction_id.clone(), row),
            };
        }
    }
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let (mut findable, mut missed) = (0_u64, 0_u64);
    for met in all_met(&known, &live, &sales) {
        let Met {
            id,
            sale,
            postcode,
            home,
        } = met;
        let expected = truth.get(id);
        let there = expected.is_some_and(|all| all.iter().any(|uprn| known.uprns.contains(uprn)));
        findable += u64::from(there);
        let text = format!(
            "{} | {} | {} | {postcode}",
            sale.saon, sale.paon, sale.street
        );
        match (home, expected) {
            (Some((rule, uprn)), expected) => {
                let tally = tallies.entry(rule).or_default();
                match expected {
                    None => tally.unjudged += 1,
                    Some(all) if all.contains(&uprn) => tally.right += 1,
                    Some(_) => tally.wrong += 1,
                }
                let wrong = expected.is_none_or(|all| !all.contains(&uprn));
                if wrong && shows("--wrong") {
                    println!(
                        "wrong by {rule}: {text} <> {} ({expected:?})",
                        known.texts[&uprn]
                    );
                    for uprn in expected.into_iter().flatten() {
                        println!("    right: {:?}", known.texts.get(uprn));
                    }
                }
            }
            (None, Some(all)) if there => {
                missed += 1;
                if shows("--missed") {
                    let text_of = all.iter().filter_map(|uprn| known.texts.get(uprn)).next();
                    println!("missed: {text} <> {text_of:?}");
                }
            }
            _ => {}
        }
    }

    println!(
        "{} sales, {findable} of a home that the registers know",
        sales.len()
    );
    println!("rule               right    wrong  no truth   precision     recall so far");
    let mut right = 0;
    let order = ["exact"]
        .into_iter()
        .chain(RULES.iter().map(|rule| rule.name));
    for name in order.chain([OLDER_POSTCODE]) {
        let Some(tally) = tallies.get(name) else {
            continue;
        };
        right += tally.right;
        println!(
            "{name:<16} {:>7} {:>8} {:>9}  {:>9.4} %  {:>13.4} %",
            tally.right,
            tally.wrong,
            tally.unjudged,
            share(tally.right, tally.right + tally.wrong),
            share(right, findable)
        );
    }
    let rules = || tallies.iter().filter(|(name, _)| **name != "exact");
    let (by_rule, wrong) = rules().fold((0, 0), |sum, (_, t)| (sum.0 + t.right, sum.1 + t.wrong));
    let wrong_of_all: u64 = tallies.values().map(|tally| tally.wrong).sum();
    println!(
        "all rules        {by_rule:>7} {wrong:>8}            {:>9.4} %",
        share(by_rule, by_rule + wrong)
    );
    println!(
        "altogether       {right:>7} {wrong_of_all:>8}            {:>9.4} %; {missed} missed",
        share(right, right + wrong_of_all)
    );
    if generated {
        certificates_without_uprn(&of_file, &without_uprn);
    }
    match files.get(1) {
        Some(report) => compare(Path::new(report), &tallies),
        None => Ok(()),
    }
}

/// Matches certificates without UPRN, whose key tells the truth in a generated world.
fn certificates_without_uprn(known: &Known, rows: &[domesday_registers::records::Certificate]) {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    // They are looked for in the address file and in their own postcode alone, as in a build.
    for row in rows {
        let live = HashSet::from([row.postcode.clone()]);
        let truth: Option<u64> = row.key.get(5..17).and_then(|digits| digits.parse().ok());
        let query = AddressQuery::of_lines(&row.lines, &row.town, &row.postcode);
        let home = met(known, &live, &row.postcode, &query, true);
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
fn compare(report: &Path, tallies: &BTreeMap<&'static str, Tally>) -> Result<(), Failure> {
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let counted = |list: &str, name: &str| report["sales"][list][name].as_u64().unwrap_or_default();
    for name in ["exact"]
        .into_iter()
        .chain(RULES.iter().map(|rule| rule.name))
        .chain([OLDER_POSTCODE])
    {
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
