//! House price index series.

use crate::model::{GssCode, IndexLevel, IndexSeries};
use crate::store::index;
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use std::sync::Arc;

impl Snapshot {
    /// Returns the index of an authority and type, where `None` is all types. It is that of the
    /// narrowest area with one: the authority, its region, its country, England and Wales.
    ///
    /// It has only months that ended before `before`, at most the last `most` from the month
    /// `since` on, counted from January 1970. Publication lags are not modelled. An area whose
    /// months all end later is passed over.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn price_index(
        &self,
        authority: GssCode,
        property_type: Option<PropertyType>,
        before: Day,
        since: i32,
        most: usize,
    ) -> Result<Option<IndexSeries>, SnapshotError> {
        let region = self.authority(authority).and_then(|known| known.region);
        let country = match authority.letter() {
            'E' => Some(GssCode::ENGLAND),
            'W' => Some(GssCode::WALES),
            _ => None,
        };
        let areas = [
            (IndexLevel::LocalAuthority, Some(authority)),
            (
                IndexLevel::Region,
                region.filter(|&region| Some(region) != country),
            ),
            (IndexLevel::Country, country),
            (
                IndexLevel::Country,
                country.map(|_| GssCode::ENGLAND_AND_WALES),
            ),
        ];
        let this_month = before.month();
        for (area_level, code) in areas {
            let Some(area_code) = code else { continue };
            let row = self.index_row(index::key(area_code, property_type))?;
            let series = index::Series::new(&row).ok_or(SnapshotError::Damaged {
                table: "price_index",
            })?;
            // A month has ended by `before` where it is an earlier month than that day's.
            let end = series.first_from(this_month);
            if end > 0 {
                let from = series.first_from(since).max(end.saturating_sub(most));
                return Ok(Some(IndexSeries {
                    area_level,
                    area_code,
                    points: series.points(from.min(end)..end).collect(),
                }));
            }
        }
        Ok(None)
    }
    /// Returns a series as it is in the file, from the cache or from the file. An absent one is
    /// empty, and an empty one is passed over as an absent one is.
    fn index_row(&self, key: u64) -> Result<Arc<[u8]>, SnapshotError> {
        if let Some(row) = self.index_cache.get(&key) {
            return Ok(row);
        }
        let row = self.price_index.get(key)?;
        let bytes: Arc<[u8]> = row.map_or(Arc::default(), |row| row.value().into());
        self.index_cache.insert(key, bytes.clone());
        Ok(bytes)
    }
}
