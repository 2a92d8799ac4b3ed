//! Precomputes the twelve-month figures of every area, type and month.

use super::BuildError;
use super::external_sort::{Groups, Seed, SortedSeeds, Sorter};
use super::group_kinds::SALES_OF_AREA;
use super::join::JoinedSale;
use crate::model::{AreaLevel, GssCode};
use crate::store::figures::{self, Window, district_of, sector_of};
use crate::store::sale::Row;
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use serde::{Deserialize, Serialize};

/// Fewest sales for a median, and fewest with a floor area for a price per square metre.
const FEWEST: usize = 5;
const FEWEST_AREAS: usize = 10;

/// A sale as figures need it; ordered by area and month.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FigureSeed {
    pub(crate) area: (AreaLevel, u64),
    pub(crate) month: i32,
    property_type: PropertyType,
    price: u64,
    /// Hundredths of a square metre; 0 for none.
    floor_area: u64,
    /// Month in which the floor area came on record.
    area_known: i32,
}

impl Seed for FigureSeed {
    type Key = FigureSeed;
    fn key(&self) -> FigureSeed {
        *self
    }
}

/// The kinds of figures kept, in the order of their keys.
pub(crate) const TYPES: [Option<PropertyType>; 5] = [
    None,
    Some(PropertyType::Detached),
    Some(PropertyType::SemiDetached),
    Some(PropertyType::Terraced),
    Some(PropertyType::Flat),
];

/// Returns whether a sale counts in figures: category A of dwellings, the unplaced ones too.
pub(crate) fn counts(row: &Row) -> bool {
    row.standard && row.property_type != PropertyType::Other
}

/// Returns the areas that a sale counts in.
pub(crate) fn areas(
    row: &Row,
    authority: Option<GssCode>,
) -> impl Iterator<Item = (AreaLevel, u64)> {
    let authority = authority.map(|code| (AreaLevel::LocalAuthority, u64::from(code.pack())));
    [
        Some((AreaLevel::PostcodeDistrict, district_of(row.postcode))),
        Some((AreaLevel::PostcodeSector, sector_of(row.postcode))),
        authority,
    ]
    .into_iter()
    .flatten()
}

/// Returns the month of a sale.
pub(crate) fn month(day: u64) -> i32 {
    Day(i32::try_from(day).unwrap_or(0)).month()
}

/// Returns a sale as the figures of one of its areas need it.
pub(crate) fn seed(area: (AreaLevel, u64), row: &Row) -> FigureSeed {
    FigureSeed {
        area,
        month: month(row.day),
        property_type: row.property_type,
        price: row.price,
        floor_area: row
            .certificate
            .map_or(0, |certificate| certificate.floor_area),
        area_known: row
            .certificate
            .map_or(0, |certificate| month(certificate.lodged)),
    }
}

/// Takes a sale into the figures of each of its areas.
pub(crate) fn take(sale: &JoinedSale, seeds: &mut Sorter<FigureSeed>) -> Result<(), BuildError> {
    if counts(&sale.row) {
        for area in areas(&sale.row, sale.authority.code()) {
            seeds.push(seed(area, &sale.row))?;
        }
    }
    Ok(())
}

/// Computes the rows of table `figures`, in order of key, of windows that end in `last` at the
/// latest. `wanted` selects the areas and years.
pub(crate) fn compute(
    seeds: SortedSeeds<FigureSeed>,
    last: i32,
    wanted: impl Fn((AreaLevel, u64), i32) -> bool,
    mut write: impl FnMut(u64, &[u8]) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let mut areas = Groups::new(seeds.drain()?, |seed: &FigureSeed| seed.area, SALES_OF_AREA)?;
    while let Some((area, sales)) = areas.next()? {
        for property_type in TYPES {
            let of_type = sales
                .iter()
                .filter(|seed| property_type.is_none_or(|wanted| seed.property_type == wanted));
            let of_type: Vec<FigureSeed> = of_type.copied().collect();
            let (Some(first), Some(final_sale)) = (of_type.first(), of_type.last()) else {
                continue;
            };
            let ends = (first.month, last.min(final_sale.month + 11));
            for (year, windows) in years(&of_type, ends, |year| wanted(area, year)) {
                let key = figures::key(area.0, area.1, property_type, year);
                write(key, &figures::encode(&windows))?;
            }
        }
    }
    Ok(())
}

/// Returns the wanted years with a window that holds a sale, of windows that end in these months.
/// Years and months are counted from 1970.
fn years(
    seeds: &[FigureSeed],
    (first, last): (i32, i32),
    wanted: impl Fn(i32) -> bool,
) -> impl Iterator<Item = (u64, [Window; 12])> {
    let years = first.div_euclid(12)..=last.div_euclid(12);
    years
        .filter(move |year| wanted(*year))
        .filter_map(move |year| {
            let ends = |at: usize| year * 12 + at as i32;
            let windows = std::array::from_fn(|at| match ends(at) {
                end if end <= last => window(within(seeds, end), end),
                _ => Window::default(),
            });
            let any = windows.iter().any(|window| window.count > 0);
            Some((u64::try_from(1970 + year).ok()?, windows)).filter(|_| any)
        })
}

/// Returns the sales of the twelve months that end with `end`.
fn within(seeds: &[FigureSeed], end: i32) -> &[FigureSeed] {
    let start = seeds.partition_point(|seed| seed.month < end - 11);
    let stop = seeds.partition_point(|seed| seed.month <= end);
    &seeds[start..stop]
}

fn window(seeds: &[FigureSeed], end: i32) -> Window {
    let mut prices: Vec<u64> = seeds.iter().map(|seed| seed.price).collect();
    let measured = seeds
        .iter()
        .filter(|seed| seed.floor_area != 0 && seed.area_known <= end);
    let (sales, price, area) = measured.fold((0, 0_u128, 0_u128), |(sales, price, area), seed| {
        (
            sales + 1,
            price + u128::from(seed.price),
            area + u128::from(seed.floor_area),
        )
    });
    // Pounds over hundredths of a square metre, in pence, rounded half up.
    let pence = (price * 20_000 + area).checked_div(area * 2).unwrap_or(0);
    Window {
        count: u32::try_from(prices.len()).unwrap_or(u32::MAX),
        median_twice: if prices.len() < FEWEST {
            0
        } else {
            median_twice(&mut prices)
        },
        pence_per_sqm: if sales < FEWEST_AREAS {
            0
        } else {
            u32::try_from(pence).unwrap_or(u32::MAX)
        },
    }
}

fn median_twice(prices: &mut [u64]) -> u64 {
    let middle = prices.len() / 2;
    let odd = prices.len() % 2 == 1;
    let (below, &mut upper, _) = prices.select_nth_unstable(middle);
    let lower = if odd {
        upper
    } else {
        below.iter().max().copied().unwrap_or(upper)
    };
    lower + upper
}

#[cfg(test)]
mod tests {
    use super::median_twice;

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(median_twice(&mut [5, 1, 4]), 8);
        assert_eq!(median_twice(&mut [5, 1, 4, 2]), 6);
        assert_eq!(median_twice(&mut [7]), 14);
    }
}
