//! Twelve-month figures of every area, type and month, worked out ahead.

use super::join::{Joined, JoinedSale};
use super::sort::{groups, sorted};
use crate::model::AreaLevel;
use crate::snapshot::last_whole_month;
use crate::store::figures::{self, Window, district_of, sector_of};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

/// Rows of table `figures`, in order of key.
pub(crate) type Figures = Vec<(u64, Vec<u8>)>;

/// Fewest sales for a median, and fewest with a floor area for a price per square metre.
const FEWEST: usize = 5;
const FEWEST_AREAS: usize = 10;

/// A sale as figures need it; ordered by area and month.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seed {
    area: u64,
    month: i32,
    property_type: PropertyType,
    price: u64,
    /// Hundredths of a square metre; 0 for none.
    floor_area: u64,
    /// Month in which the floor area came on record.
    area_known: i32,
    id: u64,
}

/// The kinds of figures kept, in the order of their keys.
const TYPES: [Option<PropertyType>; 5] = [
    None,
    Some(PropertyType::Detached),
    Some(PropertyType::SemiDetached),
    Some(PropertyType::Terraced),
    Some(PropertyType::Flat),
];

/// Works out all figures: category A sales of dwellings, the unplaced ones too.
pub(crate) fn compute(joined: &Joined) -> Figures {
    let mut out = Figures::new();
    let Some(latest) = joined.latest_day else {
        return out;
    };
    let last = last_whole_month(Day(i32::from(latest)));
    for level in [
        AreaLevel::PostcodeDistrict,
        AreaLevel::PostcodeSector,
        AreaLevel::LocalAuthority,
    ] {
        let seeds = joined.sales.iter().filter_map(|sale| seed(sale, level));
        for area in groups(&sorted(seeds.collect()), |seed: &Seed| seed.area) {
            for wanted in TYPES {
                let of_type = area
                    .iter()
                    .filter(|seed| wanted.is_none_or(|wanted| seed.property_type == wanted));
                let of_type: Vec<Seed> = of_type.copied().collect();
                let (Some(first), Some(final_sale)) = (of_type.first(), of_type.last()) else {
                    continue;
                };
                let ends = (first.month, last.min(final_sale.month + 11));
                for (year, windows) in years(&of_type, ends) {
                    let key = figures::key(level, area[0].area, wanted, year);
                    out.push((key, figures::encode(&windows)));
                }
            }
        }
    }
    out
}

fn seed(sale: &JoinedSale, level: AreaLevel) -> Option<Seed> {
    let row = &sale.row;
    if !row.standard || row.property_type == PropertyType::Other {
        return None;
    }
    let area = match level {
        AreaLevel::PostcodeDistrict => district_of(row.postcode),
        AreaLevel::PostcodeSector => sector_of(row.postcode),
        AreaLevel::LocalAuthority => u64::from(sale.authority?.packed()),
    };
    let month = |day: u64| Day(i32::try_from(day).unwrap_or(0)).month();
    Some(Seed {
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
        id: row.id,
    })
}

/// The years with a window that holds a sale, of windows that end in these months.
fn years(seeds: &[Seed], (first, last): (i32, i32)) -> impl Iterator<Item = (u64, [Window; 12])> {
    (first.div_euclid(12)..=last.div_euclid(12)).filter_map(move |year| {
        let ends = |at: usize| year * 12 + at as i32;
        let windows = std::array::from_fn(|at| match ends(at) {
            end if end <= last => window(within(seeds, end), end),
            _ => Window::default(),
        });
        let any = windows.iter().any(|window| window.count > 0);
        Some((u64::try_from(1970 + year).ok()?, windows)).filter(|_| any)
    })
}

/// The sales of the twelve months that end with `end`.
fn within(seeds: &[Seed], end: i32) -> &[Seed] {
    let start = seeds.partition_point(|seed| seed.month < end - 11);
    let stop = seeds.partition_point(|seed| seed.month <= end);
    &seeds[start..stop]
}

fn window(seeds: &[Seed], end: i32) -> Window {
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
