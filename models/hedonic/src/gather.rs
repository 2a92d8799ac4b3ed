//! The queries to the evidence: usually one to three.

use crate::comparable_sale::ComparableSale;
use crate::parameters::EvidenceParameters;
use crate::property_kind::PropertyKind;
use crate::time::{earliest_sale_day, month_of};
use domesday_sdk::{
    Day, Evidence, IndexSeries, PropertyTypes, Refusal, Sales, SalesOrder, SalesQuery, Subject,
};
use std::cmp::Reverse;

/// Finds the comparable sales, at most the latest of each home.
///
/// Searches for the nearest sales of the same type in widening circles, then for other house types,
/// until there are enough.
///
/// # Errors
/// [`Refusal`] if the evidence refuses a query.
pub fn comparables(
    p: &EvidenceParameters,
    subject: &Subject,
    kind: PropertyKind,
    evidence: &dyn Evidence,
) -> Result<Vec<ComparableSale>, Refusal> {
    let since = earliest_sale_day(subject.valuation_day, p);
    let ask = |radius, types: PropertyTypes| {
        evidence.nearby_sales(SalesQuery {
            center: subject.place,
            radius,
            since,
            types,
            standard_only: true,
            floor_area_only: false,
            order: SalesOrder::Nearest,
            limit: p.limit,
        })
    };
    let mut found = Vec::new();
    let mut widest = p.radii_m[0];
    for radius in p.radii_m {
        add_comparable_sales(subject, kind, &mut found, &ask(radius, kind.filter())?);
        widest = radius;
        if found.len() >= p.enough as usize {
            break;
        }
    }
    if found.len() < p.few as usize && kind != PropertyKind::Flat {
        add_comparable_sales(
            subject,
            kind,
            &mut found,
            &ask(widest, kind.comparable_filter())?,
        );
    }
    Ok(keep_latest_of_each_home(&found))
}

/// Keeps the latest sale of each known home. Earlier sales are no independent evidence, and the
/// register lists some sales under two transactions.
///
/// The result does not depend on the order of `found`. Sorting moves keys rather than the sales,
/// which are large.
fn keep_latest_of_each_home(found: &[ComparableSale]) -> Vec<ComparableSale> {
    let mut keys: Vec<_> = found
        .iter()
        .enumerate()
        .map(|(at, s)| (s.uprn, Reverse(s.day), s.id, at))
        .collect();
    keys.sort_unstable();
    keys.dedup_by(|later, kept| later.0.is_some() && later.0 == kept.0);
    keys.into_iter().map(|(.., at)| found[at]).collect()
}

/// Adds the comparable sales of an answer to those already found.
fn add_comparable_sales(
    subject: &Subject,
    kind: PropertyKind,
    found: &mut Vec<ComparableSale>,
    answer: &Sales,
) {
    let first = found.is_empty();
    found.reserve(answer.len());
    found.extend(
        answer
            .iter()
            .filter_map(|sale| ComparableSale::from_evidence(subject, kind, sale)),
    );
    // One answer repeats no sale, but a wider circle repeats the sales of a narrower one.
    if !first {
        found.sort_unstable_by_key(|s| s.id);
        found.dedup_by_key(|s| s.id);
    }
}

/// Finds the most local price index of the type, or else of all types. It begins a month before the
/// oldest sale that needs it.
///
/// # Errors
/// [`Refusal`] if the evidence refuses a query.
pub fn price_index(
    kind: PropertyKind,
    oldest: Day,
    evidence: &dyn Evidence,
) -> Result<Option<IndexSeries>, Refusal> {
    let since = month_of(oldest).0.saturating_sub(1);
    match evidence.price_index(Some(kind.property_type()), since)? {
        Some(series) => Ok(Some(series)),
        None => evidence.price_index(None, since),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparable_sale::comparable_sale;
    use crate::testing::sale;

    #[test]
    fn a_known_home_keeps_its_latest_sale_and_an_unknown_one_every_sale() {
        let at = |id, uprn, day| {
            let mut sale = sale(id);
            (sale.uprn, sale.day) = (uprn, day);
            comparable_sale(&sale)
        };
        let kept = keep_latest_of_each_home(&[
            at(1, Some(7), 500),
            at(2, None, 500),
            at(3, Some(7), 900),
            at(4, Some(8), 100),
            at(5, None, 500),
            // One sale under two transactions.
            at(6, Some(7), 900),
        ]);
        let mut ids: Vec<u64> = kept.iter().map(|sale| sale.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [2, 3, 4, 5]);
    }
}
