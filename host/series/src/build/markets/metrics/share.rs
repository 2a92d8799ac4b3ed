//! `new_build_sales_share`: the part of sales that newly built homes are.

use super::super::sales::TYPES;
use super::{AuthorityData, Line, Point, YEAR, is_type};
use crate::catalogue::SelectorName;

const DATASET: &str = "new_build_sales_share";
const COUNT: &str =
    "Category A sales of newly built dwellings in the twelve months that end with the period.";
const SHARE: &str =
    "Those sales over all category A sales of dwellings of the type in the same months, times 100.";

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (type_index, name) in TYPES.into_iter().enumerate() {
        let count = |new_only: bool| {
            authority.monthly(
                authority.sales,
                |sale| sale.month,
                |sale| u64::from(is_type(sale, type_index) && (sale.new_build || !new_only)),
            )
        };
        let (new, all) = (count(true), count(false));
        let line = |metric, method| {
            Line::new(DATASET, metric, YEAR, method).select(SelectorName::PropertyType, name)
        };
        lines.push(
            line("new_build_share_pct", SHARE).fill(authority.months, YEAR, |end| {
                Point::share(new.window(end, YEAR), all.window(end, YEAR))
            }),
        );
        lines.push(
            line("new_build_sales_count", COUNT).fill(authority.months, YEAR, |end| {
                Point::Value(new.window(end, YEAR) as f64)
            }),
        );
    }
    lines
}
