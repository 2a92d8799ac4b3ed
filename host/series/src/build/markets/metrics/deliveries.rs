//! `new_build_deliveries`: new homes by their first sale.

use super::super::sales::TYPES;
use super::{AuthorityData, Line, Month, Point, YEAR};
use crate::catalogue::SelectorName;

const COUNT: &str = "Homes whose first category A sale as a newly built one falls in the twelve months that end with \
                     the period.";

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    let one = |(type_index, name): (usize, &'static str)| {
        let counts = authority.monthly(
            authority.deliveries,
            |home| Month(home.day.month()),
            |home| u64::from(type_index == 0 || home.dwelling.type_index() == type_index),
        );
        Line::new("new_build_deliveries", "deliveries_count", YEAR, COUNT)
            .select(SelectorName::PropertyType, name)
            .fill(authority.months, YEAR, |end| {
                Point::Value(counts.window(end, YEAR) as f64)
            })
    };
    TYPES.into_iter().enumerate().map(one).collect()
}
