//! A snapshot and the months after it: a new snapshot, without reading the old files again.
//!
//! A monthly price paid file lists additions, changes and deletions. The update finds the affected
//! data in the old snapshot, recomputes it by the rules of a build, and writes it into a copy. This
//! data is the blocks of sales, the properties' sale days and the meanings of addresses. It
//! includes the figures of the areas and of the months that are now whole. The content is that of a
//! build from all files together, and the digest proves it. The update only reads the old snapshot.
//!
//! - `months` reads the files.
//! - `before` finds their transactions in the snapshot.
//! - `edits` decides the change to each transaction.
//! - `apply` writes the changes.
//! - `figures` recomputes the figures of areas and months.

mod apply;
mod before;
mod edits;
mod figures;
mod months;
mod report;

pub use report::{UpdateCounts, UpdateReport};

use super::external_sort::Scratch;
use super::rejects::RejectsFile;
use super::sources::{Kind, Sources};
use super::{BuildError, DEFAULT_MEMORY, REJECTS_FILE, REPORT_FILE, SNAPSHOT_FILE, publish, write};
use crate::Snapshot;
use crate::model::RowCounts;
use crate::store::tables::{self, Facts, Origin};
use domesday_registers::{Day, MaxRejected, Progress};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Builds a snapshot into `directory`, which must not exist yet. The inputs are the snapshot file
/// `from` and the price paid files that came after those that it holds. A file with more than
/// `max_rejected` of its rows rejected is refused. Sales of a later day than `sales_to` are left
/// out, as in [`super::build_within`].
///
/// The new content is that of [`super::build`] from all files together, and so is its digest. The
/// files' transactions are held in memory, some 500 bytes each.
///
/// # Errors
/// [`BuildError::NotUpdatable`] for a snapshot that lacks the data for an update.
/// [`BuildError::NoUpdate`] for a file that would have acted before those of the snapshot.
/// Otherwise as [`super::build`].
pub fn update(
    snapshot_id: &str,
    from: &Path,
    price_paid: &[PathBuf],
    max_rejected: MaxRejected,
    sales_to: Option<Day>,
    directory: &Path,
    progress: &mut Progress<'_>,
) -> Result<UpdateReport, BuildError> {
    let old = Snapshot::open(from)?;
    let (Some(stored_to), true) = (old.origin.price_paid_to.clone(), old.unmatched.is_some())
    else {
        return Err(BuildError::NotUpdatable {
            path: from.to_owned(),
        });
    };
    let staged = publish::StagedSnapshot::begin(directory)?;
    let rejects = RejectsFile::create(&staged.path(REJECTS_FILE))?;
    let scratch = Scratch::within(staged.folder(), DEFAULT_MEMORY)?;
    let mut sources = Sources::of(
        &[(Kind::PricePaid, price_paid)],
        rejects,
        max_rejected,
        progress,
    )?;
    let months = months::read(&mut sources, &stored_to, sales_to, &scratch)?;
    let (files, rejects) = sources.finish();
    rejects.finish()?;

    let before = before::find(&old, &months, progress)?;
    let price_paid_to = months.moments.iter().cloned().chain([stored_to]).max();
    let edits = edits::work_out(&old, months, &before)?;

    let database_path = staged.path(SNAPSHOT_FILE);
    progress("copy", 0, 1);
    copy(from, &database_path)?;
    progress("copy", 1, 1);
    let latest_day = before.latest_of_others.max(edits.latest_day());
    let latest_sale = latest_day.map(i32::from);
    let database = write::open(&database_path)?;
    let transaction = write::begin(&database)?;
    progress("apply", 0, 3);
    let changed = apply::run(&old, &transaction, &edits)?;
    progress("apply", 1, 3);
    figures::run(&old, &transaction, &edits, latest_sale, &scratch)?;
    progress("apply", 2, 3);
    let was = old.facts.rows;
    let facts = Facts {
        schema: tables::SCHEMA,
        latest_sale,
        rows: RowCounts {
            address_keys: changed.address_keys.on(was.address_keys),
            placed_sales: changed.placed.on(was.placed_sales),
            unplaced_sales: changed.unplaced.on(was.unplaced_sales),
            matched_sales: changed.matched.on(was.matched_sales),
            ..was
        },
    };
    write::write_facts(&transaction, &facts)?;
    write::commit(transaction)?;
    progress("apply", 3, 3);
    drop((database, scratch));

    let mut listed = old.origin.sources.clone();
    listed.extend(files.iter().map(write::source));
    let origin = |content_digest| Origin {
        snapshot_id: snapshot_id.to_owned(),
        content_digest,
        sources: listed.clone(),
        price_paid_to,
        by_rules: old.origin.by_rules,
    };
    let identity = write::seal(&database_path, &facts, origin, progress)?;
    let report = UpdateReport {
        identity,
        updated_from: old.identity(),
        sources: listed.clone(),
        files,
        sales: edits.report,
    };
    publish::write_json(&staged.path(REPORT_FILE), &report)?;
    staged.publish()?;
    Ok(report)
}

/// Copies bytes but not permissions: the old file may be read-only.
fn copy(from: &Path, to: &Path) -> Result<(), BuildError> {
    let mut old = File::open(from).map_err(BuildError::io(from))?;
    let mut new = File::create(to).map_err(BuildError::io(to))?;
    io::copy(&mut old, &mut new).map_err(BuildError::io(to))?;
    Ok(())
}
