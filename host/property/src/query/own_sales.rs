//! A property's own sales.

use crate::model::{MAX_LIMIT, Sale};
use crate::store::cell::Cell;
use crate::store::dwelling::PropertyRow;
use crate::store::sale;
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;

impl Snapshot {
    /// Returns the sales of a property strictly before a day, newest first and of one day the
    /// smaller id first; both categories, at most 1,000.
    ///
    /// # Errors
    /// Storage failed, or a row is damaged.
    pub fn own_sales(
        &self,
        uprn: u64,
        before: Day,
        limit: usize,
    ) -> Result<Vec<Sale>, SnapshotError> {
        let limit = limit.min(MAX_LIMIT);
        let damaged = || SnapshotError::Damaged {
            table: "properties",
        };
        let Some(row) = self.properties.get(uprn)? else {
            return Ok(Vec::new());
        };
        let property = PropertyRow::read(row.value()).ok_or_else(damaged)?;
        let cell = match property.place {
            Some((easting, northing)) => Cell::of(easting, northing),
            None => Some(Cell::Unplaced(property.postcode)),
        };
        let cell = cell.ok_or_else(damaged)?;
        let days = property.sale_days().map(|day| Day(i32::from(day)));
        let mut years: Vec<i32> = days
            .filter(|&day| day < before)
            .map(|day| 1970 + day.month() / 12)
            .collect();
        years.dedup();
        let mut sales = Vec::new();
        for &year in years.iter().rev() {
            if sales.len() >= limit {
                break;
            }
            let Some(row) = self.sales.get(cell.key(year))? else {
                return Err(SnapshotError::Damaged { table: "sales" });
            };
            let block =
                sale::block(row.value()).ok_or(SnapshotError::Damaged { table: "sales" })?;
            let start = sales.len();
            for packed in block.filter(|packed| packed.uprn() == uprn && packed.day() < before) {
                let sale = packed.unpack(cell, before, 0.0);
                sales.push(sale.ok_or(SnapshotError::Damaged { table: "sales" })?);
            }
            sales[start..]
                .sort_unstable_by_key(|sale: &Sale| (std::cmp::Reverse(sale.day), sale.id));
        }
        sales.truncate(limit);
        Ok(sales)
    }
}
