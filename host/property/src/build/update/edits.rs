//! Computes the change of each transaction that the months name.

use super::before::{OldSales, Rival};
use super::months::Months;
use super::report::UpdateCounts;
use crate::build::BuildError;
use crate::build::external_sort::Groups;
use crate::build::group_kinds::OF_TRANSACTION;
use crate::build::join::{JoinedSale, MatchedHome, join_sale};
use crate::build::keys::{Match, find};
use crate::build::matching;
use crate::build::postcodes::PostcodeLookup;
use crate::build::report::{SalesReport, count};
use crate::build::rules::{self, ByRule};
use crate::build::sales::{SaleFields, SaleSeed};
use crate::build::settle::{CurrentSale, in_order};
use crate::store::address::{self, Entry};
use crate::store::postcode::UNITS_OF_DISTRICT;
use crate::store::unmatched::UnmatchedSale;
use crate::{Snapshot, SnapshotError};
use domesday_registers::records::Change;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::RangeInclusive;

/// One transaction, before and after.
pub(super) struct Edit {
    pub(super) old: Option<JoinedSale>,
    pub(super) new: Option<JoinedSale>,
    /// If it matches no property by its own address: the postcode that it names, and the sale to
    /// store.
    pub(super) unmatched: Option<(u64, UnmatchedSale)>,
    /// Its stored entry to remove, by postcode and id.
    pub(super) forgotten: Option<(u64, u64)>,
}

/// All of them.
pub(super) struct Edits {
    pub(super) all: Vec<Edit>,
    pub(super) report: UpdateCounts,
}

impl Edits {
    /// Returns the latest day of the current transactions.
    pub(super) fn latest_day(&self) -> Option<u16> {
        let standing = self.all.iter().filter_map(|edit| edit.new.as_ref());
        standing
            .map(|sale| u16::try_from(sale.row.day).unwrap_or(u16::MAX))
            .max()
    }
}

/// Applies the rows of each transaction to the old snapshot's state of it.
pub(super) fn work_out(
    old: &Snapshot,
    months: Months,
    before: &OldSales,
) -> Result<Edits, BuildError> {
    let mut report = UpdateCounts::default();
    let mut standing: Vec<(Option<JoinedSale>, Option<CurrentSale>)> = Vec::new();
    let rows = months.rows.drain()?;
    let mut transactions = Groups::new(rows, |seed: &SaleSeed| seed.id, OF_TRANSACTION)?;
    while let Some((id, rows)) = transactions.next()? {
        let was = before.sales.get(&id).copied();
        let rows = in_order(rows, &months.moments)?;
        let now = final_row(rows, was.is_some(), &mut report);
        if was.is_some() || now.is_some() {
            standing.push((was, now));
        }
    }
    // Read one postcode's addresses once.
    standing.sort_by_key(|(_, now)| {
        now.as_ref()
            .map(|standing| (standing.sale.postcode, standing.id))
    });
    let mut known = (None, Addresses::default());
    let mut district = District::default();
    let mut all = Vec::with_capacity(standing.len());
    let mut meetings = Vec::with_capacity(standing.len());
    for (was, now) in standing {
        let Some(now) = now else {
            report.deleted += 1;
            all.push(Edit {
                old: was,
                new: None,
                unmatched: None,
                forgotten: was.and_then(|was| unmatched_entry(before, was.row.id)),
            });
            continue;
        };
        let postcode = now.sale.postcode;
        if known.0 != Some(postcode) {
            known = (Some(postcode), Addresses::of(old, postcode)?);
        }
        let found = find(&known.1.known, now.address.own());
        let by_rule = match found {
            Match::One(_) | Match::Several => None,
            Match::AddressUnknown | Match::PostcodeUnknown => {
                by_rule(old, &now, &known.1, &mut district)?
            }
        };
        meetings.push(MatchedTransaction {
            was,
            now,
            found,
            by_rule,
        });
    }
    let contested = contested_by_postcode(before, &meetings);
    for meeting in meetings {
        let contested = contested.get(&meeting.now.sale.postcode);
        all.push(match_transaction(
            old,
            before,
            meeting,
            contested,
            &mut report,
        )?);
    }
    for (postcode, rivals) in &before.rivals {
        let contested = contested.get(postcode);
        for rival in rivals {
            let edit = rejoin(old, rival, contested)?;
            report.rejoined += u64::from(edit.is_some());
            all.extend(edit);
        }
    }
    Ok(Edits { all, report })
}

/// A transaction and the match of its address.
struct MatchedTransaction {
    was: Option<JoinedSale>,
    now: CurrentSale,
    found: Match,
    by_rule: Option<ByRule>,
}

/// Returns, by postcode, the homes that several addresses meet by rules of one address.
///
/// It counts the addresses of the months and of the snapshot before.
fn contested_by_postcode(
    before: &OldSales,
    meetings: &[MatchedTransaction],
) -> FxHashMap<u64, FxHashSet<u64>> {
    let mut met: FxHashMap<u64, Vec<(u64, u64)>> = FxHashMap::default();
    for meeting in meetings {
        let of_rule = meeting.now.stranger(meeting.by_rule).met_alone();
        met.entry(meeting.now.sale.postcode)
            .or_default()
            .extend(of_rule);
    }
    for (postcode, rivals) in &before.rivals {
        let rivals = rivals.iter().map(|rival| rival.met);
        met.entry(*postcode).or_default().extend(rivals);
    }
    met.into_iter()
        .map(|(postcode, met)| (postcode, rules::contested_homes(met)))
        .collect()
}

/// Updates a transaction that no month names, whose home became ambiguous or unambiguous.
fn rejoin(
    old: &Snapshot,
    rival: &Rival,
    contested: Option<&FxHashSet<u64>>,
) -> Result<Option<Edit>, BuildError> {
    let (_, uprn) = rival.met;
    let stays_away = contested.is_some_and(|contested| contested.contains(&uprn));
    let was = rival.sale;
    if stays_away == (was.row.uprn == 0) {
        return Ok(None);
    }
    let home = match stays_away {
        true => None,
        false => old.packed_property(uprn)?,
    };
    let home = home.as_ref().map(|home| MatchedHome::new(uprn, home));
    let sale = SaleFields::of_row(&was.row);
    let mut uncounted = SalesReport::default();
    Ok(Some(Edit {
        old: Some(was),
        new: Some(join_sale(
            was.row.id,
            &sale,
            home.as_ref(),
            old,
            &mut uncounted,
        )?),
        unmatched: None,
        forgotten: None,
    }))
}

/// Returns the row that remains after all rows of one transaction, if any.
fn final_row(
    rows: Vec<SaleSeed>,
    mut known: bool,
    report: &mut UpdateCounts,
) -> Option<CurrentSale> {
    let mut last = None;
    for row in rows {
        match (row.change, known) {
            (Change::Change, _) if !row.stands() => report.changes_withdrawn += 1,
            (Change::Addition, true) => report.additions_of_known += 1,
            (Change::Change, false) => report.changes_of_unknown += 1,
            (Change::Delete, false) => report.deletions_of_unknown += 1,
            _ => {}
        }
        known = row.stands();
        last = known.then_some(CurrentSale {
            id: row.id,
            sale: row.sale,
            address: row.address,
            written: row.written,
        });
    }
    last
}

/// Pairs of fingerprint and UPRN of a postcode, in order, and which of them are premises.
#[derive(Default)]
struct Addresses {
    known: Vec<(u64, u64)>,
    premises: FxHashSet<u64>,
}

impl Addresses {
    fn of(old: &Snapshot, postcode: u64) -> Result<Addresses, BuildError> {
        let mut addresses = Addresses::default();
        each_address(old, postcode..=postcode, |print, uprn, _, premises| {
            addresses.known.push((print, uprn));
            if premises {
                addresses.premises.insert(uprn);
            }
        })?;
        addresses.known.sort_unstable();
        Ok(addresses)
    }
}

/// The same of a whole postcode district, with the postcodes.
#[derive(Default)]
struct District {
    number: Option<u64>,
    known: Vec<(u64, u64, u64)>,
    premises: FxHashSet<u64>,
}

impl District {
    /// Reads the district of a postcode, unless it is the one read last.
    fn turn_to(&mut self, old: &Snapshot, postcode: u64) -> Result<(), BuildError> {
        let number = postcode / UNITS_OF_DISTRICT;
        if self.number == Some(number) {
            return Ok(());
        }
        *self = District {
            number: Some(number),
            ..District::default()
        };
        let first = number * UNITS_OF_DISTRICT;
        let all = first..=first + UNITS_OF_DISTRICT - 1;
        each_address(old, all, |print, uprn, at, premises| {
            self.known.push((print, uprn, at));
            if premises {
                self.premises.insert(uprn);
            }
        })?;
        self.known.sort_unstable();
        Ok(())
    }
}

/// Passes each address of some postcodes to `take`: fingerprint, UPRN, postcode, and whether it is
/// premises'.
fn each_address(
    old: &Snapshot,
    postcodes: RangeInclusive<u64>,
    mut take: impl FnMut(u64, u64, u64, bool),
) -> Result<(), BuildError> {
    let rows = old.addresses.range(postcodes);
    for row in rows.map_err(SnapshotError::from)? {
        let (postcode, row) = row.map_err(SnapshotError::from)?;
        let entries = address::all(row.value());
        for (print, entry) in entries.ok_or(SnapshotError::Damaged { table: "addresses" })? {
            match entry {
                Entry::Home(uprn) => take(print, uprn, postcode.value(), false),
                Entry::Premises(uprn) => take(print, uprn, postcode.value(), true),
                Entry::OtherSale | Entry::Units(_) => {}
            }
        }
    }
    Ok(())
}

/// Returns the home that a rule finds, as in a build.
fn by_rule(
    old: &Snapshot,
    now: &CurrentSale,
    addresses: &Addresses,
    district: &mut District,
) -> Result<Option<ByRule>, BuildError> {
    if !old.origin.by_rules || now.address.other_type {
        return Ok(None);
    }
    let query = now.written.query();
    let is_premises = |uprn| addresses.premises.contains(&uprn);
    let within = rules::within_postcode(&addresses.known, &query, is_premises);
    let postcode = now.sale.postcode;
    if within.is_some() || old.location(postcode)?.is_some() {
        return Ok(within);
    }
    district.turn_to(old, postcode)?;
    let is_premises = |uprn| district.premises.contains(&uprn);
    let known = &district.known;
    Ok(rules::within_district(known, postcode, &query, is_premises))
}

/// Matches a transaction to its property, as in a build.
fn match_transaction(
    old: &Snapshot,
    before: &OldSales,
    meeting: MatchedTransaction,
    contested: Option<&FxHashSet<u64>>,
    report: &mut UpdateCounts,
) -> Result<Edit, BuildError> {
    let MatchedTransaction {
        was,
        now,
        found,
        by_rule,
    } = meeting;
    let is_contested = by_rule.is_some_and(|home| {
        home.one_address && contested.is_some_and(|contested| contested.contains(&home.uprn))
    });
    let uprn = match found {
        Match::One(uprn) => Some(uprn),
        _ => by_rule.filter(|_| !is_contested).map(|home| home.uprn),
    };
    let home = match uprn {
        Some(uprn) => old.packed_property(uprn)?.map(|home| (uprn, home)),
        None => None,
    };
    let home = home
        .as_ref()
        .map(|(uprn, home)| MatchedHome::new(*uprn, home));
    let mut uncounted = SalesReport::default();
    let new = join_sale(now.id, &now.sale, home.as_ref(), old, &mut uncounted)?;
    let unmatched = matches!(found, Match::AddressUnknown | Match::PostcodeUnknown)
        .then(|| (now.sale.postcode, now.stranger(by_rule)));
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
        match by_rule {
            None => count(&mut report.matching, matching::name(found)),
            Some(_) if is_contested => count(&mut report.matching, matching::CONTESTED),
            Some(home) => {
                count(&mut report.matching, matching::ONE_BY_RULE);
                count(&mut report.matched_by_rule, home.rule);
            }
        }
    }
    Ok(Edit {
        old: was,
        new: Some(new),
        unmatched,
        forgotten: unmatched_entry(before, now.id),
    })
}

/// Returns the old snapshot's entry of a sale that matched no property by its own address.
fn unmatched_entry(before: &OldSales, id: u64) -> Option<(u64, u64)> {
    before
        .unmatched
        .get(&id)
        .map(|(postcode, _)| (*postcode, id))
}
