//! House price index series.

use crate::model::{GssCode, IndexLevel, IndexPoints, IndexSeries, Series};
use crate::store::index;
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use std::ops::Range;
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
            let series = self.index_series(index::key(area_code, property_type))?;
            if let Some(range) = select(series.points(), this_month, since, most) {
                return Ok(Some(IndexSeries {
                    area_level,
                    area_code,
                    points: IndexPoints::new(series, range),
                }));
            }
        }
        Ok(None)
    }

    /// Returns a whole series, from the cache or from the file. An absent one is empty, and an
    /// empty one is passed over as an absent one is.
    fn index_series(&self, key: u64) -> Result<Arc<Series>, SnapshotError> {
        let cache = &self.index_cache;
        if let Some(series) = cache.series.get(&key) {
            return Ok(series);
        }
        let row = self.price_index.get(key)?;
        let points = match &row {
            Some(row) => index::Series::new(row.value()).map(|stored| stored.all().collect()),
            None => Some(Box::default()),
        };
        let points = points.ok_or(SnapshotError::Damaged {
            table: "price_index",
        })?;
        let series = Arc::new(Series::new(key, points, cache.digests.clone()));
        cache.series.insert(key, series.clone());
        Ok(series)
    }
}

/// Returns the places of the months from `since` to before `this_month`, at most the last `most`.
/// `None` where no month has ended.
fn select(points: &[(i32, f64)], this_month: i32, since: i32, most: usize) -> Option<Range<usize>> {
    let first_from = |month| points.partition_point(|&(known, _)| known < month);
    // A month has ended where it is an earlier month than that of the day asked about.
    let end = first_from(this_month);
    let from = first_from(since).max(end.saturating_sub(most));
    (end > 0).then(|| from.min(end)..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_series_is_cut_to_the_latest_months_that_ended(
            known in prop::collection::btree_map(-30_i16..30, 1.0..300.0, 0..40),
            this_month in -35..35,
            since in -35..35,
            most in 0_usize..45,
        ) {
            let known: BTreeMap<i16, f64> = known;
            let pairs: Vec<(i16, f64)> = known.into_iter().collect();
            let bytes = index::encode(&pairs);
            let points: Vec<_> = index::Series::new(&bytes).unwrap().all().collect();
            let all = pairs.iter().map(|&(month, value)| (i32::from(month), value));
            prop_assert_eq!(&points, &all.collect::<Vec<_>>());
            let ended = points.iter().filter(|(month, _)| *month < this_month);
            let wanted = ended.clone().filter(|(month, _)| *month >= since);
            let wanted: Vec<_> = wanted.copied().collect();
            let latest = &wanted[wanted.len().saturating_sub(most)..];
            let expected = (ended.count() > 0).then_some(latest);
            let found = select(&points, this_month, since, most).map(|range| &points[range]);
            prop_assert_eq!(found, expected);
        }
    }
}
