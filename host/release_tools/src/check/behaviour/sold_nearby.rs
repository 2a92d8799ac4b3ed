//! Prices that homes were sold for around a place.

use super::statistics::median;
use crate::check::rows::Home;
use domesday_engine::evidence::{
    EvidenceQuery, EvidenceResponse, EvidenceSource, RowWork, SalesOrder, SalesQuery,
};
use domesday_engine::subject::GridPoint;
use domesday_registers::Day;

/// Sales whose median is taken, the nearest ones.
const SALES: u32 = 15;
/// The fewest sales that have one.
const LEAST_SALES: usize = 5;
/// The farthest sale, metres.
const RADIUS_M: u32 = 300;
/// The age of the oldest sale, days.
const DAYS: i32 = 5 * 365;

/// Returns the log of the factor between the median prices of sales around two places, of homes of
/// this home's type. Returns `None` where a place has too few sales.
pub fn log_ratio_of_prices(
    evidence: &dyn EvidenceSource,
    home: &Home,
    (from, to): (GridPoint, GridPoint),
) -> Option<f64> {
    let around = |center| median_price(evidence, home, center);
    Some((around(to)? / around(from)?).ln())
}

/// Returns the median price of the nearest standard sales, pounds.
fn median_price(evidence: &dyn EvidenceSource, home: &Home, center: GridPoint) -> Option<f64> {
    let query = EvidenceQuery::NearbySales(SalesQuery {
        center,
        radius_m: RADIUS_M,
        since: Day(home.subject.valuation_day.0 - DAYS),
        types: vec![home.subject.property_type],
        standard_only: true,
        floor_area_only: false,
        order: SalesOrder::Nearest,
        limit: SALES,
        work: RowWork::default(),
    });
    let Ok(EvidenceResponse::Sales(sales)) = evidence.ask(&home.subject, &query) else {
        return None;
    };
    let prices: Vec<f64> = sales.iter().map(|sale| sale.price_gbp as f64).collect();
    median(&prices).filter(|price| prices.len() >= LEAST_SALES && *price > 0.0)
}
