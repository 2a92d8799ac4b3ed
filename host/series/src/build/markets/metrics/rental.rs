//! `rental_market`: rents, estimated values and gross yields, by bedrooms.

use super::super::rents::GROUPS;
use super::{AuthorityData, FEWEST_SALES, Inputs, Line, Month, Point, Windows};
use crate::catalogue::SelectorName;
use std::collections::BTreeMap;

const DATASET: &str = "rental_market";
const RENT: &str = "The mean monthly rent that the Office for National Statistics publishes.";
const YIELD: &str = "Twelve times the monthly rent over the property value, times 100. The value is that of the rent's \
                     own month, or of the last month that the release states where the rent is one or two months newer.";

/// Months of the capital window.
const CAPITAL_WINDOW: u32 = 24;
/// Most months by which a rent may be newer than the value beside it.
const WIDEST_GAP: i32 = 2;

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    GROUPS
        .into_iter()
        .enumerate()
        .flat_map(|(group, name)| group_lines(authority, group, name))
        .collect()
}

fn group_lines(authority: &AuthorityData<'_>, group: usize, name: &'static str) -> [Line; 3] {
    let none = BTreeMap::new();
    let rents = authority.rents.of(authority.number, group).unwrap_or(&none);
    let values = values(authority, group);
    let line = |metric, window: Option<u32>, method: &str| {
        let mut line =
            Line::new(DATASET, metric, 0, method).select(SelectorName::BedroomGroup, name);
        line.windows.window_months = window;
        line
    };
    let rental_window = Some(authority.rents.window_months());

    let mut rent = line("monthly_rent_gbp", rental_window, RENT);
    rent.points = rents
        .iter()
        .map(|(month, gbp)| {
            let inputs = Inputs {
                rental: Some(*month),
                capital: None,
            };
            (*month, Point::Value(*gbp), inputs)
        })
        .collect();

    let mut value = line(
        "property_value_gbp",
        Some(CAPITAL_WINDOW),
        &value_method(authority, group),
    );
    value.points = values
        .iter()
        .map(|(month, point)| {
            let inputs = Inputs {
                rental: None,
                capital: Some(*month),
            };
            (*month, *point, inputs)
        })
        .collect();

    let mut gross = line("gross_yield_pct", None, YIELD);
    gross.windows = Windows {
        window_months: None,
        capital_window_months: Some(CAPITAL_WINDOW),
        rental_window_months: rental_window,
    };
    gross.points = rents
        .iter()
        .filter_map(|(month, gbp)| {
            let capital = (*month).min(authority.months?.last);
            let point = match values.get(&capital)? {
                _ if month.0 - capital.0 > WIDEST_GAP => return None,
                Point::Value(value) => Point::Value(1200.0 * gbp / value),
                withheld => *withheld,
            };
            let inputs = Inputs {
                rental: Some(*month),
                capital: Some(capital),
            };
            Some((*month, point, inputs))
        })
        .collect();
    [rent, value, gross]
}

fn value_method(authority: &AuthorityData<'_>, group: usize) -> String {
    let bedrooms = if group == 0 {
        ""
    } else {
        " whose home's habitable rooms, on an energy certificate lodged by the end of the period, \
         stand for so many bedrooms (one room of a flat, or of a house of up to four rooms, is taken \
         for a living room, two of a larger house)"
    };
    let index = authority.index.map_or_else(
        || "of which there is none for the authority".to_owned(),
        |(code, _)| format!("of area {code}"),
    );
    format!(
        "Mean price of the category A sales{bedrooms} in the 24 months that end with the period, each brought \
         to the last month by the UK House Price Index {index}; withheld below five sales."
    )
}

/// Returns the mean value for every full capital window.
fn values(authority: &AuthorityData<'_>, group: usize) -> BTreeMap<Month, Point> {
    let (Some(months), Some((_, index))) = (authority.months, authority.index) else {
        return BTreeMap::new();
    };
    let mut sales: Vec<(Month, Month, u64)> = authority
        .sales
        .iter()
        .filter_map(|sale| {
            let on_record = match (group, sale.bedrooms) {
                (0, _) => sale.month,
                (group, Some((bedrooms, on_record))) if usize::from(bedrooms) == group => on_record,
                _ => return None,
            };
            Some((on_record, sale.month, u64::from(sale.price)))
        })
        .collect();
    sales.sort_unstable();
    let mut sums = vec![(0_u64, 0_u64); months.len()];
    let mut waiting = sales.into_iter().peekable();
    let mut values = BTreeMap::new();
    for end in (months.first.0..=months.last.0).map(Month) {
        while let Some((_, month, price)) = waiting.next_if(|(on_record, _, _)| *on_record <= end) {
            if let Some(at) = months.position(month) {
                sums[at].0 += 1;
                sums[at].1 += price;
            }
        }
        let window = months.position(end.plus(1 - CAPITAL_WINDOW as i32));
        if let (Some(from), Some(upto)) = (window, months.position(end)) {
            let from_month = months.first.0 + from as i32;
            values.insert(end, value(&sums[from..=upto], from_month, index));
        }
    }
    values
}

/// Returns the mean of one window's prices, each brought to the last month.
fn value(sums: &[(u64, u64)], first: i32, index: &BTreeMap<Month, f64>) -> Point {
    let count: u64 = sums.iter().map(|(count, _)| count).sum();
    let mut deflated = 0.0;
    let mut last = None;
    for (month, (count, price)) in (first..).map(Month).zip(sums) {
        last = index.get(&month);
        match last {
            Some(index) => deflated += *price as f64 / index,
            None if *count == 0 => {}
            None => return Point::Missing,
        }
    }
    match last {
        Some(last) => Point::of_at_least(FEWEST_SALES, count, || deflated * last / count as f64),
        None => Point::Missing,
    }
}
