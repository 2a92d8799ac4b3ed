//! What the model asks of the evidence: one to three questions in the ordinary case.

use crate::kind::Kind;
use crate::parameters::EvidenceParameters;
use crate::sold::Sold;
use crate::time::{earliest, month_of};
use domesday_sdk::{
    Day, Evidence, IndexSeries, PropertyTypes, Refusal, Sales, SalesOrder, SalesQuery, Subject,
};
use std::cmp::Reverse;

/// The sales that may serve as comparables, of each home only the latest.
///
/// The nearest of the same type are asked for, in wider circles while too few are found; then
/// other types of house.
///
/// # Errors
/// Where the evidence refuses a question.
pub fn comparables(
    p: &EvidenceParameters,
    subject: &Subject,
    kind: Kind,
    evidence: &dyn Evidence,
) -> Result<Vec<Sold>, Refusal> {
    let since = earliest(subject.valuation_day, p);
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
        add(subject, kind, &mut found, &ask(radius, kind.alone())?);
        widest = radius;
        if found.len() >= p.enough as usize {
            break;
        }
    }
    if found.len() < p.few as usize && kind != Kind::Flat {
        add(subject, kind, &mut found, &ask(widest, kind.comparable())?);
    }
    Ok(one_of_each_home(&found))
}

/// Only the latest sale of a home, where the home is known: its earlier ones are no evidence of
/// their own, and the register has some sales under two transactions. In an order that the order
/// of the answer has no part in.
///
/// What is sorted is a key of each and not the sales, which are large.
fn one_of_each_home(found: &[Sold]) -> Vec<Sold> {
    let mut keys: Vec<_> = found
        .iter()
        .enumerate()
        .map(|(at, s)| (s.uprn, Reverse(s.day), s.id, at))
        .collect();
    keys.sort_unstable();
    keys.dedup_by(|later, kept| later.0.is_some() && later.0 == kept.0);
    keys.into_iter().map(|(.., at)| found[at]).collect()
}

/// Adds the sales that can be reckoned with to those already found.
fn add(subject: &Subject, kind: Kind, found: &mut Vec<Sold>, answer: &Sales) {
    let first = found.is_empty();
    found.reserve(answer.len());
    found.extend(
        answer
            .iter()
            .filter_map(|sale| Sold::comparable(subject, kind, sale)),
    );
    // One answer shows no sale twice; a wider one shows those of the narrower again.
    if !first {
        found.sort_unstable_by_key(|s| s.id);
        found.dedup_by_key(|s| s.id);
    }
}

/// The most local price index of the type, or of all types where there is none of the type, from
/// a month before the oldest sale that needs it.
///
/// # Errors
/// Where the evidence refuses a question.
pub fn index(
    kind: Kind,
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
    use crate::sold::sold;
    use crate::testing::sale;

    #[test]
    fn a_home_serves_once_with_its_latest_sale_and_unknown_homes_each_for_themselves() {
        let at = |id, uprn, day| {
            let mut sale = sale(id);
            (sale.uprn, sale.day) = (uprn, day);
            sold(&sale)
        };
        let kept = one_of_each_home(&[
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
