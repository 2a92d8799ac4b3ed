//! Features of the areas that hold the subject.

use super::seen::Seen;
use domesday_hedonic::time::DAYS_A_YEAR;
use domesday_sdk::AreaLevel::{LocalAuthority, PostcodeDistrict, PostcodeSector};
use domesday_sdk::{AreaLevel, Figures};

fn sales(seen: &Seen<'_>, level: AreaLevel) -> Option<f64> {
    seen.figures(level)
        .map(|figures| f64::from(figures.sales_count))
}

fn log(seen: &Seen<'_>, level: AreaLevel, of: fn(&Figures) -> Option<f64>) -> Option<f64> {
    let value = of(seen.figures(level)?).filter(|value| *value > 0.0)?;
    Some(libm::log(value))
}

pub(super) fn sector_sales(seen: &Seen<'_>) -> Option<f64> {
    sales(seen, PostcodeSector)
}

pub(super) fn sector_price(seen: &Seen<'_>) -> Option<f64> {
    log(seen, PostcodeSector, |figures| figures.median_price)
}

pub(super) fn sector_per_sqm(seen: &Seen<'_>) -> Option<f64> {
    log(seen, PostcodeSector, |figures| figures.price_per_sqm)
}

pub(super) fn district_sales(seen: &Seen<'_>) -> Option<f64> {
    sales(seen, PostcodeDistrict)
}

pub(super) fn district_price(seen: &Seen<'_>) -> Option<f64> {
    log(seen, PostcodeDistrict, |figures| figures.median_price)
}

pub(super) fn district_per_sqm(seen: &Seen<'_>) -> Option<f64> {
    log(seen, PostcodeDistrict, |figures| figures.price_per_sqm)
}

pub(super) fn authority_sales(seen: &Seen<'_>) -> Option<f64> {
    sales(seen, LocalAuthority)
}

pub(super) fn authority_price(seen: &Seen<'_>) -> Option<f64> {
    log(seen, LocalAuthority, |figures| figures.median_price)
}

pub(super) fn authority_change(seen: &Seen<'_>) -> Option<f64> {
    seen.figures(LocalAuthority)?.price_change
}

pub(super) fn index_change(seen: &Seen<'_>) -> Option<f64> {
    let year_ago = seen
        .subject
        .valuation_day
        .saturating_sub(DAYS_A_YEAR as i32);
    seen.index.as_ref()?.growth_since(year_ago).map(libm::log)
}
