//! The sales that a build values, to train or calibrate on them.

use super::BuildError;
use super::settings::Settings;
use crate::sampling;
use domesday_property::{ExportedSale, Snapshot};
use domesday_registers::Day;

/// Returns at most `most` of the sales from `first` to `last` whose homes the model's releases
/// value and that `keep` holds of, evenly taken.
///
/// # Errors
/// [`BuildError`] if the snapshot cannot be read.
pub fn take(
    snapshot: &Snapshot,
    settings: &Settings,
    (first, last): (Day, Day),
    most: usize,
    keep: impl Fn(&ExportedSale) -> bool,
) -> Result<Vec<ExportedSale>, BuildError> {
    let mut sales = snapshot
        .export_between(first, last)?
        .collect::<Result<Vec<_>, _>>()?;
    sales.retain(|sold| settings.lists(sold) && keep(sold));
    let step = sampling::step(sales.len(), most);
    Ok(sales.into_iter().step_by(step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{demo, narrow, settings};
    use domesday_registers::codes::PropertyType;
    use domesday_registers::records::Country;

    #[test]
    fn homes_that_the_releases_do_not_value_are_left_out_before_the_sample() {
        let open = demo();
        let [from, to] = [2025, 2026].map(|year| Day::from_ymd(year, 9, 30).unwrap());
        let flat = |sold: &ExportedSale| sold.sale.property_type == PropertyType::Flat;
        let welsh = |sold: &ExportedSale| sold.country == Country::Wales;
        let mut settings = settings();
        let all = take(&open.snapshot, &settings, (from, to), 50, |_| true).unwrap();
        assert!(all.iter().any(flat) && all.iter().any(welsh));
        narrow(&mut settings.property_types, &mut settings.countries);
        let listed = take(&open.snapshot, &settings, (from, to), 50, |_| true).unwrap();
        assert!(!listed.iter().any(|sold| flat(sold) || welsh(sold)));
        assert!((26..=50).contains(&listed.len()), "{}", listed.len());
    }
}
