//! The fixtures that a release is published with: ordinary homes, and the edges of its range.

use super::settings::Settings;
use super::{BuildError, sold_subject};
use crate::sampling;
use domesday_engine::Release;
use domesday_engine::evidence::SnapshotEvidence;
use domesday_engine::fixture::Fixture;
use domesday_engine::subject::{Attribute, Subject};
use domesday_property::Snapshot;
use domesday_registers::Day;
use std::sync::Arc;

/// Homes recorded, evenly taken over the sales of homes that the release values. Each third is
/// recorded once more as a customer would state it, and each fifth at an edge.
const HOMES: usize = 30;

/// Values homes of the snapshot as at `day` and records each whole. They are of the types and
/// countries that the settings list, since a service runs the release for no other.
///
/// # Errors
/// [`BuildError`] if the snapshot cannot be read or the host fails.
pub fn record(
    snapshot: &Snapshot,
    settings: &Settings,
    release: &Release,
    evidence: Arc<SnapshotEvidence>,
    day: Day,
) -> Result<Vec<Fixture>, BuildError> {
    let latest = snapshot.identity().latest_sale.unwrap_or(day);
    let through = latest.min(Day(day.0 - 1));
    let mut sold = snapshot.export()?.collect::<Result<Vec<_>, _>>()?;
    sold.retain(|sold| settings.lists(sold));
    let step = sampling::step(sold.len(), HOMES);
    let mut subjects = Vec::new();
    for (at, sold) in sold.iter().step_by(step).enumerate() {
        let Some(subject) = sold_subject::subject(sold, day, through) else {
            continue;
        };
        if at % 5 == 0 {
            subjects.extend(edge(at / 5, &subject));
        }
        if at % 3 == 0 {
            let stated = without_stored_data(&subject);
            subjects.push((format!("home-{:02}-stated", at + 1), stated));
        }
        subjects.push((format!("home-{:02}", at + 1), subject));
    }
    subjects
        .into_iter()
        .map(|(row, subject)| Ok(Fixture::record(row, release, subject, evidence.clone())?))
        .collect()
}

/// Returns the same home as stated by a customer who may not use stored data.
fn without_stored_data(home: &Subject) -> Subject {
    let mut subject = home.clone();
    subject.stored_data = false;
    let given = std::mem::take(&mut subject.provenance.stored);
    subject.provenance.customer.extend(given);
    // No request has a field for it.
    subject.size.habitable_rooms = None;
    subject
        .provenance
        .customer
        .retain(|attribute| *attribute != Attribute::HabitableRooms);
    subject.size.bedrooms = Some(3);
    subject.provenance.customer.push(Attribute::Bedrooms);
    if let Some(lease) = &mut subject.lease {
        lease.ground_rent_gbp = Some(250.0);
        subject.provenance.customer.push(Attribute::LeaseGroundRent);
    }
    subject.provenance.customer.sort_unstable();
    subject
}

/// Sets a floor area that the customer states, or removes it.
fn with_area(subject: &mut Subject, area: Option<f64>) {
    let provenance = &mut subject.provenance;
    for list in [&mut provenance.stored, &mut provenance.customer] {
        list.retain(|attribute| *attribute != Attribute::FloorArea);
    }
    if area.is_some() {
        provenance.customer.push(Attribute::FloorArea);
        provenance.customer.sort_unstable();
    }
    subject.size.floor_area_m2 = area;
}

fn edge(which: usize, home: &Subject) -> Option<(String, Subject)> {
    let mut subject = home.clone();
    let name = match which {
        0 => {
            with_area(&mut subject, Some(10.0));
            "smallest"
        }
        1 => {
            with_area(&mut subject, Some(2_000.0));
            "largest"
        }
        2 => {
            with_area(&mut subject, None);
            subject.size.habitable_rooms = None;
            subject
                .provenance
                .stored
                .retain(|attribute| *attribute != Attribute::HabitableRooms);
            "size-unknown"
        }
        3 => {
            // The sea, where nothing was ever sold.
            subject.place.easting = 0;
            subject.place.northing = 0;
            "no-evidence"
        }
        4 => {
            subject.uprn = None;
            "no-uprn"
        }
        _ => return None,
    };
    Some((format!("edge-{name}"), subject))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{demo, narrow, settings};
    use domesday_engine::fixture::write;
    use domesday_registers::codes::PropertyType;
    use domesday_registers::records::Country;

    #[test]
    fn fixtures_are_of_homes_that_the_release_values() {
        let open = demo();
        let day = Day::from(open.manifest.valuation_date.from);
        let record = |settings: &Settings| {
            let evidence = Arc::new(SnapshotEvidence::new(open.snapshot.clone()));
            record(&open.snapshot, settings, &open.release, evidence, day).unwrap()
        };
        let mut settings = settings();
        let mut lines = Vec::new();
        write(&record(&settings), &mut lines).unwrap();
        let packaged = open.verified.bytes(open.manifest.fixtures.as_str());
        assert!(
            lines == packaged.unwrap(),
            "other fixtures than the package's"
        );
        narrow(&mut settings.property_types, &mut settings.countries);
        let listed = record(&settings);
        assert!(listed.len() > HOMES / 2, "{}", listed.len());
        for Fixture { subject, .. } in listed {
            assert_ne!(subject.property_type, PropertyType::Flat);
            assert_eq!(subject.country, Country::England);
        }
    }
}
