//! The location's figures and the home's own sale, from the release's pinned snapshot and before
//! the valuation date.

use super::render::thousandths;
use domesday_contract::v3::result::{Context, LocalAuthority, OwnSale, round_gbp};
use domesday_engine::subject::Subject;
use domesday_property::{AreaLevel, GssCode, Snapshot, SnapshotError};

/// The home's own sales that are looked through for one at arm's length.
const OWN_SALES: usize = 10;

/// Figures of the subject's postcode sector, over all types. `own_share` is the weight that the
/// release gave the home's own sales.
///
/// # Errors
/// [`SnapshotError`] if the snapshot cannot be read.
pub fn context(
    snapshot: &Snapshot,
    subject: &Subject,
    own_share: Option<f64>,
) -> Result<Context, SnapshotError> {
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
        own_sale: own_sale(snapshot, subject, own_share)?,
    })
}

/// Returns the home's latest standard sale, where its own sales have a weight. An estimate may lie
/// outside all comparables for that reason alone.
fn own_sale(
    snapshot: &Snapshot,
    subject: &Subject,
    own_share: Option<f64>,
) -> Result<Option<OwnSale>, SnapshotError> {
    let weight = thousandths(own_share.unwrap_or(0.0));
    let (true, Some(uprn)) = (weight > 0.0, subject.uprn) else {
        return Ok(None);
    };
    let own = snapshot.own_sales(uprn, subject.valuation_day, OWN_SALES)?;
    let latest = own.iter().find(|sale| sale.standard);
    Ok(latest.and_then(|sale| {
        Some(OwnSale {
            sale_date: sale.day.date()?,
            price_gbp: sale.price_gbp,
            weight,
        })
    }))
}

/// Rounds to hundredths. Neither a change of medians nor a price a square metre is more precise.
fn hundredths(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}
