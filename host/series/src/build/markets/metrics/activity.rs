//! `market_activity`: sales, their value, and price per square metre, by type.

use super::super::sales::{Sale, TYPES};
use super::{AuthorityData, FEWEST_MEASURED, FEWEST_SALES, Line, Point, YEAR, is_type};
use crate::catalogue::SelectorName;

const DATASET: &str = "market_activity";
const COUNT: &str = "Category A sales of dwellings in the twelve months that end with the period.";
const VALUE: &str = "Sum of the prices of those sales; withheld where there are one to four.";
const DENSITY: &str = "Sum of the prices of those sales over the authority's land area in square kilometres; withheld \
                       where there are one to four.";
const SHARE: &str = "Sales of the type over sales of all types in those twelve months, times 100.";
const PER_SQM: &str = "Sum of price over sum of floor area of the sales whose home has a floor area on an energy \
                       certificate lodged by the end of the period; withheld below ten such sales.";

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    let count_of = |type_index: usize| {
        authority.monthly(
            authority.sales,
            |sale| sale.month,
            |sale| u64::from(is_type(sale, type_index)),
        )
    };
    let all = count_of(0);
    let mut lines = Vec::new();
    for (type_index, name) in TYPES.into_iter().enumerate() {
        let counts = count_of(type_index);
        let values = authority.monthly(
            authority.sales,
            |sale| sale.month,
            |sale| {
                if is_type(sale, type_index) {
                    u64::from(sale.price)
                } else {
                    0
                }
            },
        );
        let square_kilometres = authority.area.land_hectares / 100.0;
        let value = |end: usize, over: f64| {
            let count = counts.window(end, YEAR);
            if (1..FEWEST_SALES).contains(&count) {
                return Point::Suppressed;
            }
            Point::Value(values.window(end, YEAR) as f64 / over)
        };
        let measured = measurements(authority, type_index);
        let line = |metric, method| {
            Line::new(DATASET, metric, YEAR, method).select(SelectorName::PropertyType, name)
        };
        let months = authority.months;
        lines.extend([
            line("price_per_sqm_gbp", PER_SQM).fill(months, YEAR, |end| {
                let (count, price, area) = measured[end];
                let over = || price as f64 / (area as f64 / 100.0);
                Point::of_at_least(FEWEST_MEASURED, count, over)
            }),
            line("sales_count", COUNT).fill(months, YEAR, |end| {
                Point::Value(counts.window(end, YEAR) as f64)
            }),
            line("sales_share_pct", SHARE).fill(months, YEAR, |end| {
                Point::share(counts.window(end, YEAR), all.window(end, YEAR))
            }),
            line("sales_value_gbp", VALUE).fill(months, YEAR, |end| value(end, 1.0)),
            line("sales_value_per_km2_gbp", DENSITY)
                .fill(months, YEAR, |end| value(end, square_kilometres)),
        ]);
    }
    lines
}

/// Sums, for every covered month as a window's end, the sales whose floor area was then on record.
///
/// Each sum holds their number, their prices, and their floor areas in hundredths of a square
/// metre.
fn measurements(authority: &AuthorityData<'_>, type_index: usize) -> Vec<(u64, u64, u64)> {
    let months = authority.months.map_or(0, super::Span::len);
    let mut changes = vec![(0_i64, 0_i64, 0_i64); months + 1];
    let mut change = |at: usize, sale: &Sale, area: u32, sign: i64| {
        let (count, price, total) = &mut changes[at];
        *count += sign;
        *price += sign * i64::from(sale.price);
        *total += sign * i64::from(area);
    };
    let first = authority.months.map_or(0, |months| months.first.0);
    for sale in authority
        .sales
        .iter()
        .filter(|sale| is_type(sale, type_index))
    {
        let Some((area, on_record)) = sale.floor_area else {
            continue;
        };
        let place_of = |month: i32| usize::try_from(month - first).unwrap_or(0).min(months);
        // It is in the windows from the month in which it is on record to the last that holds it.
        let (from, past) = (place_of(on_record.0), place_of(sale.month.0 + YEAR as i32));
        if from < past {
            change(from, sale, area, 1);
            change(past, sale, area, -1);
        }
    }
    let mut sum = (0, 0, 0);
    let sums = changes
        .into_iter()
        .take(months)
        .map(|(count, price, area)| {
            sum = (sum.0 + count, sum.1 + price, sum.2 + area);
            (
                sum.0.unsigned_abs(),
                sum.1.unsigned_abs(),
                sum.2.unsigned_abs(),
            )
        });
    sums.collect()
}
