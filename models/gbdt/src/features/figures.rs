//! Features of area figures and of the price index.

use super::evidence::RowEvidence;
use domesday_hedonic::time::DAYS_A_YEAR;
use domesday_sdk::AreaLevel::{LocalAuthority, PostcodeDistrict, PostcodeSector};
use domesday_sdk::{AreaLevel, Figures};

fn sales(row: &RowEvidence<'_>, level: AreaLevel) -> Option<f64> {
    row.figures(level)
        .map(|figures| f64::from(figures.sales_count))
}

fn log(row: &RowEvidence<'_>, level: AreaLevel, of: fn(&Figures) -> Option<f64>) -> Option<f64> {
    let value = of(row.figures(level)?).filter(|value| *value > 0.0)?;
    Some(libm::log(value))
}

pub(super) fn sector_sales(row: &RowEvidence<'_>) -> Option<f64> {
    sales(row, PostcodeSector)
}

pub(super) fn sector_price(row: &RowEvidence<'_>) -> Option<f64> {
    log(row, PostcodeSector, |figures| figures.median_price)
}

pub(super) fn sector_per_sqm(row: &RowEvidence<'_>) -> Option<f64> {
    log(row, PostcodeSector, |figures| figures.price_per_sqm)
}

pub(super) fn district_sales(row: &RowEvidence<'_>) -> Option<f64> {
    sales(row, PostcodeDistrict)
}

pub(super) fn district_price(row: &RowEvidence<'_>) -> Option<f64> {
    log(row, PostcodeDistrict, |figures| figures.median_price)
}

pub(super) fn district_per_sqm(row: &RowEvidence<'_>) -> Option<f64> {
    log(row, PostcodeDistrict, |figures| figures.price_per_sqm)
}

pub(super) fn authority_sales(row: &RowEvidence<'_>) -> Option<f64> {
    sales(row, LocalAuthority)
}

pub(super) fn authority_price(row: &RowEvidence<'_>) -> Option<f64> {
    log(row, LocalAuthority, |figures| figures.median_price)
}

pub(super) fn authority_change(row: &RowEvidence<'_>) -> Option<f64> {
    row.figures(LocalAuthority)?.price_change
}

pub(super) fn index_change(row: &RowEvidence<'_>) -> Option<f64> {
    let year_ago = row.subject.valuation_day.saturating_sub(DAYS_A_YEAR as i32);
    row.index.as_ref()?.growth_since(year_ago).map(libm::log)
}
