//! The homes that a release is checked on: its fixtures', and a part of the snapshot's sales.

use super::rows::Home;
use crate::backtest::sales::Window;
use crate::build::sold_subject::subject;
use domesday_package::{Country as Covered, PropertyType as Letter};
use domesday_property::SnapshotError;
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use domesday_registers::records::Country;
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;

/// Days of the snapshot's latest sales from which homes are taken.
pub const RECENT_DAYS: i32 = 1_096;

/// Returns at most `most` homes that the release values, as at the release's first valuation day.
///
/// They were sold in the snapshot's last three years, and are taken at even steps in order of day
/// and id.
///
/// # Errors
/// [`SnapshotError`] if the snapshot cannot be read.
pub fn sample(open: &OpenRelease, most: usize) -> Result<Vec<Home>, SnapshotError> {
    let Some(latest) = open.latest_sale else {
        return Ok(Vec::new());
    };
    let day = Day::from(open.manifest.valuation_date.from);
    let through = latest.min(Day(day.0 - 1));
    let days = (Day(latest.0 - RECENT_DAYS), latest);
    let window = Window::count(&open.snapshot, days, Some(most))?;
    let mut homes = Vec::new();
    for sold in window.sales()? {
        let sold = sold?;
        let covered = kinds(&open.manifest.property_types)
            .any(|kind| kind == sold.sale.property_type)
            && within(&open.manifest.countries, sold.country);
        if let Some(subject) = subject(&sold, day, through).filter(|_| covered) {
            homes.push(Home {
                name: format!("sale {:016x}", sold.sale.id),
                subject: Arc::new(subject),
            });
        }
    }
    Ok(homes)
}

/// Converts the property types that a manifest names.
pub fn kinds(letters: &[Letter]) -> impl Iterator<Item = PropertyType> {
    letters.iter().map(|letter| match letter {
        Letter::Detached => PropertyType::Detached,
        Letter::SemiDetached => PropertyType::SemiDetached,
        Letter::Terraced => PropertyType::Terraced,
        Letter::Flat => PropertyType::Flat,
    })
}

fn within(countries: &[Covered], country: Country) -> bool {
    countries.iter().any(|covered| {
        country
            == match covered {
                Covered::England => Country::England,
                Covered::Wales => Country::Wales,
            }
    })
}
