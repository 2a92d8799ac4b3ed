//! From the publishers' downloads to a snapshot directory.
//!
//! Each pass is a file here:
//!
//! - `postcodes` reads postcodes and authorities.
//! - `homes` reads the address file and certificates.
//! - `sold_homes` makes homes of sold addresses, under invented UPRNs.
//! - `sales` reads price paid data.
//! - `settle` combines rows into transactions.
//! - `matching` matches transactions to properties, postcode by postcode.
//! - `rules` matches addresses that no home has exactly.
//! - `join` adds the properties' data to their sales, UPRN by UPRN.
//! - `blocks` packs the sales cell by cell.
//! - `figures` computes the figures area by area.
//! - `indices` reads the price indices.
//! - `write` writes the file.
//!
//! `check` reads one file as the passes do, and builds nothing.
//!
//! Every pass reads rows one at a time. It hands compact seeds to the next pass through an
//! [`external_sort::Sorter`], which puts them in key order in bounded memory. A later pass sees
//! only sorted seeds. So the result depends neither on the order of files and rows nor on the
//! amount of memory.
//!
//! If two price paid files or two index files disagree, the later file wins. A file is later if
//! its latest row is later. Between two price paid files of one day, the one with changes or
//! deletions wins. Any other tie goes to the greater SHA-256. Of certificates lodged twice under
//! one key, and of address file rows with one UPRN, the greater in order of content stays. A
//! certificate that does not stay names no address either. Neither file names nor their order on
//! the command line play a part.

mod authorities;
mod blocks;
mod check;
mod error;
mod external_sort;
mod figures;
mod file_names;
mod group_kinds;
mod home_seeds;
mod homes;
mod indices;
mod inputs;
mod join;
mod keys;
mod matching;
mod postcodes;
mod property;
mod publish;
mod rejects;
mod report;
mod rules;
mod sales;
mod settle;
mod sold_homes;
mod sources;
mod update;
mod write;

use crate::model::RowCounts;
use crate::snapshot::last_whole_month;
use crate::store::tables::{self, Facts, Origin};
use domesday_registers::{Day, Progress};
use external_sort::Scratch;
use std::path::Path;
use std::rc::Rc;
use write::Table;

pub use check::{FileCheck, OtherBuild, UnusedReason, check};
pub use domesday_registers::sources::FileReport;
pub use error::BuildError;
pub use file_names::{REJECTS_FILE, REPORT_FILE, SNAPSHOT_FILE};
pub use inputs::Inputs;
pub use report::{HomesReport, PlacesReport, Report, SalesReport};
pub use sold_homes::FIRST_INVENTED_UPRN;
pub use update::{UpdateCounts, UpdateReport, update};

/// The default memory for seeds, in bytes.
pub const DEFAULT_MEMORY: usize = 1 << 30;

/// Builds a snapshot into `directory`, which must not exist yet, with [`DEFAULT_MEMORY`] and sales
/// of any day.
///
/// Everything is written under a neighbouring name and renamed when complete, so that no
/// half-built snapshot is ever found under `directory`.
///
/// # Errors
/// See [`BuildError`].
pub fn build(
    snapshot_id: &str,
    inputs: &Inputs,
    directory: &Path,
    progress: &mut Progress<'_>,
) -> Result<Report, BuildError> {
    build_within(
        snapshot_id,
        inputs,
        directory,
        DEFAULT_MEMORY,
        None,
        progress,
    )
}

/// Builds as [`build`] does, with a bound of `memory` bytes for seeds.
///
/// Seeds that do not fit wait on disk beside the snapshot. The postcodes, the pages being written
/// (256 MiB) and the buffers come on top.
///
/// Sales of a later day than `sales_to` are left out. No register knows a sale of the future. A
/// wrong day there would place its file after later ones, and open months without sales. Made-up
/// registers may have any day: `None`.
///
/// # Errors
/// See [`BuildError`].
pub fn build_within(
    snapshot_id: &str,
    inputs: &Inputs,
    directory: &Path,
    memory: usize,
    sales_to: Option<Day>,
    progress: &mut Progress<'_>,
) -> Result<Report, BuildError> {
    let staged = publish::StagedSnapshot::begin(directory)?;
    let rejects = rejects::RejectsFile::create(&staged.path(REJECTS_FILE))?;
    let scratch = Scratch::within(staged.folder(), memory)?;
    let mut sources = sources::Sources::list(inputs, rejects, progress)?;

    let authorities = authorities::read(&mut sources)?;
    let places = postcodes::read(&mut sources, &authorities)?;
    let homes = homes::read(
        &mut sources,
        &places,
        &authorities,
        inputs.by_rules,
        &scratch,
    )?;
    let sales = sales::read(&mut sources, sales_to, &scratch)?;
    let indices = indices::read(&mut sources)?;
    let (files, rejects) = sources.finish();
    rejects.finish()?;

    let price_paid_to = sales.moments.iter().max().cloned();
    let read = RegisterContents {
        places,
        homes,
        sales,
        indices,
        by_rules: inputs.by_rules,
    };
    let database = staged.path(SNAPSHOT_FILE);
    let written = tables(&database, read, &scratch, progress)?;
    drop(scratch);
    let listed = files.iter().map(write::source).collect();
    let origin = |content_digest| Origin {
        snapshot_id: snapshot_id.to_owned(),
        content_digest,
        sources: listed,
        price_paid_to,
        by_rules: inputs.by_rules,
    };
    let report = Report {
        identity: write::seal(&database, &written.facts, origin, progress)?,
        files,
        places: written.places,
        homes: written.homes,
        sales: written.sales,
    };
    publish::write_json(&staged.path(REPORT_FILE), &report)?;
    staged.publish()?;
    Ok(report)
}

/// The content of all files.
struct RegisterContents {
    places: postcodes::PostcodeTable,
    homes: home_seeds::Homes,
    sales: sales::ReadSales,
    indices: indices::Indices,
    by_rules: bool,
}

/// The facts of the written snapshot, and the reports of the passes.
struct PassReports {
    facts: Facts,
    places: PlacesReport,
    homes: HomesReport,
    sales: SalesReport,
}

/// Writes the tables, pass by pass.
fn tables(
    path: &Path,
    read: RegisterContents,
    scratch: &Rc<Scratch>,
    progress: &mut Progress<'_>,
) -> Result<PassReports, BuildError> {
    let RegisterContents {
        places,
        mut homes,
        sales,
        indices,
        by_rules,
    } = read;
    progress("settle", 0, 1);
    let current = settle::settle(sales, scratch)?;
    progress("settle", 1, 1);
    let mut report = current.report;
    let database = write::create(path)?;
    let transaction = write::begin(&database)?;
    let table = |definition| Table::open(&transaction, definition);

    let mut written = matching::OutputTables {
        addresses: table(tables::ADDRESSES)?,
        unmatched: table(tables::UNMATCHED)?,
    };
    let matched = matching::run(
        matching::SalesToMatch {
            sales: current.sales,
            by_rules,
        },
        &mut homes,
        &places,
        scratch,
        &mut written,
        &mut report,
        progress,
    )?;
    drop(written);
    let joined = join::run(
        matched.of_properties,
        matched.joined,
        &homes,
        &places,
        &mut table(tables::PROPERTIES)?,
        &mut report,
        progress,
    )?;
    let counted = blocks::run(joined, scratch, &mut table(tables::SALES)?, progress)?;
    progress("write", 0, 3);
    counted.write_cells(&mut table(tables::CELLS)?)?;
    counted.write_days(&mut table(tables::POSTCODE_SALES)?)?;
    progress("write", 1, 3);
    let rows = RowCounts {
        postcodes: places.postcodes.len() as u64,
        address_keys: matched.address_keys,
        properties: homes.report.properties,
        certificates: homes.report.certificates,
        placed_sales: counted.placed,
        unplaced_sales: counted.unplaced,
        matched_sales: counted.matched,
    };
    let latest_sale = current.latest_day.map(i32::from);
    let mut figures = table(tables::FIGURES)?;
    let last = latest_sale.map_or(0, |day| last_whole_month(Day(day)));
    figures::compute(
        counted.figures,
        last,
        |_, _| true,
        |key, row| figures.insert(key, row),
    )?;
    drop(figures);
    progress("write", 2, 3);
    write::write_places_and_indices(&transaction, &places, &indices)?;
    let facts = Facts {
        schema: tables::SCHEMA,
        latest_sale,
        rows,
    };
    write::write_facts(&transaction, &facts)?;
    write::commit(transaction)?;
    progress("write", 3, 3);
    Ok(PassReports {
        facts,
        places: places.report,
        homes: homes.report,
        sales: report,
    })
}
