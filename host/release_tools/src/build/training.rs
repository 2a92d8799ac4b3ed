//! The sales that a model is fitted on, one JSON object a line.

use super::BuildError;
use domesday_property::{GssCode, Snapshot, SnapshotError};
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};
use domesday_registers::{Day, Postcode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

#[derive(Serialize)]
struct Row {
    id: u64,
    day: Day,
    price_gbp: u64,
    standard: bool,
    new_build: bool,
    uprn: Option<u64>,
    easting: i32,
    northing: i32,
    postcode: Postcode,
    authority: String,
    property_type: PropertyType,
    subtype: Option<Subtype>,
    tenure: Option<Tenure>,
    floor_area_m2: Option<f64>,
    habitable_rooms: Option<u32>,
    age_band: Option<AgeBand>,
    rating: Option<EnergyRating>,
    index: Option<f64>,
}

/// Writes every sale up to a day, in order of day and id, and returns their number. A certificate
/// counts only if it was lodged by that day, so a fit sees nothing later.
///
/// # Errors
/// [`BuildError`] if the snapshot cannot be read or the file not written.
pub fn write(snapshot: &Snapshot, through: Day, path: &Path) -> Result<u64, BuildError> {
    let mut out = BufWriter::new(File::create(path).map_err(BuildError::file(path))?);
    let mut indices = Indices::default();
    let mut rows = 0;
    for sold in snapshot.export()? {
        let sold = sold?;
        let sale = sold.sale;
        if sale.day > through {
            break;
        }
        let known = sale.attributes_day.is_some_and(|lodged| lodged <= through);
        let row = Row {
            id: sale.id,
            day: sale.day,
            price_gbp: sale.price_gbp,
            standard: sale.standard,
            new_build: sale.new_build,
            uprn: sale.uprn,
            easting: sale.easting,
            northing: sale.northing,
            authority: sold.authority.map(String::from).unwrap_or_default(),
            subtype: sale.subtype.filter(|_| known),
            tenure: sale.tenure,
            floor_area_m2: sale.floor_area_m2.filter(|_| known),
            habitable_rooms: sale.habitable_rooms.filter(|_| known),
            age_band: sale.age_band.filter(|_| known),
            rating: sale.rating.filter(|_| known),
            index: match sold.authority {
                Some(authority) => indices.value(
                    snapshot,
                    authority,
                    sale.property_type,
                    sale.day.month(),
                    through,
                )?,
                None => None,
            },
            property_type: sale.property_type,
            postcode: sale.postcode,
        };
        serde_json::to_writer(&mut out, &row).map_err(BuildError::line(path))?;
        out.write_all(b"\n").map_err(BuildError::file(path))?;
        rows += 1;
    }
    out.flush().map_err(BuildError::file(path))?;
    Ok(rows)
}

/// Index series, each read once.
#[derive(Default)]
struct Indices(BTreeMap<(GssCode, PropertyType), BTreeMap<i32, f64>>);

impl Indices {
    fn value(
        &mut self,
        snapshot: &Snapshot,
        authority: GssCode,
        kind: PropertyType,
        month: i32,
        through: Day,
    ) -> Result<Option<f64>, SnapshotError> {
        let series = match self.0.entry((authority, kind)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let series = snapshot.price_index(
                    authority,
                    Some(kind),
                    Day(through.0 + 1),
                    i32::MIN,
                    usize::MAX,
                )?;
                new.insert(
                    series
                        .map(|series| series.points.iter().copied().collect())
                        .unwrap_or_default(),
                )
            }
        };
        Ok(series.get(&month).copied())
    }
}
