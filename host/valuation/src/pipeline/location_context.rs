//! The location's figures, from the release's pinned snapshot and before the valuation date.

use domesday_contract::v3::result::{Context, LocalAuthority, round_gbp};
use domesday_engine::subject::Subject;
use domesday_property::{AreaLevel, GssCode, Snapshot, SnapshotError};

/// Figures of the subject's postcode sector, over all types.
///
/// # Errors
/// [`SnapshotError`] if the snapshot cannot be read.
pub fn context(snapshot: &Snapshot, subject: &Subject) -> Result<Context, SnapshotError> {
    let sector = subject.postcode.sector();
    let figures = snapshot.area_figures(
        AreaLevel::PostcodeSector,
        sector,
        None,
        subject.valuation_day,
    )?;
    let authority = GssCode::parse(&subject.authority).and_then(|code| snapshot.authority(code));
    Ok(Context {
        local_authority: authority.map(|authority| LocalAuthority {
            code: authority.code.to_string(),
            name: authority.name.clone(),
        }),
        postcode_sector: sector.to_owned(),
        sales_count_12m: figures.map_or(0, |figures| figures.sales_count_12m),
        median_price_gbp: figures
            .and_then(|figures| figures.median_price_gbp)
            .and_then(round_gbp),
        price_per_sqm_gbp: figures
            .and_then(|figures| figures.price_per_sqm_gbp)
            .map(hundredths),
        price_change_12m_pct: figures
            .and_then(|figures| figures.price_change_12m_pct)
            .map(hundredths),
    })
}

/// Rounds to hundredths. Neither a change of medians nor a price a square metre is more precise.
fn hundredths(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}
