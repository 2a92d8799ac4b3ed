//! Sales: read once into compact seeds, settled by transaction, and put in order of authority.

use super::areas::{AreaNumber, Grid};
use super::certificates::{Certificates, first_eight};
use super::exclusions::day_and_price;
use super::matches::Matches;
use super::month::Month;
use super::postcodes::{Postcodes, pack};
use super::report::SalesReport;
use super::sources::{Kind, Sources};
use super::spans::{self, Spans};
use super::{Inputs, MarketsError};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{Change, PricePaid};
use domesday_registers::sources::{Verdict, count};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// A type of dwelling as an index into the lists of the metrics, which begin with all types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dwelling(u8);

/// The values of `property_type`, in the order of [`Dwelling::type_index`].
pub(crate) const TYPES: [&str; 5] = ["all", "detached", "semi_detached", "terraced", "flat"];

impl Dwelling {
    /// Returns the dwelling of a type, or `None` if it is not a dwelling.
    pub(crate) fn new(property_type: PropertyType) -> Option<Dwelling> {
        match property_type {
            PropertyType::Detached => Some(Dwelling(1)),
            PropertyType::SemiDetached => Some(Dwelling(2)),
            PropertyType::Terraced => Some(Dwelling(3)),
            PropertyType::Flat => Some(Dwelling(4)),
            PropertyType::Other => None,
        }
    }

    /// Returns the position in [`TYPES`], 1 to 4.
    pub(crate) fn type_index(self) -> usize {
        usize::from(self.0)
    }
}

/// A counted sale: category A, of a dwelling, in an authority, in a covered month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sale {
    pub(crate) area: AreaNumber,
    pub(crate) month: Month,
    pub(crate) dwelling: Dwelling,
    pub(crate) new_build: bool,
    /// Pounds.
    pub(crate) price: u32,
    /// Hundredths of a square metre, and the month by which both sale and figure are on record.
    pub(crate) floor_area: Option<(u32, Month)>,
    /// Bedrooms' group (a place in [`super::rents::GROUPS`], 1 to 4), likewise.
    pub(crate) bedrooms: Option<(u8, Month)>,
}

/// The first sale of a new home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Delivery {
    pub(crate) area: AreaNumber,
    /// Packed postcode; 0 for none.
    pub(crate) postcode: u64,
    pub(crate) day: Day,
    pub(crate) dwelling: Dwelling,
    pub(crate) price: u32,
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Sales {
    /// By authority and month.
    pub(crate) sales: Vec<Sale>,
    /// By authority, postcode and day.
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) spans: Spans,
    /// The first month of any sale, and the last that the release states.
    pub(crate) first: Month,
    pub(crate) core: Month,
    pub(crate) report: SalesReport,
}

/// The relevant fields of one row.
#[derive(Clone, Copy, Debug)]
struct Seed {
    /// Sixteen bytes of the identifier's SHA-256.
    id: u128,
    /// Number of the file, and of the row in it.
    at: (u16, u32),
    change: Change,
    standard: bool,
    new_build: bool,
    property_type: PropertyType,
    by_postcode: bool,
    area: Option<AreaNumber>,
    price: u32,
    day: u16,
    floor_area: u32,
    floor_area_day: u16,
    rooms_day: u16,
    rooms: u8,
}

/// The position of a new home, by its row.
#[derive(Clone, Copy, Debug)]
struct Home {
    at: (u16, u32),
    postcode: u64,
    address: u64,
}

/// Months between the newest month that the release states and the release's own.
pub(crate) const LAG: i32 = 3;
/// Months of the shortest window.
const FIRST_WINDOW: i32 = 12;

/// Reads the price paid files.
pub(crate) fn read(
    sources: &mut Sources<'_>,
    grid: &Grid,
    postcodes: &Postcodes,
    certificates: &Certificates,
    inputs: &Inputs,
) -> Result<Sales, MarketsError> {
    let files = sources.names(Kind::PricePaid);
    let mut matches = inputs.matches.as_deref().map(Matches::create).transpose()?;
    let mut unwritten = None;
    let mut seeds: Vec<Seed> = Vec::new();
    let mut homes: Vec<Home> = Vec::new();
    let mut latest: Vec<u16> = Vec::new();
    let mut districts: BTreeMap<String, u64> = BTreeMap::new();
    let mut rows = 0_u32;
    sources.read::<PricePaidFile>(Kind::PricePaid, |file, row| {
        rows = rows.wrapping_add(1);
        let Ok(file) = u16::try_from(file) else {
            return Verdict::LeftOut("too_many_files", ());
        };
        let (day, price) = match day_and_price(&row) {
            Ok(facts) => facts,
            Err(reason) => return Verdict::LeftOut(reason, ()),
        };
        latest.resize(latest.len().max(usize::from(file) + 1), 0);
        latest[usize::from(file)] = latest[usize::from(file)].max(day);
        let postcode = row.postcode.as_ref().map(pack);
        let by_postcode = postcode.and_then(|postcode| postcodes.area(postcode));
        let area = by_postcode.or_else(|| grid.of_district(&row.district));
        if area.is_none() {
            *districts.entry(row.district.clone()).or_default() += 1;
        }
        let at = (file, rows);
        if row.new_build && row.standard {
            homes.push(Home {
                at,
                postcode: postcode.unwrap_or(0),
                address: address(&row),
            });
        }
        let measured = certificates.of_sale(&row);
        if let (Some(matches), Some(name)) = (&mut matches, files.get(usize::from(file))) {
            unwritten = unwritten.take().or(matches.add(name, &row, measured).err());
        }
        let on_record = |day: Day| u16::try_from(day.0).unwrap_or(0);
        let (floor_area, floor_area_day) = measured.floor_area.unwrap_or((0, Day(0)));
        let (rooms, rooms_day) = measured.rooms.unwrap_or((0, Day(0)));
        seeds.push(Seed {
            id: identifier(&row.transaction_id),
            at,
            change: row.change,
            standard: row.standard,
            new_build: row.new_build,
            property_type: row.property_type,
            by_postcode: by_postcode.is_some(),
            area,
            price,
            day,
            floor_area,
            floor_area_day: on_record(floor_area_day),
            rooms_day: on_record(rooms_day),
            rooms,
        });
        Verdict::Kept
    })?;
    if let Some(error) = unwritten {
        return Err(error);
    }
    matches.map_or(Ok(()), Matches::finish)?;
    let mut report = SalesReport::default();
    let standing = settle(seeds, &latest, &mut report);
    let mut frequent: Vec<(String, u64)> = districts.into_iter().collect();
    frequent.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    report.districts_unknown = frequent.into_iter().take(50).collect();
    choose(&standing, &homes, grid, inputs, report)
}

/// Returns sixteen bytes that identify a transaction.
fn identifier(text: &str) -> u128 {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(16)
        .fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// Returns eight bytes that identify an address as the register writes it.
fn address(row: &PricePaid) -> u64 {
    let mut hasher = Sha256::new();
    let postcode = row.postcode.as_ref().map(|postcode| postcode.as_str());
    for part in [
        postcode.unwrap_or(&row.district),
        &row.saon,
        &row.paon,
        &row.street,
    ] {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    first_eight(&hasher.finalize())
}

/// Returns the rows that remain after additions, changes and deletions, in order of row. Files
/// apply in order of their latest day, then of SHA-256, and rows in the order of their file.
fn settle(mut seeds: Vec<Seed>, latest: &[u16], report: &mut SalesReport) -> Vec<Seed> {
    let moment = |seed: &Seed| (latest.get(usize::from(seed.at.0)).copied(), seed.at);
    seeds.sort_unstable_by_key(|seed| (seed.id, moment(seed)));
    let mut standing: Vec<Seed> = Vec::with_capacity(seeds.len());
    for rows in seeds.chunk_by(|a, b| a.id == b.id) {
        let Some((last, before)) = rows.split_last() else {
            continue;
        };
        report.repeated += before
            .iter()
            .filter(|row| row.change == Change::Addition)
            .count() as u64;
        if last.change != Change::Delete {
            standing.push(*last);
        }
    }
    report.transactions = standing.len() as u64;
    standing.sort_unstable_by_key(|seed| seed.at);
    standing
}

fn month(day: u16) -> Month {
    Month(Day(i32::from(day)).month())
}

/// Checks that a country's sales have no month without any.
///
/// Otherwise one wrong date would stretch every series to it, with zeros between.
fn without_gaps(months: impl Iterator<Item = Month>) -> Result<(), MarketsError> {
    let months: BTreeSet<Month> = months.collect();
    let mut pairs = months.iter().zip(months.iter().skip(1));
    match pairs.find(|(month, next)| month.plus(1) != **next) {
        Some((month, next)) => Err(MarketsError::Gap {
            month: month.plus(1).to_string(),
            after: next.to_string(),
        }),
        None => Ok(()),
    }
}

/// Selects the sales that count.
fn choose(
    standing: &[Seed],
    homes: &[Home],
    grid: &Grid,
    inputs: &Inputs,
    mut report: SalesReport,
) -> Result<Sales, MarketsError> {
    let within = |seed: &&Seed| {
        seed.standard && seed.area.is_some() && Dwelling::new(seed.property_type).is_some()
    };
    let months = standing.iter().filter(within).map(|seed| month(seed.day));
    let (Some(first), Some(newest)) = (months.clone().min(), months.max()) else {
        return Err(MarketsError::NoSales);
    };
    let release = inputs.release_month.unwrap_or(newest.plus(1));
    let core = release.plus(-LAG);
    if core > newest {
        return Err(MarketsError::BeyondTheSales {
            month: core.to_string(),
            newest: newest.to_string(),
        });
    }
    if inputs.coverage.is_empty() {
        without_gaps(standing.iter().filter(within).map(|seed| month(seed.day)))?;
    }
    let spans = spans::spans(&inputs.coverage, grid, first, core)?;
    let covered_from = spans.iter().flatten().map(|span| span.first).min();
    if let Some(covered_from) = covered_from.filter(|begin| core < *begin) {
        let earliest = covered_from.plus(FIRST_WINDOW - 1);
        return Err(MarketsError::BeforeTheSales {
            month: release.to_string(),
            core: core.to_string(),
            first: covered_from.to_string(),
            earliest: (earliest <= newest).then(|| earliest.plus(LAG).to_string()),
        });
    }

    let mut sales = Vec::with_capacity(standing.len());
    let mut new_homes: Vec<(Delivery, u64, u128)> = Vec::new();
    for seed in standing {
        let dwelling = Dwelling::new(seed.property_type);
        let month = month(seed.day);
        let reason = match (seed.standard, dwelling, seed.area) {
            (false, _, _) => "category_b",
            (true, None, _) => "not_a_dwelling",
            (true, Some(_), None) => "no_authority",
            (true, Some(dwelling), Some(area)) => {
                let span = spans.get(usize::from(area)).copied().flatten();
                if span.is_some_and(|span| span.holds(month)) {
                    let sale = sale(seed, area, dwelling);
                    tally(&mut report, seed, &sale);
                    sales.push(sale);
                    let home = homes.binary_search_by_key(&seed.at, |home| home.at);
                    if let Some(home) = home.ok().map(|at| homes[at]) {
                        let delivery = Delivery {
                            area,
                            postcode: home.postcode,
                            day: Day(i32::from(seed.day)),
                            dwelling,
                            price: seed.price,
                        };
                        new_homes.push((delivery, home.address, seed.id));
                    }
                    continue;
                }
                if month > core {
                    "after_the_last_month"
                } else {
                    "outside_coverage"
                }
            }
        };
        count(&mut report.not_counted, reason);
    }
    report.counted = sales.len() as u64;
    report.floor_area_match_pct =
        (report.counted > 0).then(|| 100.0 * report.with_floor_area as f64 / report.counted as f64);
    sales.sort_unstable();
    let sold: BTreeSet<AreaNumber> = sales.iter().map(|sale| sale.area).collect();
    let covered = spans
        .iter()
        .flatten()
        .filter(|span| !span.is_empty())
        .count();
    report.areas_without_sales = covered.saturating_sub(sold.len()) as u64;
    let stated = inputs.whole_country || !inputs.coverage.is_empty();
    if !stated && report.areas_without_sales > 0 {
        return Err(MarketsError::PartOfTheCountry {
            without: report.areas_without_sales,
            of: covered as u64,
        });
    }
    Ok(Sales {
        sales,
        deliveries: first_sales(new_homes),
        spans,
        first,
        core,
        report,
    })
}

fn tally(report: &mut SalesReport, seed: &Seed, sale: &Sale) {
    count(
        &mut report.area_from,
        if seed.by_postcode {
            "postcode"
        } else {
            "district_name"
        },
    );
    report.with_floor_area += u64::from(sale.floor_area.is_some());
    report.with_bedrooms += u64::from(sale.bedrooms.is_some());
}

fn sale(seed: &Seed, area: AreaNumber, dwelling: Dwelling) -> Sale {
    let on_record = |day: u16| month(day.max(seed.day));
    Sale {
        area,
        month: month(seed.day),
        dwelling,
        new_build: seed.new_build,
        price: seed.price,
        floor_area: (seed.floor_area > 0)
            .then(|| (seed.floor_area, on_record(seed.floor_area_day))),
        bedrooms: (seed.rooms > 0)
            .then(|| (bedrooms(dwelling, seed.rooms), on_record(seed.rooms_day))),
    }
}

/// Estimates the group of bedrooms from habitable rooms, since no register holds bedrooms.
/// Subtracts one living room for a flat or a house of up to four rooms, two for a larger house.
fn bedrooms(dwelling: Dwelling, rooms: u8) -> u8 {
    let house = dwelling != Dwelling(4);
    let living = if house && rooms > 4 { 2 } else { 1 };
    rooms.saturating_sub(living).clamp(1, 4)
}

/// Returns the first sale of each new home, by authority, postcode and day.
fn first_sales(mut homes: Vec<(Delivery, u64, u128)>) -> Vec<Delivery> {
    homes.sort_unstable_by_key(|(delivery, address, id)| (*address, delivery.day, *id));
    homes.dedup_by_key(|(_, address, _)| *address);
    let mut first: Vec<Delivery> = homes.into_iter().map(|(delivery, _, _)| delivery).collect();
    first.sort_unstable();
    first
}

#[cfg(test)]
#[path = "sales_tests.rs"]
mod tests;
