//! Matches sales to properties by address, postcode by postcode.
//!
//! All addresses of one postcode are in memory here, so this pass writes the tables `addresses` and
//! `unmatched_sales`, too.

use super::BuildError;
use super::external_sort::{Groups, Rows, Scratch, SortedSeeds, Sorter};
use super::group_kinds::{ADDRESSES_OF_DISTRICT, SALES_OF_DISTRICT, SALES_OF_POSTCODE};
use super::home_seeds::Homes;
use super::join::{JoinedSale, MatchedSale, join_sale};
use super::keys::{KeySeed, Match, find};
use super::postcodes::PostcodeTable;
use super::report::{SalesReport, count};
use super::rules::{self, ByRule};
use super::settle::CurrentSale;
use super::write::Table;
use crate::store::address::{self, Entry};
use crate::store::postcode::UNITS_OF_DISTRICT;
use crate::store::unmatched::{self, UnmatchedSale};
use domesday_registers::Progress;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Sales with a property, and those without.
pub(crate) struct MatchedSales {
    /// By UPRN.
    pub(crate) of_properties: SortedSeeds<MatchedSale>,
    /// The others, joined to their postcode's place already.
    pub(crate) joined: Sorter<JoinedSale>,
    /// Distinct pairs of postcode and address.
    pub(crate) address_keys: u64,
}

/// The tables that are written on the way.
pub(crate) struct OutputTables<'txn> {
    pub(crate) addresses: Table<'txn>,
    pub(crate) unmatched: Table<'txn>,
}

/// Sales to be matched, and how.
pub(crate) struct SalesToMatch {
    pub(crate) sales: SortedSeeds<CurrentSale>,
    /// True if rules are tried for an address that no home has exactly.
    pub(crate) by_rules: bool,
}

/// Sales between two reports of progress.
const SALES_BETWEEN_REPORTS: u64 = 100_000;

/// A postcode district: its addresses so far, and sales in terminated postcodes, which wait for all
/// addresses.
#[derive(Default)]
struct District {
    number: u64,
    /// Fingerprint, UPRN and postcode.
    known: Vec<(u64, u64, u64)>,
    waiting: Vec<(CurrentSale, Match)>,
}

impl District {
    /// Checks that it holds no more than may be in memory together.
    fn check(&self) -> Result<(), BuildError> {
        ADDRESSES_OF_DISTRICT.check(self.number, self.known.len())?;
        SALES_OF_DISTRICT.check(self.number, self.waiting.len())
    }
}

/// Matches all sales. Counts, into the homes' report, how many addresses are unambiguous.
pub(crate) fn run(
    wanting: SalesToMatch,
    homes: &mut Homes,
    places: &PostcodeTable,
    scratch: &Rc<Scratch>,
    tables: &mut OutputTables<'_>,
    report: &mut SalesReport,
    progress: &mut Progress<'_>,
) -> Result<MatchedSales, BuildError> {
    let SalesToMatch { sales, by_rules } = wanting;
    let total = sales.count();
    let mut sales: Groups<CurrentSale, Rows<'_, CurrentSale>, u64> =
        Groups::new(sales.drain()?, |sale| sale.sale.postcode, SALES_OF_POSTCODE)?;
    let mut keys = homes.keys.addresses()?;
    let mut units = homes.keys.units()?;
    let mut district = District::default();
    let mut meeting = MatchSink {
        of_properties: Sorter::new(scratch),
        joined: Sorter::new(scratch),
        places,
        report,
    };
    let mut counts = AddressCounts::default();
    let mut processed = 0_u64;
    progress("match", 0, total);
    loop {
        let ahead = [keys.ahead(), sales.ahead()];
        let Some(postcode) = ahead.into_iter().flatten().min() else {
            break;
        };
        if district.number != postcode / UNITS_OF_DISTRICT {
            meeting.end(&mut district, &homes.premises)?;
            district.number = postcode / UNITS_OF_DISTRICT;
        }
        let of_homes = keys.at(postcode)?;
        let here = PostcodeHomes {
            known: of_homes
                .iter()
                .map(|seed| (seed.fingerprint, seed.uprn))
                .collect(),
            premises: &homes.premises,
            by_rules,
            terminated: by_rules && places.get(postcode).is_none(),
        };
        if by_rules {
            let known = here.known.iter();
            let known = known.map(|&(print, uprn)| (print, uprn, postcode));
            district.known.extend(known);
        }
        let mut on_sale = || {
            processed += 1;
            if processed.is_multiple_of(SALES_BETWEEN_REPORTS) {
                progress("match", processed, total);
            }
        };
        let of_postcode = sales.at(postcode)?;
        let strangers = meeting.postcode(of_postcode, &here, &mut district, &mut on_sale)?;
        district.check()?;
        let others = unmatched::other_addresses(&strangers);
        counts.add(&here);
        counts.all += others.len() as u64;
        let units = units.at(postcode)?;
        let row = row(&here.known, &units, &others, &homes.premises);
        if !row.is_empty() {
            tables.addresses.insert(postcode, &row)?;
        }
        if !strangers.is_empty() {
            tables
                .unmatched
                .insert(postcode, &unmatched::encode(&strangers))?;
        }
    }
    meeting.end(&mut district, &homes.premises)?;
    drop((keys, units));
    homes.report.addresses_of_one_home = counts.one;
    homes.report.addresses_ambiguous = counts.several;
    progress("match", total, total);
    Ok(MatchedSales {
        of_properties: meeting.of_properties.finish()?,
        joined: meeting.joined,
        address_keys: counts.all,
    })
}

/// The homes of one postcode, and how its sales are matched to them.
struct PostcodeHomes<'a> {
    /// Pairs of fingerprint and UPRN, in order.
    known: Vec<(u64, u64)>,
    premises: &'a FxHashSet<u64>,
    by_rules: bool,
    /// True if the postcode is terminated, so that its other sales wait for the whole district.
    terminated: bool,
}

impl PostcodeHomes<'_> {
    /// Returns the home that a rule finds for a sale.
    fn by_rule(&self, sale: &CurrentSale) -> Option<ByRule> {
        if !self.by_rules || sale.address.other_type {
            return None;
        }
        let is_premises = |uprn| self.premises.contains(&uprn);
        rules::within_postcode(&self.known, &sale.written.query(), is_premises)
    }
}

/// Counts of distinct pairs of postcode and address.
#[derive(Default)]
struct AddressCounts {
    /// Addresses of one home.
    one: u64,
    /// Addresses of several homes.
    several: u64,
    all: u64,
}

impl AddressCounts {
    /// Adds the homes' addresses.
    fn add(&mut self, homes: &PostcodeHomes<'_>) {
        for address in homes.known.chunk_by(|a, b| a.0 == b.0) {
            self.all += 1;
            match address {
                [(_, uprn)] => self.one += u64::from(!homes.premises.contains(uprn)),
                _ => self.several += 1,
            }
        }
    }
}

/// The destination of sales after matching.
struct MatchSink<'a> {
    of_properties: Sorter<MatchedSale>,
    joined: Sorter<JoinedSale>,
    places: &'a PostcodeTable,
    report: &'a mut SalesReport,
}

impl MatchSink<'_> {
    /// Matches the sales of one postcode, and calls `on_sale` for each. Returns the sales that met
    /// no home by their exact address.
    fn postcode(
        &mut self,
        sales: Vec<CurrentSale>,
        homes: &PostcodeHomes<'_>,
        district: &mut District,
        on_sale: &mut impl FnMut(),
    ) -> Result<Vec<UnmatchedSale>, BuildError> {
        let mut strangers: Vec<UnmatchedSale> = Vec::new();
        let mut met: Vec<(CurrentSale, ByRule)> = Vec::new();
        for sale in sales {
            on_sale();
            let found = find(&homes.known, sale.address.own());
            if matches!(found, Match::One(_) | Match::Several) {
                self.add_match(&sale, found)?;
                continue;
            }
            let home = homes.by_rule(&sale);
            // Also where a rule finds its home: the meaning of an address does not depend on rules.
            strangers.push(sale.stranger(home));
            match home {
                Some(home) => met.push((sale, home)),
                None if homes.terminated && !sale.address.other_type => {
                    district.waiting.push((sale, found));
                }
                None => self.add_match(&sale, found)?,
            }
        }
        let contested =
            rules::contested_homes(strangers.iter().filter_map(UnmatchedSale::met_alone));
        for (sale, home) in met {
            match home.one_address && contested.contains(&home.uprn) {
                true => self.join_contested(&sale)?,
                false => self.by_rule(&sale, home)?,
            }
        }
        Ok(strangers)
    }

    /// Adds a sale that met a home by its exact address.
    fn add_match(&mut self, sale: &CurrentSale, found: Match) -> Result<(), BuildError> {
        count(&mut self.report.matching, name(found));
        match found {
            Match::One(uprn) => self.to(uprn, sale),
            _ => self.join_unmatched(sale),
        }
    }

    /// Joins a sale to no property, because another address meets the same home by a rule.
    fn join_contested(&mut self, sale: &CurrentSale) -> Result<(), BuildError> {
        count(&mut self.report.matching, CONTESTED);
        self.join_unmatched(sale)
    }

    fn join_unmatched(&mut self, sale: &CurrentSale) -> Result<(), BuildError> {
        let joined = join_sale(sale.id, &sale.sale, None, self.places, self.report)?;
        self.joined.push(joined)
    }

    fn by_rule(&mut self, sale: &CurrentSale, home: ByRule) -> Result<(), BuildError> {
        count(&mut self.report.matching, ONE_BY_RULE);
        count(&mut self.report.matched_by_rule, home.rule);
        self.to(home.uprn, sale)
    }

    fn to(&mut self, uprn: u64, sale: &CurrentSale) -> Result<(), BuildError> {
        self.of_properties.push(MatchedSale {
            uprn,
            id: sale.id,
            sale: sale.sale,
        })
    }

    /// Ends a district and matches its waiting sales.
    fn end(
        &mut self,
        district: &mut District,
        premises: &FxHashSet<u64>,
    ) -> Result<(), BuildError> {
        let District {
            mut known, waiting, ..
        } = std::mem::take(district);
        if waiting.is_empty() {
            return Ok(());
        }
        known.sort_unstable();
        for (sale, found) in waiting {
            let is_premises = |uprn| premises.contains(&uprn);
            let (postcode, query) = (sale.sale.postcode, sale.written.query());
            match rules::within_district(&known, postcode, &query, is_premises) {
                Some(home) => self.by_rule(&sale, home)?,
                None => self.add_match(&sale, found)?,
            }
        }
        Ok(())
    }
}

/// The report's name for a sale that matched one property by a rule.
pub(crate) const ONE_BY_RULE: &str = "one_property_by_rule";

/// The report's name for a sale whose home another address also matches by a rule.
pub(crate) const CONTESTED: &str = "one_property_for_several_addresses";

/// Returns the name of a match in reports.
pub(crate) fn name(found: Match) -> &'static str {
    match found {
        Match::One(_) => "one_property",
        Match::Several => "several_properties",
        Match::AddressUnknown => "address_unknown",
        Match::PostcodeUnknown => "postcode_without_addresses",
    }
}

/// Encodes all addresses of one postcode.
fn row(
    known: &[(u64, u64)],
    units: &[KeySeed],
    others: &[u64],
    premises: &FxHashSet<u64>,
) -> Vec<u8> {
    let mut entries: Vec<(u64, Entry)> = Vec::with_capacity(known.len() + others.len());
    for &(fingerprint, uprn) in known {
        let entry = match premises.contains(&uprn) {
            false => Entry::Home(uprn),
            true => Entry::Premises(uprn),
        };
        entries.push((fingerprint, entry));
    }
    for building in units.chunk_by(|a, b| a.fingerprint == b.fingerprint) {
        let homes = building
            .iter()
            .filter(|seed| !premises.contains(&seed.uprn))
            .count();
        if homes > 0 {
            let homes = u32::try_from(homes).unwrap_or(u32::MAX);
            entries.push((building[0].fingerprint, Entry::Units(homes)));
        }
    }
    entries.extend(others.iter().map(|print| (*print, Entry::OtherSale)));
    address::row(entries)
}
