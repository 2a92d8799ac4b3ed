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
/// Days of the sales before, from which a part of the homes is taken: seven years more.
const EARLIER_DAYS: i32 = 2_557;
/// One home of so many is of those. They were mostly not sold since.
const OF_EARLIER: usize = 8;

/// Returns at most `most` homes that the release values, as at the release's first valuation day.
///
/// Most were sold in the snapshot's last three years, and one of eight in the seven years before. A
/// release must not treat those apart that nobody sold lately. Both are taken at even steps in
/// order of day and id.
///
/// # Errors
/// [`SnapshotError`] if the snapshot cannot be read.
pub fn sample(open: &OpenRelease, most: usize) -> Result<Vec<Home>, SnapshotError> {
    let Some(latest) = open.latest_sale else {
        return Ok(Vec::new());
    };
    let day = Day::from(open.manifest.valuation_date.from);
    let through = latest.min(Day(day.0 - 1));
    let recent = Day(latest.0 - RECENT_DAYS);
    let earlier = (Day(recent.0 - EARLIER_DAYS), Day(recent.0 - 1));
    let of_earlier = most / OF_EARLIER;
    let mut homes = sold_between(open, (recent, latest), most - of_earlier, (day, through))?;
    if of_earlier > 0 {
        homes.extend(sold_between(open, earlier, of_earlier, (day, through))?);
    }
    Ok(homes)
}

/// Returns at most `most` homes sold on these days, as at a valuation day.
fn sold_between(
    open: &OpenRelease,
    days: (Day, Day),
    most: usize,
    (day, through): (Day, Day),
) -> Result<Vec<Home>, SnapshotError> {
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
