//! The day from which a release sees no new evidence.

use crate::check::rows::Home;
use domesday_engine::evidence::{EvidenceQuery, EvidenceResponse, EvidenceSource};
use domesday_registers::Day;

/// Returns the last month of the index that a release can see.
pub fn index_end(evidence: &dyn EvidenceSource, home: &Home) -> Option<i32> {
    let question = EvidenceQuery::PriceIndex {
        kind: Some(home.subject.property_type),
        // The three years before: an index that ended earlier grows no more.
        since: home.subject.valuation_day.month() - 36,
    };
    match evidence.ask(&home.subject, &question) {
        Ok(EvidenceResponse::Index(Some(series))) => series.points.last().map(|point| point.0),
        _ => None,
    }
}

/// Returns the place of the first day after the latest sale on which the index ends where it ends
/// on the last day.
pub fn find_settled_day(
    days: &[Day],
    latest_sale: Option<Day>,
    index_ends: &[Option<i32>],
) -> usize {
    let last = index_ends.iter().flatten().max();
    days.iter()
        .zip(index_ends)
        .position(|(day, end)| {
            latest_sale.is_none_or(|latest| latest < *day)
                && (end.as_ref() == last || end.is_none())
        })
        .unwrap_or(days.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_settled_after_the_latest_sale_and_the_last_month_of_the_index() {
        let days: Vec<Day> = (0..5).map(|at| Day(100 + at)).collect();
        let ends = [Some(1), Some(1), Some(2), Some(2), Some(2)];
        assert_eq!(find_settled_day(&days, Some(Day(99)), &ends), 2);
        assert_eq!(find_settled_day(&days, Some(Day(102)), &ends), 3);
        assert_eq!(find_settled_day(&days, None, &[None; 5]), 0);
        assert_eq!(find_settled_day(&days, Some(Day(200)), &ends), 5);
    }
}
