//! From files with addresses to a directory.

use super::query::words_of;
use super::tables::{
    ADDRESSES, BY_POSTCODE, DirectoryError, FORM, FoundAddress, ONLY, SCHEMA, STREETS, compact,
    store,
};
use domesday_registers::address::AddressKey;
use domesday_registers::address_file::AddressFile;
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::sources::{self, FileReport, Source, UnusedRow, Verdict};
use domesday_registers::{MaxRejected, Postcode, Progress};
use redb::{Database, ReadableTable};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Addresses written between two commits, which bounds the memory of a build.
const ADDRESSES_A_COMMIT: usize = 200_000;

/// The files that a directory is built from.
#[derive(Clone, Debug, Default)]
pub struct DirectoryInputs {
    /// Licensed address files (docs/reference/address-file.md).
    pub addresses: Vec<PathBuf>,
    /// Price paid files, for the addresses of sold homes.
    pub price_paid: Vec<PathBuf>,
    /// The largest share of a file's rows that may be rejected.
    pub max_rejected: MaxRejected,
}

/// The outcome of a build.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryReport {
    /// Addresses in the directory.
    pub addresses: u64,
    /// Rows of each file.
    pub files: Vec<FileReport>,
}

/// The registers of a directory. The first to name an address has its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Addresses,
    PricePaid,
}

impl sources::Kind for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Addresses => "addresses",
            Kind::PricePaid => "price_paid",
        }
    }
}

/// Builds a directory into `out`, which must not exist yet. The file appears when it is complete.
///
/// # Errors
/// See [`DirectoryError`].
pub fn build(
    inputs: &DirectoryInputs,
    out: &Path,
    progress: &mut Progress<'_>,
) -> Result<DirectoryReport, DirectoryError> {
    let failed = |path: &Path, source| DirectoryError::Write {
        path: path.to_owned(),
        source,
    };
    if out.exists() {
        return Err(failed(out, io::ErrorKind::AlreadyExists.into()));
    }
    let folder = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let staged = tempfile::Builder::new()
        .prefix(".address-directory-")
        .tempfile_in(folder)
        .map_err(|source| failed(folder, source))?
        .into_temp_path();
    fs::remove_file(&staged).map_err(|source| failed(&staged, source))?;
    let database = Database::create(&staged).map_err(store)?;
    let report = write(inputs, &database, progress)?;
    drop(database);
    staged
        .persist_noclobber(out)
        .map_err(|error| failed(out, error.error))?;
    Ok(report)
}

fn write(
    inputs: &DirectoryInputs,
    database: &Database,
    progress: &mut Progress<'_>,
) -> Result<DirectoryReport, DirectoryError> {
    let given: [(Kind, &[PathBuf]); 2] = [
        (Kind::Addresses, &inputs.addresses),
        (Kind::PricePaid, &inputs.price_paid),
    ];
    let mut sources = sources::list(&given, progress)?;
    let mut batch = Batch {
        database,
        pending: Vec::new(),
        added: 0,
    };
    for source in &mut sources {
        match source.kind {
            Kind::Addresses => read::<AddressFile>(source, inputs, progress, &mut batch, |row| {
                let home = row.residential;
                home.then(|| {
                    home_address(
                        [&row.saon, &row.paon, &row.street, &row.locality, &row.town],
                        &row.postcode,
                        Some(row.uprn),
                    )
                })?
            })?,
            Kind::PricePaid => {
                read::<PricePaidFile>(source, inputs, progress, &mut batch, |row| {
                    let home = row.property_type != PropertyType::Other;
                    let parts = [&row.saon, &row.paon, &row.street, &row.locality, &row.town];
                    home.then(|| home_address(parts, row.postcode.as_ref()?, None))?
                })?
            }
        }
    }
    batch.write()?;
    Ok(DirectoryReport {
        addresses: batch.added,
        files: sources.into_iter().map(|source| source.report).collect(),
    })
}

/// Adds the addresses of one file.
fn read<T: domesday_registers::rows::Register>(
    source: &mut Source<Kind>,
    inputs: &DirectoryInputs,
    progress: &mut Progress<'_>,
    batch: &mut Batch<'_>,
    address: impl Fn(T::Row) -> Option<FoundAddress>,
) -> Result<(), DirectoryError> {
    let mut failure = None;
    source.read::<T, (), DirectoryError>(
        inputs.max_rejected,
        progress,
        |row| match address(row).map(|address| batch.add(address)) {
            Some(Ok(())) => Verdict::Kept,
            Some(Err(error)) => {
                failure.get_or_insert(error);
                Verdict::LeftOut("not_written", ())
            }
            None => Verdict::LeftOut("no_address_of_a_home", ()),
        },
        |_, _: UnusedRow<'_>| Ok(()),
    )?;
    failure.map_or(Ok(()), Err)
}

/// Returns the address of a register's cells: unit, building, street, locality and town. `None`
/// without a building or a street.
fn home_address(
    [saon, paon, street, locality, town]: [&String; 5],
    postcode: &Postcode,
    uprn: Option<u64>,
) -> Option<FoundAddress> {
    let building = match (saon.is_empty(), paon.is_empty()) {
        (true, _) => paon.clone(),
        (false, true) => saon.clone(),
        (false, false) => format!("{saon}, {paon}"),
    };
    let street = if street.is_empty() { locality } else { street };
    // One address, however its registers spell it, has one id.
    let key = AddressKey::of_request(&building, street)?;
    let digest = Sha256::digest(format!("{}|{}", compact(postcode), key.as_str()));
    let id = digest.first_chunk().copied().map(u64::from_be_bytes)?;
    Some(FoundAddress {
        id,
        building,
        street: street.clone(),
        town: town.clone(),
        postcode: postcode.as_str().to_owned(),
        uprn,
    })
}

/// Returns the key of [`BY_POSTCODE`]: numbers of houses and then of flats in order.
fn postcode_key(address: &FoundAddress) -> String {
    let number = |text: &str| -> u32 {
        let digits = text.chars().skip_while(|c| !c.is_ascii_digit());
        let digits: String = digits.take_while(char::is_ascii_digit).take(6).collect();
        digits.parse().unwrap_or_default()
    };
    let (unit, building) = match address.building.split_once(", ") {
        Some((unit, building)) => (number(unit), number(building)),
        None => (0, number(&address.building)),
    };
    format!(
        "{} {} {building:06} {unit:06} {:016x}",
        address.postcode.replace(' ', ""),
        words_of(&address.street).join(" "),
        address.id
    )
}

/// Returns the keys of [`STREETS`]: the street, and the building if it has a name.
fn street_keys(address: &FoundAddress) -> impl Iterator<Item = String> {
    let end = format!("{} {}", address.town, address.postcode.replace(' ', ""));
    let street = format!("{} {end}", address.street);
    let unnumbered = |word: &String| !word.starts_with(|first: char| first.is_ascii_digit());
    let named = address.building.rsplit(", ").next().unwrap_or_default();
    let named = words_of(named);
    let name = named
        .first()
        .is_some_and(unnumbered)
        .then(|| named.join(" "));
    let name = name.map(|name| format!("{name} {street}"));
    [Some(street), name]
        .into_iter()
        .flatten()
        .map(|key| words_of(&key).join(" "))
}

/// Addresses that the next commit writes.
struct Batch<'d> {
    database: &'d Database,
    pending: Vec<FoundAddress>,
    added: u64,
}

impl Batch<'_> {
    fn add(&mut self, address: FoundAddress) -> Result<(), DirectoryError> {
        self.pending.push(address);
        match self.pending.len() < ADDRESSES_A_COMMIT {
            true => Ok(()),
            false => self.write(),
        }
    }

    /// Writes the pending addresses. An address that is there already keeps its spelling.
    fn write(&mut self) -> Result<(), DirectoryError> {
        let transaction = self.database.begin_write().map_err(store)?;
        {
            let mut addresses = transaction.open_table(ADDRESSES).map_err(store)?;
            let mut by_postcode = transaction.open_table(BY_POSTCODE).map_err(store)?;
            let mut streets = transaction.open_table(STREETS).map_err(store)?;
            for address in self.pending.drain(..) {
                if addresses.get(address.id).map_err(store)?.is_some() {
                    continue;
                }
                let row = postcard::to_allocvec(&address).map_err(|error| {
                    let line = address.line();
                    store(redb::StorageError::Corrupted(format!("{line}: {error}")))
                })?;
                addresses.insert(address.id, &*row).map_err(store)?;
                let key = postcode_key(&address);
                by_postcode.insert(&*key, address.id).map_err(store)?;
                for key in street_keys(&address) {
                    streets.insert(&*key, ()).map_err(store)?;
                }
                self.added += 1;
            }
            let mut form = transaction.open_table(FORM).map_err(store)?;
            form.insert(ONLY, SCHEMA).map_err(store)?;
        }
        transaction.commit().map_err(store)
    }
}
