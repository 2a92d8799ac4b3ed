//! What the model asks of the evidence: one to three questions in the ordinary case.

use crate::kind::Kind;
use crate::parameters::EvidenceParameters;
use crate::time::{earliest, month_of};
use domesday_sdk::{
    Day, Evidence, IndexSeries, PropertyTypes, Refusal, Sale, SalesOrder, SalesQuery, Subject,
};

/// The sales that may serve as comparables, by rising id, and of each home only the latest.
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
) -> Result<Vec<Sale>, Refusal> {
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
        found = usable(subject, kind, found, ask(radius, kind.alone())?);
        widest = radius;
        if found.len() >= p.enough as usize {
            break;
        }
    }
    if found.len() < p.few as usize && kind != Kind::Flat {
        found = usable(subject, kind, found, ask(widest, kind.comparable())?);
    }
    Ok(one_of_each_home(found))
}

/// Only the latest sale of a home, where the home is known: its earlier ones are no evidence of
/// their own, and the register has some sales under two transactions. By rising id.
///
/// What is sorted is a key of each and not the sales, which are large.
fn one_of_each_home(found: Vec<Sale>) -> Vec<Sale> {
    let mut keys: Vec<_> = found
        .iter()
        .enumerate()
        .map(|(at, s)| (s.uprn, std::cmp::Reverse(s.day), s.id, at))
        .collect();
    keys.sort_unstable();
    keys.dedup_by(|later, kept| later.0.is_some() && later.0 == kept.0);
    keys.sort_unstable_by_key(|key| key.2);
    keys.into_iter().map(|(.., at)| found[at]).collect()
}

/// Adds the sales that can be reckoned with to those already found.
fn usable(subject: &Subject, kind: Kind, mut found: Vec<Sale>, answer: Vec<Sale>) -> Vec<Sale> {
    let first = found.is_empty();
    found.extend(
        answer
            .into_iter()
            .filter_map(|sale| clean(subject, kind, sale)),
    );
    // One answer shows no sale twice; a wider one shows those of the narrower again.
    if !first {
        found.sort_unstable_by_key(|s| s.id);
        found.dedup_by_key(|s| s.id);
    }
    found
}

/// A sale that can be reckoned with: a standard sale of another comparable home, before the
/// valuation day, at a price and distance that are numbers. A senseless floor area is dropped.
fn clean(subject: &Subject, kind: Kind, mut sale: Sale) -> Option<Sale> {
    let own = subject.uprn.is_some() && sale.uprn == subject.uprn;
    let numbers = sale.price.is_finite()
        && sale.price > 0.0
        && sale.distance >= 0.0
        && sale.distance.is_finite();
    let house = |k| k != Kind::Flat;
    let other = Kind::of(sale.property_type)?;
    if own
        || !sale.standard
        || !numbers
        || sale.day >= subject.valuation_day
        || house(other) != house(kind)
    {
        return None;
    }
    sale.floor_area = sale.floor_area.filter(|a| (8.0..=2_000.0).contains(a));
    Some(sale)
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
    use crate::testing::sale;

    #[test]
    fn a_home_serves_once_with_its_latest_sale_and_unknown_homes_each_for_themselves() {
        let at = |id, uprn, day| {
            let mut sale = sale(id);
            (sale.uprn, sale.day) = (uprn, day);
            sale
        };
        let kept = one_of_each_home(vec![
            at(1, Some(7), 500),
            at(2, None, 500),
            at(3, Some(7), 900),
            at(4, Some(8), 100),
            at(5, None, 500),
            // One sale under two transactions.
            at(6, Some(7), 900),
        ]);
        let ids: Vec<u64> = kept.iter().map(|sale| sale.id).collect();
        assert_eq!(ids, [2, 3, 4, 5]);
    }
}
