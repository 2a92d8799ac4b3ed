//! What becomes of each transaction that the months name.

use super::before::{Before, unmatched_of};
use super::months::Months;
use super::report::Updated;
use crate::build::BuildError;
use crate::build::join::{JoinedSale, joined};
use crate::build::keys::{Match, find};
use crate::build::matching;
use crate::build::report::{SalesReport, count};
use crate::build::sales::SaleSeed;
use crate::build::settle::{Standing, in_order};
use crate::build::spill::Groups;
use crate::store::address::{self, Entry};
use crate::store::unmatched::Unmatched;
use crate::{Snapshot, SnapshotError};
use domesday_registers::records::Change;

/// One transaction: as it was, and as it is.
pub(super) struct Edit {
    pub(super) old: Option<JoinedSale>,
    pub(super) new: Option<JoinedSale>,
    /// Where it met no property, by its own address at least: what there is to remember of that.
    pub(super) unmatched: Option<Unmatched>,
}

/// All of them.
pub(super) struct Edits {
    pub(super) all: Vec<Edit>,
    pub(super) report: Updated,
}

impl Edits {
    /// The latest day of the transactions that stand now.
    pub(super) fn latest_day(&self) -> Option<u16> {
        let standing = self.all.iter().filter_map(|edit| edit.new.as_ref());
        standing
            .map(|sale| u16::try_from(sale.row.day).unwrap_or(u16::MAX))
            .max()
    }
}

/// Lets the rows of each transaction act on what the old snapshot says of it.
pub(super) fn work_out(
    old: &Snapshot,
    months: Months,
    before: &Before,
) -> Result<Edits, BuildError> {
    let mut report = Updated::default();
    let mut standing: Vec<(Option<JoinedSale>, Option<Standing>)> = Vec::new();
    let mut transactions = Groups::new(months.rows.drain()?, |seed: &SaleSeed| seed.id)?;
    while let Some((id, rows)) = transactions.next()? {
        let was = before.sales.get(&id).copied();
        let rows = in_order(rows, &months.moments)?;
        let now = last_word(rows, was.is_some(), &mut report);
        if was.is_some() || now.is_some() {
            standing.push((was, now));
        }
    }
    // One postcode's addresses are read once.
    standing.sort_by_key(|(_, now)| {
        now.as_ref()
            .map(|standing| (standing.sale.postcode, standing.id))
    });
    let mut known = (None, Vec::new());
    let mut all = Vec::with_capacity(standing.len());
    for (was, now) in standing {
        let Some(now) = now else {
            report.deleted += 1;
            all.push(Edit {
                old: was,
                new: None,
                unmatched: None,
            });
            continue;
        };
        let postcode = now.sale.postcode;
        if known.0 != Some(postcode) {
            known = (Some(postcode), addresses_of(old, postcode)?);
        }
        all.push(met(old, was, now, &known.1, &mut report)?);
    }
    Ok(Edits { all, report })
}

/// The row that stands after all rows of one transaction, if any does.
fn last_word(rows: Vec<SaleSeed>, mut known: bool, report: &mut Updated) -> Option<Standing> {
    let mut last = None;
    for row in rows {
        match (row.change, known) {
            (Change::Addition, true) => report.additions_of_known += 1,
            (Change::Change, false) => report.changes_of_unknown += 1,
            (Change::Delete, false) => report.deletions_of_unknown += 1,
            _ => {}
        }
        known = row.change != Change::Delete;
        last = known.then_some(Standing {
            id: row.id,
            sale: row.sale,
            address: row.address,
        });
    }
    last
}

/// Pairs of fingerprint and UPRN of a postcode, in order.
fn addresses_of(old: &Snapshot, postcode: u64) -> Result<Vec<(u64, u64)>, BuildError> {
    let row = old.addresses.get(postcode).map_err(SnapshotError::from)?;
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let entries = address::all(row.value());
    let entries = entries.ok_or(SnapshotError::Damaged { table: "addresses" })?;
    Ok(entries
        .filter_map(|(print, entry)| match entry {
            Entry::Home(uprn) | Entry::Premises(uprn) => Some((print, uprn)),
            Entry::OtherSale | Entry::Units(_) => None,
        })
        .collect())
}

/// A transaction meets its property, as in a build.
fn met(
    old: &Snapshot,
    was: Option<JoinedSale>,
    now: Standing,
    known: &[(u64, u64)],
    report: &mut Updated,
) -> Result<Edit, BuildError> {
    let found = find(known, now.address.own());
    let mut uncounted = SalesReport::default();
    let home = match found {
        Match::One(uprn) => old.packed_property(uprn)?.map(|home| (uprn, home)),
        _ => None,
    };
    let home = home.as_ref().map(|(uprn, home)| (*uprn, home));
    let new = joined(now.id, &now.sale, home, old, &mut uncounted)?;
    let unmatched =
        matches!(found, Match::AddressUnknown | Match::PostcodeUnknown).then(|| Unmatched {
            id: now.id,
            other_type: now.address.other_type,
            prints: now.address.prints,
        });
    let unchanged = match &was {
        Some(was) => *was == new && before_unmatched(old, was)? == unmatched,
        None => false,
    };
    match (unchanged, was.is_some()) {
        (true, _) => report.unchanged += 1,
        (false, true) => report.changed += 1,
        (false, false) => report.added += 1,
    }
    if !unchanged {
        count(&mut report.matching, matching::name(found));
    }
    Ok(Edit {
        old: was,
        new: Some(new),
        unmatched,
    })
}

/// What the old snapshot remembers of a sale that met no property.
fn before_unmatched(old: &Snapshot, was: &JoinedSale) -> Result<Option<Unmatched>, BuildError> {
    if was.row.uprn != 0 {
        return Ok(None);
    }
    let of_postcode = unmatched_of(old, was.row.postcode)?;
    Ok(of_postcode.into_iter().find(|sale| sale.id == was.row.id))
}
