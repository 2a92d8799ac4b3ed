//! The registers' files, and the truth about their sales.

use crate::Failure;
use crate::homes::KnownAddresses;
use domesday_registers::address::{keys_of_lines, keys_of_parts};
use domesday_registers::address_file::AddressFile;
use domesday_registers::certificates::CertificateFile;
use domesday_registers::code_point::CodePointFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{Certificate, Change, PricePaid};
use domesday_registers::rows::{Begin, Register, RowError, Rows, Warnings};
use domesday_registers::{BytesRead, Postcode, Record};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Two columns of a table, by name.
trait Columns: Default {
    const NAMES: [&'static str; 2];
}

/// The generator's truth.
#[derive(Default)]
struct TruthPairs;
impl Columns for TruthPairs {
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

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<Self::Row, RowError> {
        let id = record.cell(self.1[0]).trim_matches(['{', '}']);
        Ok((id.to_owned(), record.cell(self.1[1]).to_owned()))
    }
}

/// The file that tells the home of each sale.
pub(crate) enum Truth {
    /// The generator's, with UPRNs.
    Generated(PathBuf),
    /// Another author's, with certificates.
    Mapping(PathBuf),
}

/// The paths of a world.
pub(crate) struct Files {
    pub(crate) price_paid: Vec<PathBuf>,
    pub(crate) certificates: PathBuf,
    pub(crate) code_point: PathBuf,
    /// The address file of a generated world.
    pub(crate) addresses: Option<PathBuf>,
    pub(crate) truth: Truth,
}

impl Files {
    /// Returns the paths in a generated world, or else those in the folder of Leicestershire.
    pub(crate) fn of(folder: &Path) -> Files {
        let truth = folder.join("truth-sales.csv");
        if truth.exists() {
            let files = ["price-paid.csv", "price-paid-monthly-change.csv"];
            Files {
                price_paid: files.map(|file| folder.join(file)).to_vec(),
                certificates: folder.join("certificates.csv"),
                code_point: folder.join("codepo_gb.zip"),
                addresses: Some(folder.join("addresses.csv")),
                truth: Truth::Generated(truth),
            }
        } else {
            Files {
                price_paid: vec![folder.join("ppd/leicestershire-matched-ppd.csv")],
                certificates: folder.join("epc/leicestershire-certificates.csv"),
                code_point: folder.join("postcodes/codepo_gb.zip"),
                addresses: None,
                truth: Truth::Mapping(folder.join("epc/leicestershire-epc-ppd-mapping.csv")),
            }
        }
    }
}

/// Reads the live postcodes.
pub(crate) fn live_postcodes(
    path: &Path,
    progress: &BytesRead,
) -> Result<HashSet<Postcode>, Failure> {
    let mut live = HashSet::new();
    for row in Rows::<CodePointFile>::open(path, progress)? {
        if let Ok(unit) = row? {
            live.insert(unit.postcode);
        }
    }
    Ok(live)
}

/// Adds the homes and premises of the address file.
pub(crate) fn add_addresses(
    known: &mut KnownAddresses,
    path: &Path,
    progress: &BytesRead,
) -> Result<(), Failure> {
    for row in Rows::<AddressFile>::open(path, progress)? {
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
    Ok(())
}

/// The certificates, by whether they have a UPRN.
pub(crate) struct Certificates {
    /// UPRNs by key.
    pub(crate) uprns: HashMap<String, u64>,
    pub(crate) without_uprn: Vec<Certificate>,
}

/// Adds the homes of certificates.
pub(crate) fn add_certificates(
    known: &mut KnownAddresses,
    path: &Path,
    progress: &BytesRead,
) -> Result<Certificates, Failure> {
    let mut certificates = Certificates {
        uprns: HashMap::new(),
        without_uprn: Vec::new(),
    };
    for row in Rows::<CertificateFile>::open(path, progress)? {
        let Ok(row) = row? else { continue };
        let Some(uprn) = row.uprn else {
            certificates.without_uprn.push(row);
            continue;
        };
        let keys = keys_of_lines(&row.lines, &row.town, &row.postcode);
        let text = format!("{:?} {}", row.lines, row.postcode);
        known.add(&row.postcode, keys, uprn, text);
        known.homes.insert(uprn);
        certificates.uprns.insert(row.key, uprn);
    }
    Ok(certificates)
}

/// Reads the homes of each sale. `uprns` are those of certificates, by key.
pub(crate) fn truth(
    truth: &Truth,
    uprns: &HashMap<String, u64>,
    progress: &BytesRead,
) -> Result<HashMap<String, BTreeSet<u64>>, Failure> {
    let mut homes: HashMap<String, BTreeSet<u64>> = HashMap::new();
    match truth {
        Truth::Generated(path) => {
            for row in Rows::<Pairs<TruthPairs>>::open(path, progress)? {
                let Ok((id, uprn)) = row? else { continue };
                homes.entry(id).or_default().insert(uprn.parse()?);
            }
        }
        Truth::Mapping(path) => {
            for row in Rows::<Pairs<Mapping>>::open(path, progress)? {
                let Ok((id, certificate)) = row? else {
                    continue;
                };
                if let Some(uprn) = uprns.get(&certificate) {
                    homes.entry(id).or_default().insert(*uprn);
                }
            }
        }
    }
    Ok(homes)
}

/// Reads the sales that are in force after all changes.
pub(crate) fn current_sales(
    paths: &[PathBuf],
    progress: &BytesRead,
) -> Result<BTreeMap<String, PricePaid>, Failure> {
    let mut sales: BTreeMap<String, PricePaid> = BTreeMap::new();
    for path in paths {
        for row in Rows::<PricePaidFile>::open(path, progress)? {
            let Ok(row) = row? else { continue };
            match row.change {
                Change::Delete => sales.remove(&row.transaction_id),
                _ => sales.insert(row.transaction_id.clone(), row),
            };
        }
    }
    Ok(sales)
}
