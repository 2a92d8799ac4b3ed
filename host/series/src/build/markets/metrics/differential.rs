//! `new_build_price_differential`: prices of newly built homes against those of established ones.

use super::super::sales::{Sale, TYPES};
use super::{AuthorityData, FEWEST_DIFFERENTIAL, FEWEST_SALES, Line, Point, Sums};
use crate::catalogue::SelectorName;

const DATASET: &str = "new_build_price_differential";
const PERCENT: &str = "Mean price of newly built homes over mean price of established ones, less one, times 100, over \
                       category A sales of the 36 months that end with the period. For all types each type's mean \
                       price of established homes is weighted by the type's newly built sales; a type with fewer \
                       than five sales on either side takes no part. Withheld below 30 sales on either side.";
const NEW: &str = "Mean price of the newly built homes behind the differential.";
const ESTABLISHED: &str = "Mean price of the established homes behind the differential, at the weights of the newly \
                           built ones.";
const COUNT: &str =
    "Category A sales of newly built dwellings in the 36 months that end with the period.";

/// Months of the window.
const WINDOW: u32 = 36;

/// Sums of one type.
struct Sides {
    new: (Sums, Sums),
    established: (Sums, Sums),
}

/// The prices of a window.
#[derive(Clone, Copy, Default)]
struct WindowPrices {
    new_count: u64,
    established_count: u64,
    /// Sum of prices of newly built homes.
    new_value: u64,
    /// Sum over types of newly built sales times the mean price of established ones.
    established_value: f64,
}

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    let side = |type_index: usize, new: bool| {
        let belongs =
            move |sale: &Sale| sale.dwelling.type_index() == type_index && sale.new_build == new;
        let count = authority.monthly(
            authority.sales,
            |sale| sale.month,
            |sale| u64::from(belongs(sale)),
        );
        let value = authority.monthly(
            authority.sales,
            |sale| sale.month,
            |sale| {
                if belongs(sale) {
                    u64::from(sale.price)
                } else {
                    0
                }
            },
        );
        (count, value)
    };
    let types: Vec<Sides> = (1..TYPES.len())
        .map(|type_index| Sides {
            new: side(type_index, true),
            established: side(type_index, false),
        })
        .collect();
    let mut lines = Vec::new();
    for (type_index, name) in TYPES.into_iter().enumerate() {
        let of_type: &[Sides] = if type_index == 0 {
            &types
        } else {
            &types[type_index - 1..type_index]
        };
        let compared = |end| compare(of_type, end);
        let point = |end, value: fn(WindowPrices) -> f64| {
            let compared = compared(end);
            let fewest = compared.new_count.min(compared.established_count);
            if fewest < FEWEST_DIFFERENTIAL {
                let any = of_type
                    .iter()
                    .any(|sides| sides.new.0.window(end, WINDOW) > 0);
                return if any {
                    Point::Suppressed
                } else {
                    Point::Missing
                };
            }
            Point::Value(value(compared))
        };
        let line = |metric, method| {
            Line::new(DATASET, metric, WINDOW, method).select(SelectorName::PropertyType, name)
        };
        let months = authority.months;
        lines.extend([
            line("price_differential_pct", PERCENT).fill(months, WINDOW, |end| {
                point(end, |c| {
                    100.0 * (c.new_value as f64 / c.established_value - 1.0)
                })
            }),
            line("new_build_price_gbp", NEW).fill(months, WINDOW, |end| {
                point(end, |c| c.new_value as f64 / c.new_count as f64)
            }),
            line("established_price_gbp", ESTABLISHED).fill(months, WINDOW, |end| {
                point(end, |c| c.established_value / c.new_count as f64)
            }),
            line("new_build_sales_count", COUNT).fill(months, WINDOW, |end| {
                let count: u64 = of_type
                    .iter()
                    .map(|sides| sides.new.0.window(end, WINDOW))
                    .sum();
                Point::Value(count as f64)
            }),
        ]);
    }
    lines
}

fn compare(types: &[Sides], end: usize) -> WindowPrices {
    let mut compared = WindowPrices::default();
    for sides in types {
        let sums =
            |(count, value): &(Sums, Sums)| (count.window(end, WINDOW), value.window(end, WINDOW));
        let (new_count, new_value) = sums(&sides.new);
        let (established_count, established_value) = sums(&sides.established);
        if new_count.min(established_count) < FEWEST_SALES {
            continue;
        }
        compared.new_count += new_count;
        compared.new_value += new_value;
        compared.established_count += established_count;
        compared.established_value +=
            new_count as f64 * (established_value as f64 / established_count as f64);
    }
    compared
}
