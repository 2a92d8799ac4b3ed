//! Counts the sales that find a certificate by address key, beside another author's matches.
//!
//! ```text
//! cargo run -p domesday-registers --example match_addresses -- PRICE_PAID CERTIFICATES [MAPPING] [--misses]
//! ```

#![allow(missing_docs, unused_crate_dependencies)]

use domesday_registers::address::{keys_of_lines, keys_of_parts};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{Certificate, PricePaid};
use domesday_registers::rows::{Begin, Register, RowError, Rows, Warnings};
use domesday_registers::{AddressKey, BytesRead, Postcode, Record};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The other author's pairs of certificate and sale.
#[derive(Default)]
struct Mapping {
    certificate: usize,
    sale: usize,
}

impl Register for Mapping {
    type Row = (String, String);
    const NAME: &'static str = "mapping of certificates and sales";

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let find = |name| first.cells().position(|cell| cell == name);
        match (find("lmk_key"), find("ppd_id")) {
            (Some(certificate), Some(sale)) => {
                *self = Mapping { certificate, sale };
                Begin::Header
            }
            _ => Begin::Wrong("a header with lmk_key and ppd_id"),
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<Self::Row, RowError> {
        let id = record.cell(self.sale).trim_matches(['{', '}']);
        Ok((record.cell(self.certificate).to_owned(), id.to_owned()))
    }
}

fn main() -> Outcome<()> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let [sales, certificates, mapping @ ..] = files.as_slice() else {
        return Err("usage: match_addresses PRICE_PAID CERTIFICATES [MAPPING] [--misses]".into());
    };
    let misses = flags.iter().any(|flag| flag == "--misses");

    let certificates = Certificates::read(Path::new(certificates))?;
    certificates.print_keys(misses);
    let sales = MatchedSales::read(Path::new(sales), &certificates, misses)?;
    sales.print_shares();
    match mapping.first() {
        Some(mapping) => compare(Path::new(mapping), &certificates, &sales, misses),
        None => Ok(()),
    }
}

/// All certificates, and their positions by address key and by postcode.
#[derive(Default)]
struct Certificates {
    all: Vec<Certificate>,
    by_key: HashMap<(Postcode, AddressKey), Vec<usize>>,
    by_postcode: HashMap<Postcode, Vec<usize>>,
}

impl Certificates {
    fn read(path: &Path) -> Outcome<Certificates> {
        let mut read = Certificates::default();
        for row in Rows::<CertificateFile>::open(path, &BytesRead::default())? {
            if let Ok(certificate) = row? {
                read.add(certificate);
            }
        }
        Ok(read)
    }

    fn add(&mut self, certificate: Certificate) {
        let at = self.all.len();
        for key in keys_of_lines(&certificate.lines, &certificate.town, &certificate.postcode) {
            self.by_key
                .entry((certificate.postcode.clone(), key))
                .or_default()
                .push(at);
        }
        self.by_postcode
            .entry(certificate.postcode.clone())
            .or_default()
            .push(at);
        self.all.push(certificate);
    }

    /// Returns the positions of the certificates with one of the keys in a postcode.
    fn find(&self, postcode: &Postcode, keys: &[AddressKey]) -> BTreeSet<usize> {
        keys.iter()
            .filter_map(|key| self.by_key.get(&(postcode.clone(), key.clone())))
            .flatten()
            .copied()
            .collect()
    }

    /// Prints how many certificates and keys there are, and which keys several UPRNs share.
    fn print_keys(&self, misses: bool) {
        let mut homes: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for ((postcode, key), found) in &self.by_key {
            homes
                .entry(format!("{postcode} {key}"))
                .or_default()
                .extend(found.iter().filter_map(|at| self.all[*at].uprn));
        }
        homes.retain(|_, uprns| uprns.len() > 1);
        println!(
            "{} certificates, {} keys, {} keys that several UPRNs share",
            self.all.len(),
            self.by_key.len(),
            homes.len()
        );
        if misses {
            for (key, uprns) in &homes {
                println!("  shared: {key} {uprns:?}");
            }
        }
    }

    /// Prints a sale without a certificate, and some certificates of its postcode.
    fn print_miss(&self, postcode: &Postcode, text: &str, keys: &[AddressKey]) {
        println!("  miss: {text} {keys:?}");
        for at in self.by_postcode.get(postcode).into_iter().flatten().take(4) {
            let certificate = &self.all[*at];
            println!("        {:?} {}", certificate.lines, certificate.town);
        }
    }
}

/// The sales that have a postcode, and the certificates that they find.
#[derive(Default)]
struct MatchedSales {
    texts: HashMap<String, String>,
    /// The keys of the certificates, by the id of the sale.
    certificates: BTreeMap<String, BTreeSet<String>>,
    all: u64,
    postcode_known: u64,
    matched: u64,
    ambiguous: u64,
}

impl MatchedSales {
    fn read(path: &Path, certificates: &Certificates, misses: bool) -> Outcome<MatchedSales> {
        let mut read = MatchedSales::default();
        for row in Rows::<PricePaidFile>::open(path, &BytesRead::default())? {
            if let Ok(sale) = row? {
                read.add(sale, certificates, misses);
            }
        }
        Ok(read)
    }

    fn add(&mut self, sale: PricePaid, certificates: &Certificates, misses: bool) {
        self.all += 1;
        let Some(postcode) = &sale.postcode else {
            return;
        };
        let keys = keys_of_parts(&sale.saon, &sale.paon, &sale.street, &sale.locality);
        let found = certificates.find(postcode, &keys);
        let uprns: BTreeSet<_> = found.iter().map(|at| certificates.all[*at].uprn).collect();
        let postcode_known = certificates.by_postcode.contains_key(postcode);
        self.postcode_known += u64::from(postcode_known);
        self.matched += u64::from(!found.is_empty());
        self.ambiguous += u64::from(uprns.len() > 1);
        let text = format!(
            "{postcode} | {} | {} | {} | {} | {}",
            sale.saon, sale.paon, sale.street, sale.locality, sale.town
        );
        if found.is_empty() && misses && postcode_known {
            certificates.print_miss(postcode, &text, &keys);
        }
        let found = found.iter().map(|at| certificates.all[*at].key.clone());
        self.certificates
            .insert(sale.transaction_id.clone(), found.collect());
        self.texts.insert(sale.transaction_id, text);
    }

    fn print_shares(&self) {
        let share = |whole: u64| 100.0 * self.matched as f64 / whole.max(1) as f64;
        println!(
            "{} sales, {} in a certificate's postcode; {} find a certificate ({:.2} % of all, {:.2} % of those), {} find several UPRNs",
            self.all,
            self.postcode_known,
            self.matched,
            share(self.all),
            share(self.postcode_known),
            self.ambiguous
        );
    }
}

/// Compares the matches with the other author's, and prints how many agree.
fn compare(
    mapping: &Path,
    certificates: &Certificates,
    sales: &MatchedSales,
    misses: bool,
) -> Outcome<()> {
    let lines: HashMap<&str, String> = certificates
        .all
        .iter()
        .map(|c| {
            let text = format!("{:?} {} {}", c.lines, c.town, c.postcode);
            (c.key.as_str(), text)
        })
        .collect();
    let (mut pairs, mut agreed, mut other, mut unmatched, mut unread) = (0, 0, 0, 0, 0);
    let mut mapped = BTreeSet::new();
    for row in Rows::<Mapping>::open(mapping, &BytesRead::default())? {
        let Ok((certificate, sale)) = row? else {
            continue;
        };
        pairs += 1;
        mapped.insert(sale.clone());
        let found = sales.certificates.get(&sale);
        let (Some(found), Some(text)) = (found, lines.get(certificate.as_str())) else {
            unread += 1;
            continue;
        };
        if found.contains(&certificate) {
            agreed += 1;
            continue;
        }
        let finds = match found.is_empty() {
            true => {
                unmatched += 1;
                "none"
            }
            false => {
                other += 1;
                "other"
            }
        };
        if misses {
            let sale = &sales.texts[&sale];
            println!("  mapping only ({finds}): {sale} <> {text}");
        }
    }
    let extra = sales
        .certificates
        .iter()
        .filter(|(sale, found)| !found.is_empty() && !mapped.contains(*sale))
        .count();
    println!(
        "{pairs} pairs of the mapping: {agreed} agreed, {other} find another certificate, {unmatched} find none, {unread} not in these files; {extra} sales matched that the mapping has not"
    );
    Ok(())
}
