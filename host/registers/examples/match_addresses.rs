//! How many sales find a certificate by address key, beside another author's match of the same.
//!
//! ```text
//! cargo run -p domesday-registers --example match_addresses -- PRICE_PAID CERTIFICATES [MAPPING] [--misses]
//! ```

#![allow(missing_docs, unused_crate_dependencies)]

use domesday_registers::address::{keys_of_lines, keys_of_parts};
use domesday_registers::rows::{Begin, Refusal, Register, Rows, Warnings};
use domesday_registers::{
    AddressKey, BytesRead, CertificateReader, Postcode, PricePaidReader, Record,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

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

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<Self::Row, Refusal> {
        let id = record.cell(self.sale).trim_matches(['{', '}']);
        Ok((record.cell(self.certificate).to_owned(), id.to_owned()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let [sales, certificates, mapping @ ..] = files.as_slice() else {
        return Err("usage: match_addresses PRICE_PAID CERTIFICATES [MAPPING] [--misses]".into());
    };
    let misses = flags.iter().any(|flag| flag == "--misses");
    let progress = BytesRead::default();

    let mut homes: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut by_key: HashMap<(Postcode, AddressKey), Vec<usize>> = HashMap::new();
    let mut by_postcode: HashMap<Postcode, Vec<usize>> = HashMap::new();
    let mut all_certificates = Vec::new();
    for row in CertificateReader::open(Path::new(certificates), &progress)? {
        let Ok(certificate) = row? else { continue };
        for key in keys_of_lines(&certificate.lines, &certificate.town, &certificate.postcode) {
            by_key
                .entry((certificate.postcode.clone(), key))
                .or_default()
                .push(all_certificates.len());
        }
        by_postcode
            .entry(certificate.postcode.clone())
            .or_default()
            .push(all_certificates.len());
        all_certificates.push(certificate);
    }
    for ((postcode, key), found) in &by_key {
        homes
            .entry(format!("{postcode} {key}"))
            .or_default()
            .extend(found.iter().filter_map(|at| all_certificates[*at].uprn));
    }
    let shared = homes.values().filter(|uprns| uprns.len() > 1).count();
    println!(
        "{} certificates, {} keys, {shared} keys that several UPRNs share",
        all_certificates.len(),
        by_key.len()
    );
    if misses {
        homes
            .iter()
            .filter(|(_, uprns)| uprns.len() > 1)
            .for_each(|(key, uprns)| println!("  shared: {key} {uprns:?}"));
    }

    let mut ours: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut postcode_known = 0_u64;
    let (mut matched, mut ambiguous, mut all) = (0_u64, 0_u64, 0_u64);
    let mut texts = HashMap::new();
    for row in PricePaidReader::open(Path::new(sales), &progress)? {
        let Ok(sale) = row? else { continue };
        all += 1;
        let Some(postcode) = sale.postcode.clone() else {
            continue;
        };
        let keys = keys_of_parts(&sale.saon, &sale.paon, &sale.street, &sale.locality);
        let found: BTreeSet<usize> = keys
            .iter()
            .filter_map(|key| by_key.get(&(postcode.clone(), key.clone())))
            .flatten()
            .copied()
            .collect();
        let uprns: BTreeSet<_> = found.iter().map(|at| all_certificates[*at].uprn).collect();
        postcode_known += u64::from(by_postcode.contains_key(&postcode));
        matched += u64::from(!found.is_empty());
        ambiguous += u64::from(uprns.len() > 1);
        let text = format!(
            "{postcode} | {} | {} | {} | {} | {}",
            sale.saon, sale.paon, sale.street, sale.locality, sale.town
        );
        if found.is_empty() && misses && by_postcode.contains_key(&postcode) {
            println!("  miss: {text} {keys:?}");
            for at in by_postcode.get(&postcode).into_iter().flatten().take(4) {
                println!(
                    "        {:?} {}",
                    all_certificates[*at].lines, all_certificates[*at].town
                );
            }
        }
        texts.insert(sale.transaction_id.clone(), text);
        ours.insert(
            sale.transaction_id,
            found
                .into_iter()
                .map(|at| all_certificates[at].key.clone())
                .collect(),
        );
    }
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    println!(
        "{all} sales, {postcode_known} in a certificate's postcode; {matched} find a certificate ({:.2} % of all, {:.2} % of those), {ambiguous} find several UPRNs",
        share(matched, all),
        share(matched, postcode_known)
    );

    let Some(mapping) = mapping.first() else {
        return Ok(());
    };
    let (mut pairs, mut agreed, mut other, mut unmatched, mut unread) = (0, 0, 0, 0, 0);
    let lines: HashMap<_, _> = all_certificates
        .iter()
        .map(|c| {
            (
                c.key.as_str(),
                format!("{:?} {} {}", c.lines, c.town, c.postcode),
            )
        })
        .collect();
    let mut mapped = BTreeSet::new();
    for row in Rows::<Mapping>::open(Path::new(mapping), &progress)? {
        let Ok((certificate, sale)) = row? else {
            continue;
        };
        pairs += 1;
        mapped.insert(sale.clone());
        let (Some(found), Some(text)) = (ours.get(&sale), lines.get(certificate.as_str())) else {
            unread += 1;
            continue;
        };
        if found.contains(&certificate) {
            agreed += 1;
            continue;
        }
        if found.is_empty() {
            unmatched += 1
        } else {
            other += 1
        }
        if misses {
            println!(
                "  mapping only ({}): {} <> {text}",
                if found.is_empty() { "none" } else { "other" },
                texts[&sale]
            );
        }
    }
    let extra = ours
        .iter()
        .filter(|(sale, found)| !found.is_empty() && !mapped.contains(*sale))
        .count();
    println!(
        "{pairs} pairs of the mapping: {agreed} agreed, {other} find another certificate, {unmatched} find none, {unread} not in these files; {extra} sales matched that the mapping has not"
    );
    Ok(())
}
