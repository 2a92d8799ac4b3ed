//! What becomes of each transaction that the months name.

use super::before::Before;
use super::months::Months;
use super::report::Updated;
use crate::build::BuildError;
use crate::build::join::{JoinedSale, joined};
use crate::build::keys::{Match, find};
use crate::build::matching;
use crate::build::places::Whereabouts;
use crate::build::report::{SalesReport, count};
use crate::build::rules::{self, ByRule};
use crate::build::sales::SaleSeed;
use crate::build::settle::{Standing, in_order};
use crate::build::spill::Groups;
use crate::store::address::{self, Entry};
use crate::store::postcode::UNITS_OF_SECTOR;
use crate::store::unmatched::Unmatched;
use crate::{Snapshot, SnapshotError};
use domesday_registers::records::Change;
use rustc_hash::FxHashSet;

/// One transaction: as it was, and as it is.
pub(super) struct Edit {
    pub(super) old: Option<JoinedSale>,
    pub(super) new: Option<JoinedSale>,
    /// Where it met no property by its own address: the postcode that it names, and what there is to
    /// remember.
    pub(super) unmatched: Option<(u64, Unmatched)>,
    /// What was remembered of it, by postcode and id.
    pub(super) forgotten: Option<(u64, u64)>,
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
    let mut known = (None, Addresses::default());
    let mut all = Vec::with_capacity(standing.len());
    for (was, now) in standing {
        let Some(now) = now else {
            report.deleted += 1;
            all.push(Edit {
                old: was,
                new: None,
                unmatched: None,
                forgotten: was.and_then(|was| forgotten(before, was.row.id)),
            });
            continue;
        };
        let postcode = now.sale.postcode;
        if known.0 != Some(postcode) {
            known = (Some(postcode), Addresses::of(old, postcode, postcode)?);
        }
        all.push(met(old, before, was, now, &known.1, &mut report)?);
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
            written: row.written,
        });
    }
    last
}

/// Pairs of fingerprint and UPRN of some postcodes, in order, and which of them are premises.
#[derive(Default)]
struct Addresses {
    known: Vec<(u64, u64)>,
    premises: FxHashSet<u64>,
}

impl Addresses {
    /// Of all postcodes from the first to the last.
    fn of(old: &Snapshot, first: u64, last: u64) -> Result<Addresses, BuildError> {
        let mut addresses = Addresses::default();
        let rows = old.addresses.range(first..=last);
        for row in rows.map_err(SnapshotError::from)? {
            let (_, row) = row.map_err(SnapshotError::from)?;
            let entries = address::all(row.value());
            for (print, entry) in entries.ok_or(SnapshotError::Damaged { table: "addresses" })? {
                match entry {
                    Entry::Home(uprn) => addresses.known.push((print, uprn)),
                    Entry::Premises(uprn) => {
                        addresses.known.push((print, uprn));
                        addresses.premises.insert(uprn);
                    }
                    Entry::OtherSale | Entry::Units(_) => {}
                }
            }
        }
        addresses.known.sort_unstable();
        Ok(addresses)
    }

    fn of_sector(old: &Snapshot, postcode: u64) -> Result<Addresses, BuildError> {
        let first = postcode / UNITS_OF_SECTOR * UNITS_OF_SECTOR;
        Addresses::of(old, first, first + UNITS_OF_SECTOR - 1)
    }
}

/// The home that a rule finds, as in a build.
fn by_rule(
    old: &Snapshot,
    now: &Standing,
    addresses: &Addresses,
) -> Result<Option<ByRule>, BuildError> {
    if !old.origin.by_rules || now.address.other_type {
        return Ok(None);
    }
    let asked = now.written.asked();
    let is_premises = |uprn| addresses.premises.contains(&uprn);
    let within = rules::within_postcode(&addresses.known, &asked, is_premises);
    if within.is_some() || old.place(now.sale.postcode)?.is_some() {
        return Ok(within);
    }
    let sector = Addresses::of_sector(old, now.sale.postcode)?;
    let is_premises = |uprn| sector.premises.contains(&uprn);
    Ok(rules::within_sector(&sector.known, &asked, is_premises))
}

/// A transaction meets its property, as in a build.
fn met(
    old: &Snapshot,
    before: &Before,
    was: Option<JoinedSale>,
    now: Standing,
    addresses: &Addresses,
    report: &mut Updated,
) -> Result<Edit, BuildError> {
    let found = find(&addresses.known, now.address.own());
    let of_rule = match found {
        Match::One(_) | Match::Several => None,
        Match::AddressUnknown | Match::PostcodeUnknown => by_rule(old, &now, addresses)?,
    };
    let uprn = match found {
        Match::One(uprn) => Some(uprn),
        _ => of_rule.map(|home| home.uprn),
    };
    let home = match uprn {
        Some(uprn) => old.packed_property(uprn)?.map(|home| (uprn, home)),
        None => None,
    };
    let home = home.as_ref().map(|(uprn, home)| (*uprn, home));
    let mut uncounted = SalesReport::default();
    let new = joined(now.id, &now.sale, home, old, &mut uncounted)?;
    let unmatched = matches!(found, Match::AddressUnknown | Match::PostcodeUnknown).then(|| {
        let unmatched = Unmatched {
            id: now.id,
            other_type: now.address.other_type,
            prints: now.address.prints,
        };
        (now.sale.postcode, unmatched)
    });
    let unchanged = match &was {
        Some(was) => *was == new && before.unmatched.get(&now.id) == unmatched.as_ref(),
        None => false,
    };
    match (unchanged, was.is_some()) {
        (true, _) => report.unchanged += 1,
        (false, true) => report.changed += 1,
        (false, false) => report.added += 1,
    }
    if !unchanged {
        let name = of_rule.map_or_else(|| matching::name(found), |_| matching::ONE_BY_RULE);
        count(&mut report.matching, name);
        if let Some(home) = of_rule {
            count(&mut report.matched_by_rule, home.rule);
        }
    }
    Ok(Edit {
        old: was,
        new: Some(new),
        unmatched,
        forgotten: forgotten(before, now.id),
    })
}

/// What the old snapshot remembers of a sale that met no property by its own address.
fn forgotten(before: &Before, id: u64) -> Option<(u64, u64)> {
    before
        .unmatched
        .get(&id)
        .map(|(postcode, _)| (*postcode, id))
}
