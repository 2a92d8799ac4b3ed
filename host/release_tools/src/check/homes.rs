//! The homes that a release is checked on: its fixtures', and a part of the snapshot's sales.

use super::rows::Home;
use crate::backtest::sales::askable;
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
    let manifest = &open.manifest;
    let draw = Draw {
        latest,
        day: Day::from(manifest.valuation_date.from),
        types: kinds(&manifest.property_types).collect(),
        countries: &manifest.countries,
    };
    draw.homes(most, |from, to| open.snapshot.export_between(from, to))
}

/// A draw of homes that a release values.
struct Draw<'a> {
    /// The snapshot's latest sale.
    latest: Day,
    /// The day that homes are valued on.
    day: Day,
    types: Vec<PropertyType>,
    countries: &'a [Covered],
}

impl Draw<'_> {
    /// Returns at most `most` of the homes of these sales, which are read by their days.
    fn homes<I>(
        &self,
        most: usize,
        sales: impl Fn(Day, Day) -> Result<I, SnapshotError>,
    ) -> Result<Vec<Home>, SnapshotError>
    where
        I: Iterator<Item = Result<ExportedSale, SnapshotError>>,
    {
        let recent = Day(self.latest.0 - RECENT_DAYS);
        let (from, to) = (Day(recent.0 - EARLIER_DAYS), Day(recent.0 - 1));
        let askable_between = |from: Day, to: Day| {
            let sales = sales(from, to)?;
            Ok::<_, SnapshotError>(sales.filter(|sold| sold.as_ref().map_or(true, askable)))
        };
        // The step counts homes that the release values: one of few types would be left with few
        // homes otherwise.
        let valued_earlier = || {
            let sales = askable_between(from, to)?;
            let homes = sales.filter_map(|sold| sold.map(|sold| self.home(&sold)).transpose());
            Ok::<_, SnapshotError>(homes)
        };
        let share = most / OF_EARLIER;
        let (fitting, of_earlier) = match share {
            0 => (0, Vec::new()),
            _ => take_evenly(valued_earlier, share)?,
        };
        let sold_lately = || askable_between(recent, self.latest);
        let (_, of_recent) = take_evenly(sold_lately, most - share.min(fitting))?;
        let of_recent = of_recent.iter().filter_map(|sold| self.home(sold));
        Ok(of_recent.chain(of_earlier).collect())
    }

    /// Returns the home of a sale on the valuation day, with evidence through the day before or the
    /// latest sale. Returns `None` if the release does not value it.
    fn home(&self, sold: &ExportedSale) -> Option<Home> {
        let covered =
            self.types.contains(&sold.sale.property_type) && within(self.countries, sold.country);
        let through = self.latest.min(Day(self.day.0 - 1));
        let subject = subject(sold, self.day, through).filter(|_| covered)?;
        Some(Home {
            name: format!("sale {:016x}", sold.sale.id),
            subject: Arc::new(subject),
        })
    }
}

/// Returns the number of items, and at most `most` of them at even steps, but one at least. It
/// reads all twice, to hold no more than it returns.
fn take_evenly<T, I>(
    items: impl Fn() -> Result<I, SnapshotError>,
    most: usize,
) -> Result<(usize, Vec<T>), SnapshotError>
where
    I: Iterator<Item = Result<T, SnapshotError>>,
{
    let mut count = 0;
    for item in items()? {
        item?;
        count += 1;
    }
    let taken = items()?.step_by(sampling::step(count, most));
    Ok((count, taken.collect::<Result<_, _>>()?))
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

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_property::Sale;
    use domesday_registers::Postcode;
    use domesday_registers::codes::Tenure;
    use proptest::prelude::*;

    const LATEST: Day = Day(20_600);
    const DAY: Day = Day(20_700);

    /// Returns a sale of a flat in England, this number of days before the latest one.
    fn sale(id: u64, before: i32) -> ExportedSale {
        ExportedSale {
            sale: Sale {
                id,
                uprn: Some(id),
                day: Day(LATEST.0 - before),
                price_gbp: 200_000,
                easting: 400_000,
                northing: 300_000,
                postcode: Postcode::parse("QA1 1AF").unwrap(),
                property_type: PropertyType::Flat,
                subtype: None,
                tenure: Some(Tenure::Leasehold),
                new_build: false,
                standard: true,
                own_place: true,
                floor_area_m2: None,
                habitable_rooms: None,
                age_band: None,
                rating: None,
                attributes_day: None,
                distance_m: 0.0,
            },
            authority: None,
            country: Country::England,
            subject: None,
        }
    }

    /// Draws at most `most` homes of these sales, for a release of flats in England.
    fn draw(sales: &[ExportedSale], most: usize) -> Vec<Home> {
        let draw = Draw {
            latest: LATEST,
            day: DAY,
            types: vec![PropertyType::Flat],
            countries: &[Covered::England],
        };
        let between = |from: Day, to: Day| {
            let within = move |sold: &&ExportedSale| from <= sold.sale.day && sold.sale.day <= to;
            Ok(sales.iter().filter(within).cloned().map(Ok))
        };
        draw.homes(most, between).unwrap()
    }

    /// Returns the days before the latest sale on which the homes were sold. Ids are those days.
    fn days_before(homes: &[Home]) -> Vec<i32> {
        let days = homes.iter().filter_map(|home| home.subject.uprn);
        days.map(|uprn| uprn as i32).collect()
    }

    /// Returns a sale for each of these days before the latest one.
    fn sales(days: impl Iterator<Item = i32>) -> Vec<ExportedSale> {
        days.map(|before| sale(before as u64, before)).collect()
    }

    #[test]
    fn one_home_of_eight_was_sold_earlier_than_in_the_last_three_years() {
        let sales = sales((0..5_000).rev());
        let found = days_before(&draw(&sales, 400));
        let earlier = found.iter().filter(|before| **before > RECENT_DAYS).count();
        assert_eq!(earlier, 50);
        assert!(
            found.len() - earlier > 350 / 2 && found.len() <= 400,
            "{}",
            found.len()
        );
        let oldest = found.iter().max().copied().unwrap();
        assert!(oldest > RECENT_DAYS + EARLIER_DAYS * 9 / 10, "{oldest}");
        assert!(oldest <= RECENT_DAYS + EARLIER_DAYS, "{oldest}");
    }

    #[test]
    fn recent_homes_take_the_place_of_earlier_ones_that_the_release_does_not_value() {
        let mut sales = sales((0..100).chain(2_000..2_100).rev());
        for sold in &mut sales {
            // Two of the earlier ones remain.
            if sold.sale.id >= 2_002 {
                sold.sale.property_type = PropertyType::Detached;
            }
        }
        let found = days_before(&draw(&sales, 102));
        assert_eq!(found.len(), 102);
        assert_eq!(&found[100..], [2_001, 2_000]);
    }

    #[test]
    fn homes_that_the_release_or_a_customer_cannot_ask_for_are_left_out() {
        let mut sales = sales(0..5);
        sales[0].country = Country::Wales;
        sales[1].sale.property_type = PropertyType::Terraced;
        sales[2].sale.tenure = None;
        sales[3].sale.price_gbp = 0;
        let found = draw(&sales, 100);
        assert_eq!(days_before(&found), [4]);
        assert_eq!(found[0].name, "sale 0000000000000004");
        assert_eq!(found[0].subject.valuation_day, DAY);
        assert_eq!(found[0].subject.evidence_through, Some(LATEST));
        assert!(draw(&[], 100).is_empty());
    }

    /// A release that is valued on earlier days than the latest sale sees the day before alone.
    #[test]
    fn evidence_ends_before_the_valuation_day() {
        let draw = Draw {
            latest: LATEST,
            day: LATEST,
            types: vec![PropertyType::Flat],
            countries: &[Covered::England],
        };
        let home = draw.home(&sale(1, 10)).unwrap();
        assert_eq!(home.subject.evidence_through, Some(Day(LATEST.0 - 1)));
    }

    proptest! {
        /// A draw has no more homes than it may, none twice, and at least half of those that it
        /// could have. No more than one of eight is of the seven years before the last three.
        #[test]
        fn a_draw_is_within_its_bounds(
            days in proptest::collection::btree_set(0..4_000, 0..80),
            most in 1_usize..60,
        ) {
            let sales = sales(days.iter().rev().copied());
            let found = days_before(&draw(&sales, most));
            let mut distinct = found.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), found.len());
            prop_assert!(found.len() <= most);
            let is_earlier = |before: &&i32| RECENT_DAYS < **before;
            let earlier = found.iter().filter(is_earlier).count();
            prop_assert!(earlier <= most / OF_EARLIER);
            let recent = days.iter().filter(|before| **before <= RECENT_DAYS).count();
            prop_assert!(2 * (found.len() - earlier) >= recent.min(most - earlier));
            let oldest = found.iter().max().copied();
            prop_assert!(oldest.is_none_or(|oldest| oldest <= RECENT_DAYS + EARLIER_DAYS));
        }
    }
}
