//! `price_bands`: how sales divide among fixed bands of price.

use super::{AuthorityData, Line, Point, YEAR};
use crate::catalogue::SelectorName;

const DATASET: &str = "price_bands";
const COUNT: &str = "Category A sales of dwellings in the twelve months that end with the period, at prices from the \
                     band's lower bound to below its upper one.";
const SHARE: &str = "Sales in the band over all sales in those twelve months, times 100.";

/// The bands: name, and the price in pounds from which each holds, up to the next one's.
const BANDS: [(&str, u32); 10] = [
    ("under_100k", 0),
    ("100k_to_150k", 100_000),
    ("150k_to_200k", 150_000),
    ("200k_to_250k", 200_000),
    ("250k_to_300k", 250_000),
    ("300k_to_400k", 300_000),
    ("400k_to_500k", 400_000),
    ("500k_to_750k", 500_000),
    ("750k_to_1m", 750_000),
    ("1m_plus", 1_000_000),
];

pub(super) fn lines(authority: &AuthorityData<'_>) -> Vec<Line> {
    let all = authority.monthly(authority.sales, |sale| sale.month, |_| 1);
    let mut lines = Vec::new();
    for (at, (name, from)) in BANDS.into_iter().enumerate() {
        let below = BANDS
            .get(at + 1)
            .map_or(u64::MAX, |(_, next)| u64::from(*next));
        let holds = |price: u32| price >= from && u64::from(price) < below;
        let counts = authority.monthly(
            authority.sales,
            |sale| sale.month,
            |sale| u64::from(holds(sale.price)),
        );
        let line = |metric, method| {
            Line::new(DATASET, metric, YEAR, method).select(SelectorName::PriceBand, name)
        };
        lines.push(
            line("sales_count", COUNT).fill(authority.months, YEAR, |end| {
                Point::Value(counts.window(end, YEAR) as f64)
            }),
        );
        lines.push(
            line("sales_share_pct", SHARE).fill(authority.months, YEAR, |end| {
                Point::share(counts.window(end, YEAR), all.window(end, YEAR))
            }),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::BANDS;
    use crate::catalogue::markets::lower_bound;

    #[test]
    fn a_bands_name_tells_its_lower_bound() {
        for (name, from) in BANDS {
            assert_eq!(lower_bound(name), u64::from(from), "{name}");
        }
    }
}
