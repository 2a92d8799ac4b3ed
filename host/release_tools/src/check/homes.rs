//! The homes that a release is checked on: its fixtures', and a part of the snapshot's sales.

use super::rows::Home;
use crate::backtest::sales::{Window, askable};
use crate::build::sold_subject::subject;
use crate::sampling;
use domesday_package::{Country as Covered, PropertyType as Letter};
use domesday_property::{ExportedSale, SnapshotError};
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
/// release must not treat those apart that nobody sold lately. Where fewer of those fit the
/// release, recent ones take their place. Both are taken at even steps in order of day and id.
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
    let share = most / OF_EARLIER;
    let (fitting, of_earlier) = match share {
        0 => (0, Vec::new()),
        _ => fitting_between(open, earlier, share, (day, through))?,
    };
    let of_recent = most - share.min(fitting);
    let mut homes = sold_between(open, (recent, latest), of_recent, (day, through))?;
    homes.extend(of_earlier);
    Ok(homes)
}

/// Returns the number of homes sold on these days that the release values, and at most `most` of
/// them. The step counts those alone: a release of few types would be left with few homes
/// otherwise.
fn fitting_between(
    open: &OpenRelease,
    (from, to): (Day, Day),
    most: usize,
    on: (Day, Day),
) -> Result<(usize, Vec<Home>), SnapshotError> {
    let fitting = || -> Result<_, SnapshotError> {
        let sales = open.snapshot.export_between(from, to)?;
        let fitting = sales.map(|sold| {
            let sold = sold?;
            Ok::<_, SnapshotError>(if askable(&sold) {
                home(open, &sold, on)
            } else {
                None
            })
        });
        Ok(fitting.filter_map(Result::transpose))
    };
    let mut count = 0;
    for home in fitting()? {
        home?;
        count += 1;
    }
    let homes = fitting()?.step_by(sampling::step(count, most));
    Ok((count, homes.collect::<Result<Vec<_>, _>>()?))
}

/// Returns at most `most` homes sold on these days, as at a valuation day.
fn sold_between(
    open: &OpenRelease,
    days: (Day, Day),
    most: usize,
    on: (Day, Day),
) -> Result<Vec<Home>, SnapshotError> {
    let window = Window::count(&open.snapshot, days, Some(most))?;
    let mut homes = Vec::new();
    for sold in window.sales()? {
        homes.extend(home(open, &sold?, on));
    }
    Ok(homes)
}

/// Returns the home of a sale as at a day, with evidence through another, if the release values it.
fn home(open: &OpenRelease, sold: &ExportedSale, (day, through): (Day, Day)) -> Option<Home> {
    let covered = kinds(&open.manifest.property_types).any(|kind| kind == sold.sale.property_type)
        && within(&open.manifest.countries, sold.country);
    let subject = subject(sold, day, through).filter(|_| covered)?;
    Some(Home {
        name: format!("sale {:016x}", sold.sale.id),
        subject: Arc::new(subject),
    })
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
