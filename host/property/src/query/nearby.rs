//! Sales near a point.
//!
//! Cells are visited ring by ring around the point's own cell. Unvisited cells are at least as far
//! away as the nearest side of the visited square. So the search ends as soon as enough sales are
//! nearer than that: in a city after a ring or two.

use super::found_sales::{Candidate, FoundSales};
use super::top_n::TopN;
use crate::model::{MAX_LIMIT, MAX_RADIUS_M, NearbyQuery, Order, PropertyTypes, Sale};
use crate::store::bytes::LAST_DAY;
use crate::store::cell::{COLUMNS, Cell, ROWS, SIDE};
use crate::store::codes::FixedCodes;
use crate::store::sale::PackedSale;
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use std::cmp::Reverse;

impl Snapshot {
    /// Returns sales near a point, strictly before a day, in the query's order. Distances compare
    /// as whole squared metres, and ties by the sale's id.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn nearby_sales(&self, query: &NearbyQuery) -> Result<Vec<Sale>, SnapshotError> {
        let mut unbounded = u64::MAX;
        let found = self.find_nearby_sales(query, &mut unbounded, &|| false)?;
        found.iter().flat_map(FoundSales::iter).collect()
    }

    /// Returns the sales of [`Snapshot::nearby_sales`], still packed. `None` where the search would
    /// do more than `work`, from which its work is taken. A sale that is looked at counts as 1, and
    /// a read of a cell as [`CELL_WORK`], however many blocks of years it has. The count follows
    /// from the snapshot and the query alone.
    ///
    /// `is_late` tells that the search has no time left. It is called before each cell and for each
    /// block that comes from the file, so it must cost next to nothing.
    ///
    /// # Errors
    /// Storage failed, or a block of sales is damaged. [`SnapshotError::OutOfTime`] if `is_late`
    /// was true.
    pub fn find_nearby_sales(
        &self,
        query: &NearbyQuery,
        work: &mut u64,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Option<FoundSales>, SnapshotError> {
        let limit = query.limit.min(MAX_LIMIT);
        // Sales lie within the days that two bytes hold, whatever the query.
        let from = query.from.max(Day(0));
        let last = Day(query.before.0.saturating_sub(1)).min(LAST_DAY);
        if limit == 0 || from > last || query.types == PropertyTypes::NONE {
            return Ok(Some(FoundSales::new(query.before, Vec::new())));
        }
        let years = (year(from), year(last));
        let (search, work) = (Search::new(query, is_late), Work(work));
        let found = match query.order {
            Order::Nearest => self.nearest(&search, years, limit, work),
            Order::Newest => self.newest(&search, years, limit, work),
        }?;
        Ok(found.map(|sales| FoundSales::new(query.before, sales)))
    }

    fn nearest(
        &self,
        search: &Search<'_>,
        years: (i32, i32),
        limit: usize,
        mut work: Work<'_>,
    ) -> Result<Option<Vec<Candidate>>, SnapshotError> {
        let mut best = TopN::new(limit, |c: &Candidate| {
            (c.distance_squared, Reverse(c.day), c.id)
        });
        for ring in 0..=search.rings() {
            if let Some(worst) = best.worst()
                && worst.distance_squared < search.unseen_squared(ring)
            {
                break;
            }
            for (column, row) in ring_cells(search.cell, ring) {
                if !self.occupied.contains(column, row) {
                    continue;
                }
                let reach = best
                    .worst()
                    .map_or(search.radius_squared, |w| w.distance_squared);
                if search.cell_squared(column, row) > reach {
                    continue;
                }
                let cell = Cell::Grid(column, row);
                let found = |candidate| best.offer(candidate);
                let scanned = self.scan(search, cell, years, reach, found)?;
                if !work.spend(scanned) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(best.into_sorted()))
    }

    fn newest(
        &self,
        search: &Search<'_>,
        years: (i32, i32),
        limit: usize,
        mut work: Work<'_>,
    ) -> Result<Option<Vec<Candidate>>, SnapshotError> {
        let cells: Vec<Cell> = (0..=search.rings())
            .flat_map(|ring| ring_cells(search.cell, ring))
            .filter(|&(column, row)| {
                self.occupied.contains(column, row)
                    && search.cell_squared(column, row) <= search.radius_squared
            })
            .map(|(column, row)| Cell::Grid(column, row))
            .collect();
        let mut best = TopN::new(limit, |c: &Candidate| {
            (Reverse(c.day), c.distance_squared, c.id)
        });
        let mut year = years.1;
        while year >= years.0 && best.worst().is_none() {
            for &cell in &cells {
                let (years, reach) = ((year, year), search.radius_squared);
                let found = |candidate| best.offer(candidate);
                let scanned = self.scan(search, cell, years, reach, found)?;
                if !work.spend(scanned) {
                    return Ok(None);
                }
            }
            year -= 1;
        }
        Ok(Some(best.into_sorted()))
    }

    /// Passes a cell's sales that meet the query within `reach`, a squared distance, to `found`, in
    /// no promised order. Returns the number of sales that were looked at.
    fn scan(
        &self,
        search: &Search<'_>,
        cell: Cell,
        years: (i32, i32),
        reach: u64,
        mut found: impl FnMut(Candidate),
    ) -> Result<usize, SnapshotError> {
        self.cell_sales(cell, years, search.is_late, |packed| {
            if let Some(candidate) = search.candidate(cell, packed, reach) {
                found(candidate);
            }
        })
    }
}

/// Work of reading a cell once, in sales that are looked at.
pub const CELL_WORK: u64 = 16;

/// The work that a search may still do.
struct Work<'a>(&'a mut u64);

impl Work<'_> {
    /// Counts the work of a read of a cell with this number of sales. Returns whether it was still
    /// within bounds.
    fn spend(&mut self, sales: usize) -> bool {
        let rest = self.0.checked_sub(CELL_WORK + sales as u64);
        *self.0 = rest.unwrap_or(0);
        rest.is_some()
    }
}

fn year(day: Day) -> i32 {
    1970 + day.month().div_euclid(12)
}

/// A query with its precomputed values.
struct Search<'a> {
    query: &'a NearbyQuery,
    /// Column and row of the point's cell, which may be off the grid.
    cell: (i32, i32),
    radius: i64,
    radius_squared: u64,
    exclude_uprn: u64,
    /// The types of the query: a bit for the number of each in the file.
    type_numbers: u8,
    /// Returns whether the search has no time left.
    is_late: &'a dyn Fn() -> bool,
}

impl<'a> Search<'a> {
    fn new(query: &'a NearbyQuery, is_late: &'a dyn Fn() -> bool) -> Self {
        let radius = query.radius_m.min(MAX_RADIUS_M);
        Search {
            query,
            cell: (
                query.easting.div_euclid(SIDE),
                query.northing.div_euclid(SIDE),
            ),
            radius: i64::from(radius),
            radius_squared: u64::from(radius).pow(2),
            exclude_uprn: query.exclude_uprn.unwrap_or(0),
            type_numbers: (0..8)
                .filter(|&number| {
                    let known = PropertyType::value(number);
                    known.is_some_and(|known| query.types.contains(known))
                })
                .fold(0, |bits, number| bits | 1 << number),
            is_late,
        }
    }

    /// Returns the last ring that the radius can touch.
    fn rings(&self) -> i32 {
        (self.radius / i64::from(SIDE)) as i32 + 1
    }

    /// Returns the least squared distance from the point to anything in `ring` or beyond.
    fn unseen_squared(&self, ring: i32) -> u64 {
        let Some(inner) = ring.checked_sub(1).filter(|&inner| inner >= 0) else {
            return 0;
        };
        let side = |at: i32| {
            let within = i64::from(at.rem_euclid(SIDE));
            let below = within + 1 + i64::from(inner) * i64::from(SIDE);
            let above = i64::from(SIDE) - within + i64::from(inner) * i64::from(SIDE);
            below.min(above)
        };
        side(self.query.easting)
            .min(side(self.query.northing))
            .unsigned_abs()
            .pow(2)
    }

    /// Returns the least squared distance from the point to a cell.
    fn cell_squared(&self, column: i32, row: i32) -> u64 {
        let gap = |at: i32, cell: i32| {
            let low = i64::from(cell) * i64::from(SIDE);
            let high = low + i64::from(SIDE) - 1;
            let at = i64::from(at);
            (low - at).max(at - high).max(0).unsigned_abs()
        };
        gap(self.query.easting, column).pow(2) + gap(self.query.northing, row).pow(2)
    }

    /// Returns a sale that meets the query within `reach`, a squared distance. The checks that drop
    /// most sales and cost least come first.
    #[inline]
    fn candidate(&self, cell: Cell, packed: PackedSale<'_>, reach: u64) -> Option<Candidate> {
        let query = self.query;
        if self.type_numbers >> packed.type_number() & 1 == 0
            || query.standard_only && !packed.standard()
        {
            return None;
        }
        let (corner_east, corner_north) = cell.corner();
        let (east, north) = packed.offset();
        let square = |a: i32, b: i32| i64::from(a).abs_diff(i64::from(b)).pow(2);
        let distance_squared = square(corner_east + east, query.easting)
            + square(corner_north + north, query.northing);
        let day = packed.day();
        let matches = distance_squared <= reach
            && day >= query.from
            && day < query.before
            && (self.exclude_uprn == 0 || packed.uprn() != self.exclude_uprn)
            && (!query.with_floor_area
                || packed.has_floor_area() && packed.attributes_day(query.before).is_some());
        matches.then(|| Candidate {
            distance_squared,
            day,
            id: packed.id(),
            cell,
            bytes: *packed.bytes(),
        })
    }
}

/// Returns the cells of the square ring at a distance from a cell, those on the grid.
fn ring_cells((column, row): (i32, i32), ring: i32) -> impl Iterator<Item = (i32, i32)> {
    let clip =
        |low: i64, high: i64, end: i32| low.max(0) as i32..=high.min(i64::from(end) - 1) as i32;
    let (column, row, ring) = (i64::from(column), i64::from(row), i64::from(ring));
    clip(row - ring, row + ring, ROWS).flat_map(move |r| {
        let edge = i64::from(r).abs_diff(row) == ring.unsigned_abs();
        let step = if edge || ring == 0 { 1 } else { 2 * ring };
        (column - ring..=column + ring)
            .step_by(step as usize)
            .filter(|c| (0..i64::from(COLUMNS)).contains(c))
            .map(move |c| (c as i32, r))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The search may stop exactly where the next ring's nearest cell begins.
        #[test]
        fn the_unseen_begins_at_the_nearest_cell_of_the_ring(
            easting in 100_000..120_000, northing in 100_000..120_000, ring in 1..12,
        ) {
            let query = NearbyQuery {
                easting,
                northing,
                radius_m: 5_000,
                from: Day(0),
                before: Day(1),
                types: PropertyTypes::RESIDENTIAL,
                limit: 1,
                order: Order::Nearest,
                standard_only: true,
                with_floor_area: false,
                exclude_uprn: None,
            };
            let search = Search::new(&query, &|| false);
            let cells: Vec<_> = ring_cells(search.cell, ring).collect();
            prop_assert_eq!(cells.len(), 8 * ring as usize);
            let nearest = cells.iter().map(|&(column, row)| search.cell_squared(column, row)).min();
            prop_assert_eq!(nearest, Some(search.unseen_squared(ring)));
        }
    }
}
