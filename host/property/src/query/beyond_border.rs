//! The test whether a point lies outside England and Wales.

use super::service_area::{Point, ServiceArea, is_served};
use crate::store::stored_postcode;
use crate::{Snapshot, SnapshotError};

impl Snapshot {
    /// Returns whether a location on the National Grid (metres) is outside of England and Wales:
    /// the nearest postcode is in another country. A location without a postcode within ten
    /// kilometres counts as inside.
    ///
    /// The first call reads all postcodes.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn beyond_border(&self, easting: i32, northing: i32) -> Result<bool, SnapshotError> {
        if let Some(area) = self.service_area.get() {
            return Ok(area.beyond(easting, northing));
        }
        let mut all = Vec::new();
        for row in self.postcodes.range::<u64>(..)? {
            let damaged = || SnapshotError::Damaged { table: "postcodes" };
            let (_, places) = row?;
            for location in stored_postcode::all(places.value()).ok_or_else(damaged)? {
                let location = location.ok_or_else(damaged)?;
                all.push(Point {
                    easting: location.easting,
                    northing: location.northing,
                    served: is_served(location.country),
                });
            }
        }
        // Concurrent first calls compute the same.
        let area = self.service_area.get_or_init(|| ServiceArea::of(&all));
        Ok(area.beyond(easting, northing))
    }
}
